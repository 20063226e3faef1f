package worker

import "sync/atomic"

// abortFlag tells a computation in native code to stop. The library asks it
// between the nodes of its graph, from its own thread.
type abortFlag struct{ on atomic.Bool }

func (a *abortFlag) set(on bool) { a.on.Store(on) }
func (a *abortFlag) isSet() bool { return a.on.Load() }
