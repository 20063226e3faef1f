//go:build linux || darwin

package sandbox

import (
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// A ledger collects what the record of a run says. The watcher writes into it
// while the host asks.
type ledger struct {
	started time.Time
	layers  []string
	denials func() []Denial // what was refused until now; nil where nobody counts

	mu     sync.Mutex
	memory int64 // highest
	procs  int   // highest
	cpu    time.Duration
}

func newLedger(layers ...string) *ledger {
	return &ledger{started: time.Now(), layers: layers}
}

// seen notes one count of the tree.
func (l *ledger) seen(memory int64, procs int) {
	l.mu.Lock()
	l.memory, l.procs = max(l.memory, memory), max(l.procs, procs)
	l.mu.Unlock()
}

// cpuTime returns the processor time of what has ended and was looked after,
// and of what lives. A process whose parent does not look after it drops out.
func (l *ledger) cpuTime(pids []int) time.Duration {
	sum := ended().cpu
	for _, p := range pids {
		sum += cpuOf(p)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cpu = max(l.cpu, sum) // what ends between two looks must not run it backwards
	return l.cpu
}

// record is what was seen until now.
func (l *ledger) record(w *watcher) Record {
	pids := w.pids()
	cpu := l.cpuTime(pids)
	var memory int64
	threads := 0
	for _, p := range pids {
		m, t := usage(p)
		memory, threads = memory+m, threads+t
	}
	l.seen(memory, threads)
	r := Record{Layers: l.layers, Usage: Usage{Wall: time.Since(l.started), CPU: cpu}}
	if l.denials != nil {
		r.Denials = l.denials()
	}
	if w.growth != nil {
		r.Usage.Written = w.growth.grown()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	r.Usage.Memory, r.Usage.Procs = l.memory, max(l.procs, 1)
	if r.Usage.Memory == 0 { // it ended before anybody could look
		r.Usage.Memory = ended().memory
	}
	return r
}

// rusage is the kernel's sum over ended children of the helper.
type rusage struct {
	cpu    time.Duration
	memory int64 // of the biggest
}

func ended() rusage {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_CHILDREN, &u) != nil {
		return rusage{}
	}
	return rusage{time.Duration(u.Utime.Nano() + u.Stime.Nano()), int64(u.Maxrss) * maxrssUnit}
}
