package sandbox

import (
	"runtime"
	"sync"
)

// helperThreads are those beyond what it has when it starts. Not more than needed:
// with cgo each counts 8 MiB as memory.
const helperThreads = 6

// makeThreads lets the runtime have its threads before processes and threads are
// limited. Otherwise a program that uses the limit up keeps the helper from
// making one, and the runtime then ends the helper. Threads that have nothing to
// do are kept.
func makeThreads() {
	var here, done sync.WaitGroup
	here.Add(helperThreads)
	for range helperThreads {
		done.Go(func() {
			runtime.LockOSThread() // a thread for each, as long as all are here
			here.Done()
			here.Wait()
			runtime.UnlockOSThread()
		})
	}
	done.Wait()
}
