package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
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
			n += int64(f.Blocks-f.Bfree) * f.Bsize
		}
	}
	return n
}

// namespacePids lists every process of the namespace but the helper.
func namespacePids() []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil
	}
	var pids []int
	for _, n := range names {
		if pid, err := strconv.Atoi(n); err == nil && pid != 1 {
			pids = append(pids, pid)
		}
	}
	return pids
}

// usage returns a process's anonymous and shared memory in bytes, and its
// threads, from /proc/PID/status. File pages do not count: the kernel takes
// them back when it needs to. A process that is gone has none.
func usage(pid int) (memory int64, threads int) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0
	}
	return field(text, "RssAnon:")<<10 + field(text, "RssShmem:")<<10, int(field(text, "Threads:"))
}

// exactUsage is usage with every shared page divided among its users.
func exactUsage(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		memory, _ := usage(pid)
		return memory
	}
	return field(text, "Pss_Anon:")<<10 + field(text, "Pss_Shmem:")<<10
}

// field returns the number behind a name at the start of a line, or 0.
func field(text []byte, name string) int64 {
	for line := range bytes.Lines(text) {
		if rest, ok := bytes.CutPrefix(line, []byte(name)); ok {
			if f := bytes.Fields(rest); len(f) > 0 {
				n, _ := strconv.ParseInt(string(f[0]), 10, 64)
				return n
			}
		}
	}
	return 0
}
