package worker

import (
	"runtime"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"
	"github.com/hybridgroup/yzma/pkg/llama"
)

// What the library will see: the low byte of what the callback returns.
func TestAbortFlag(t *testing.T) {
	a := new(abortFlag)
	var p llama.ContextParams
	if !a.install(&p) {
		if runtime.GOOS == "linux" || runtime.GOOS == "darwin" {
			t.Fatal("no strlen")
		}
		t.Skip("the flag is asked in Go on this system")
	}
	if p.AbortCallbackData != uintptr(unsafe.Pointer(a)) {
		t.Error("the callback gets something else than the flag")
	}
	ask := func() bool {
		r, _, _ := purego.SyscallN(p.AbortCallback, p.AbortCallbackData)
		return byte(r) != 0
	}
	for _, want := range []bool{false, true, true, false, true} {
		a.set(want)
		if ask() != want || a.isSet() != want {
			t.Errorf("set to %v: C sees %v, Go %v", want, ask(), a.isSet())
		}
	}
}
