package sandbox

import (
	"os"
	"testing"
)

// helperArg makes the test binary the sandbox helper.
const helperArg = "sandbox-helper"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == helperArg {
		os.Exit(JailMain())
	}
	os.Exit(m.Run())
}
