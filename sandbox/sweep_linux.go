package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// sweepTime bounds one sweep. A process that has been killed is gone in
// milliseconds, unless it gives back gigabytes or waits for a disk.
const sweepTime = time.Second

var errNotSwept = errors.New("processes of the program do not end")

// A sweeper ends what the program started, and spares the program. Its
// functions may run while the program ends.
type sweeper struct {
	pids func() []int    // of the tree
	kill func(pid int)   // ends one of them, and never anything else
	hold func(stop bool) // keeps the program from starting more meanwhile
	keep int             // the program
	out  io.Writer

	layers *layerMounts // nil where there are none
}

// sweep answers the host's request.
func (s sweeper) sweep() {
	r := report{Event: eventSwept}
	if err := s.run(); err != nil {
		r.Error = err.Error()
	}
	// The host sees the end of the pipe when this does not arrive.
	_ = send(s.out, r)
}

// run kills until a look finds nothing alive: what dies may have started more
// just before.
func (s sweeper) run() error {
	s.hold(true)
	defer s.hold(false)
	for end := time.Now().Add(sweepTime); ; time.Sleep(time.Millisecond) {
		left := 0
		for _, p := range s.pids() {
			if p != s.keep && alive(p) {
				s.kill(p)
				left++
			}
		}
		switch {
		case left == 0:
			return nil
		case time.Now().After(end):
			return fmt.Errorf("%w: %d are left", errNotSwept, left)
		}
	}
}

// alive reports whether a process is neither gone nor a zombie, which only
// waits for its parent to look.
func alive(pid int) bool {
	state, _ := statOf(pid)
	return state != 0 && state != 'Z' && state != 'X'
}

// namespaceSweeper is process 1's. In its namespace every number but two is a
// descendant of the program, so a number that was given out again hits nobody
// else; and one signal holds all of them at the same moment, which nothing
// that forks fast can outrun.
func namespaceSweeper(keep int, out io.Writer) sweeper {
	return sweeper{
		keep: keep, out: out, pids: namespacePids,
		kill: func(pid int) { _ = unix.Kill(pid, unix.SIGKILL) },
		hold: func(stop bool) {
			switch {
			case os.Getpid() != 1: // outside of a namespace -1 is every program of the user
			case stop:
				_ = unix.Kill(-1, unix.SIGSTOP)
			default:
				_ = unix.Kill(keep, unix.SIGCONT)
			}
		},
	}
}

// guardSweeper is the guard's, which shares its numbers with the whole machine:
// every signal goes to a descriptor that pins a process. It is made before the
// program is awaited, while its number is certain.
func guardSweeper(keep int, out io.Writer) (sweeper, error) {
	fd, err := unix.PidfdOpen(keep, 0) // open until the guard ends
	if err != nil {
		return sweeper{}, err
	}
	return sweeper{
		keep: keep, out: out,
		pids: func() []int { return descendants(os.Getpid()) },
		kill: killDescendant,
		hold: func(stop bool) {
			sig := unix.SIGCONT
			if stop {
				sig = unix.SIGSTOP
			}
			_ = unix.PidfdSendSignal(fd, sig, nil, 0)
		},
	}, nil
}
