package sandbox

import (
	"strings"
	"testing"
)

func TestExitOfWindows(t *testing.T) {
	for code, want := range map[uint32]string{
		0: "", 1: "", 137: "", 0xC0000005: "memory that is not its own", 0xC0000142: "could not be started in the sandbox",
		0xC0000135: "was not found", 0xC00000FD: "0xC00000FD",
	} {
		e := exitOf(code)
		if e.Code != int(code) || e.Cause != Exited || e.Signal != 0 || !strings.Contains(e.Detail, want) || (want == "") != (e.Detail == "") {
			t.Errorf("%#x: %+v", code, e)
		}
	}
}
