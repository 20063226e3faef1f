//go:build linux || darwin

package sandbox

import (
	"errors"
	"fmt"
	"io"
	"time"
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

	layer func(line string) // obeys a command about layers; nil where there are none
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
