package worker

import (
	"sync/atomic"
	"unsafe"

	"github.com/hybridgroup/yzma/pkg/llama"
)

// abortFlag tells a computation in native code to stop. The library asks
// bool (*)(void *) between any two nodes of its graph, a thousand times per
// token. A Go function there costs 6 % of the time of a small model, as each
// call has to enter Go. So the library gets strlen, with the flag as its
// string: an empty one goes on, one of length 1 is true and stops.
type abortFlag struct{ text atomic.Uint32 }

// one is a string of length 1 in either byte order.
const one = 0x01000001

func (a *abortFlag) set(on bool) {
	if on {
		a.text.Store(one)
	} else {
		a.text.Store(0)
	}
}

func (a *abortFlag) isSet() bool { return a.text.Load() != 0 }

// install makes p ask the flag, which has to live as long as the context. It
// reports false where strlen is not to be had; then use [llama.SetAbortCallback].
func (a *abortFlag) install(p *llama.ContextParams) bool {
	strlen, err := findStrlen()
	if err != nil {
		return false
	}
	p.AbortCallback = strlen
	p.AbortCallbackData = uintptr(unsafe.Pointer(a)) // Go does not move what it allocated
	return true
}
