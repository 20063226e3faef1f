//go:build linux || darwin

package sandbox

import (
	"errors"
	"time"
)

// Record is documented at [Recorder]. While the program runs the helper looks
// anew; after the end it is the last look, or, when the helper was killed, the
// last one that anybody asked for.
func (p *process) Record() (Record, error) {
	p.recording.Lock()
	defer p.recording.Unlock()
	select {
	case <-p.recorded: // of a call that has waited in vain
	default:
	}
	if err := ignoreDone(p.command(cmdRecord)); err != nil {
		return Record{}, err
	}
	late := time.NewTimer(sweepWait) // a sweep may be in the way
	defer late.Stop()
	select {
	case r := <-p.recorded:
		return p.complete(*r.Record), nil
	case <-p.done:
		return p.complete(p.last), nil
	case <-late.C:
		return Record{}, errors.New("record of the run: the sandbox helper does not answer")
	}
}

// complete adds what others than the helper have seen.
func (p *process) complete(r Record) Record {
	if p.adds == nil {
		return r
	}
	return p.adds(r)
}

// limitOutput bounds what both streams may carry together; it is called before
// anything is read.
func (p *process) limitOutput(limit int64) {
	if limit < 0 {
		return
	}
	p.output.limit = limit
	p.stdout.budget, p.stderr.budget = p.spend, p.spend
}

// spend takes n read bytes from what may be read, and returns how many of them
// may be passed on. With the first that may not, the tree ends.
func (p *process) spend(n int) int {
	may := p.output.take(n)
	if may < n {
		select {
		case <-p.done:
		default:
			p.loud.Store(true)
			// The limit, not a person, has ended it.
			_ = p.Kill()
		}
	}
	return may
}
