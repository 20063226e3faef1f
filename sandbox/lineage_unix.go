//go:build linux || darwin

package sandbox

import (
	"fmt"
	"io"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// A procRow is what the process table of macOS says of one process.
type procRow struct {
	pid, parent, group, session int
	start                       int64 // microseconds; with pid it names a process for good
	ended                       bool  // a zombie
	own                         bool  // of our own user, as the program always is
}

// A lineage follows the descendants of a program, where the system has no group
// that a process cannot leave. Whoever was seen once is known by his number and
// start, whatever becomes of his parent; whoever stays in the program's group or
// session is found in any case. One that leaves both, and loses its parent,
// between two looks is lost.
type lineage struct {
	root   int                           // the program, which leads its group and session
	helper int                           // its parent, which starts nothing else
	table  func() ([]procRow, error)     // every process
	row    func(pid int) (procRow, bool) // one; false when there is none

	looking sync.Mutex // one look at a time; before mu

	mu    sync.Mutex
	known map[int]int64 // starts by number, of those that lived at the last look
}

// living returns those of a process table that belong to the program, itself
// included, and remembers them.
func (l *lineage) living(table []procRow) []int {
	l.mu.Lock()
	defer l.mu.Unlock()
	// When another process has the program's number by now, groups and sessions of
	// that number are not the program's.
	reused := false
	for _, r := range table {
		reused = reused || r.pid == l.root && r.parent != l.helper
	}
	now := map[int]int64{}
	for grown := true; grown; {
		grown = false
		for _, r := range table {
			if _, seen := now[r.pid]; seen || r.ended || !r.own || r.pid <= 1 {
				continue
			}
			start, before := l.known[r.pid]
			_, child := now[r.parent]
			if before && start == r.start || child || !reused && (r.pid == l.root || r.group == l.root || r.session == l.root) {
				now[r.pid] = r.start
				grown = true
			}
		}
	}
	l.known = now
	out := make([]int, 0, len(now))
	for pid := range now {
		out = append(out, pid)
	}
	return out
}

// last returns whom the last look has found, for when there is no other.
func (l *lineage) last() []int {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]int, 0, len(l.known))
	for pid := range l.known {
		out = append(out, pid)
	}
	return out
}

// is reports whether a row is the one of that number that was found.
func (l *lineage) is(r procRow) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	start, ok := l.known[r.pid]
	return ok && start == r.start
}

// pids lists the living. Where the table cannot be read it is who lived before:
// a sweep then says that they are left.
func (l *lineage) pids() []int {
	l.looking.Lock() // an older table must not come after a newer one
	defer l.looking.Unlock()
	table, err := l.table()
	if err != nil {
		return l.last()
	}
	return l.living(table)
}

// kill ends one of them. Nothing pins a process there: between the look and
// the signal the number could be given out again, if it were given out tens of
// thousands of times in that moment.
func (l *lineage) kill(pid int) {
	if r, ok := l.row(pid); ok && l.is(r) {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
}

// sweeper spares the program, the root.
func (l *lineage) sweeper(out io.Writer) sweeper {
	return sweeper{
		keep: l.root, out: out, pids: l.pids, kill: l.kill,
		hold: func(stop bool) {
			sig := unix.SIGCONT
			if stop {
				sig = unix.SIGSTOP
			}
			if r, ok := l.row(l.root); ok && l.is(r) {
				_ = unix.Kill(l.root, sig)
			}
		},
	}
}

// end ends all of it, the program included. In each round its group goes first,
// in one call, which nothing outruns that forks fast.
func (l *lineage) end() error {
	for end := time.Now().Add(sweepTime); ; time.Sleep(time.Millisecond) {
		left := l.pids()
		for _, pid := range left {
			if r, ok := l.row(pid); ok && l.is(r) && r.group == l.root {
				_ = unix.Kill(-l.root, unix.SIGKILL)
				break
			}
		}
		for _, pid := range left {
			l.kill(pid)
		}
		switch {
		case len(left) == 0:
			return nil
		case time.Now().After(end):
			return fmt.Errorf("%w: %d are left", errNotSwept, len(left))
		}
	}
}
