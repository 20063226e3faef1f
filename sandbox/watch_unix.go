//go:build linux || darwin

package sandbox

import (
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// pollEvery is how often the tree's memory and processes are counted, and
// pollFast how often near a limit.
const (
	pollEvery = 100 * time.Millisecond
	pollFast  = 20 * time.Millisecond
)

// A watcher enforces the limits of a whole tree, which the kernel enforces
// only for single processes.
type watcher struct {
	limits   Limits
	pids     func() []int // of the tree, without the helper
	tmp      []string     // file systems whose pages are memory
	growth   *growth
	book     *ledger
	exceeded atomic.Bool // set before the end is announced
}

// run announces the first limit that is exceeded.
func (w *watcher) run(ends chan<- Exit) {
	for wait := pollFast; ; {
		time.Sleep(wait)
		e, near := w.check()
		if e != nil {
			w.exceeded.Store(true)
			ends <- *e
			return
		}
		if wait = pollEvery; near {
			wait = pollFast
		}
	}
}

// check returns the end of the tree, if a limit is exceeded, and whether it is
// near one.
func (w *watcher) check() (*Exit, bool) {
	near := false
	pids := w.pids()
	memory, threads := w.tmpPages(), 0
	for _, p := range pids {
		m, t := usage(p)
		memory, threads = memory+m, threads+t
	}
	l := w.limits
	if l.Memory > 0 && memory > l.Memory {
		// The quick count has shared pages once for each process; the exact one is slow.
		memory = w.tmpPages()
		for _, p := range pids {
			memory += exactUsage(p)
		}
	}
	w.book.seen(memory, threads)
	if l.Procs > 0 {
		if threads > l.Procs {
			e := killed(TooMany, fmt.Sprintf("There were %d processes and threads; the limit is %d.", threads, l.Procs))
			return &e, false
		}
		near = threads > l.Procs/2
	}
	if l.Memory > 0 {
		if memory > l.Memory {
			e := killed(OutOfMem, fmt.Sprintf("It used %s of memory; the limit is %s.", size(memory), size(l.Memory)))
			return &e, false
		}
		near = near || memory > l.Memory/2
	}
	if l.CPU > 0 {
		cpu := w.book.cpuTime(pids)
		if cpu > l.CPU {
			e := killed(OutOfTime, fmt.Sprintf("It used %s of processor time; the limit is %s.", span(cpu), span(l.CPU)))
			return &e, false
		}
		near = near || cpu > l.CPU-time.Second
	}
	if w.growth != nil {
		if e := w.growth.check(); e != nil {
			return e, false
		}
	}
	return nil, near
}

// tmpPages is the memory in files of the private file systems.
func (w *watcher) tmpPages() (n int64) {
	for _, dir := range w.tmp {
		var f unix.Statfs_t
		if unix.Statfs(dir, &f) == nil {
			n += int64(f.Blocks-f.Bfree) * int64(f.Bsize)
		}
	}
	return n
}
