package sandbox

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

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
