package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/windows"
)

// process is a program in its container and job. Its goroutine, follow, ends
// with the last process of the tree and with all that was granted to it.
type process struct {
	handle windows.Handle
	grants *grants
	limits Limits
	size   *sizeWatch
	detach func() bool // from the context
	stdin  *os.File
	stdout *stream
	stderr *stream
	output outputBudget
	loud   atomic.Bool
	killed atomic.Bool
	began  time.Time
	done   chan struct{} // closed when exit is set
	exit   Exit

	mu    sync.Mutex // guards what follows
	job   *job       // nil after the end
	usage Usage
}

// Stdin is documented at [Process]. It is closed when the program has ended.
func (p *process) Stdin() io.WriteCloser { return p.stdin }

// Stdout is documented at [Process]. What was written before the end can be
// read after it.
func (p *process) Stdout() io.Reader { return p.stdout }

// Stderr is like Stdout.
func (p *process) Stderr() io.Reader { return p.stderr }

// errNoInterrupt: Ctrl-C reaches only programs of the same console, and a program
// has one of its own or none, since it could type into ours.
var errNoInterrupt = errors.New("a program in a container cannot be interrupted, only ended")

// Interrupt always fails on Windows; Kill does not.
func (p *process) Interrupt() error {
	select {
	case <-p.done:
		return os.ErrProcessDone
	default:
		return errNoInterrupt
	}
}

// Kill is documented at [Process]. It does not wait.
func (p *process) Kill() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.job == nil {
		return nil
	}
	p.killed.Store(true)
	if err := p.job.end(); err != nil {
		return fmt.Errorf("end the program: %w", err)
	}
	return nil
}

// Wait is documented at [Process].
func (p *process) Wait() Exit {
	<-p.done
	return p.exit
}

// Record is documented at [Recorder]. Windows tells nobody what it refuses, so
// only the limit that ended the program is among the denials.
func (p *process) Record() (Record, error) {
	ended := false
	select {
	case <-p.done:
		ended = true
	default:
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.job != nil {
		count, err := p.job.count()
		if err != nil {
			return Record{}, fmt.Errorf("record of the run: %w", err)
		}
		p.note(count)
	}
	r := Record{Layers: []string{"appcontainer", "access lists", "job"}, Usage: p.usage}
	r.Usage.Written = p.size.grown()
	if ended {
		switch p.exit.Cause {
		case OutOfMem, OutOfDisk, TooMany, OutOfTime, TooLoud:
			r.Denials = []Denial{{Kind: "limit", What: string(p.exit.Cause), Layer: "limits", Count: 1}}
		}
	}
	return r, nil
}

// note takes a count into the record; mu is held.
func (p *process) note(c jobCount) {
	u := &p.usage
	u.Wall, u.CPU = time.Since(p.began), c.cpu
	u.Memory, u.Procs = max(u.Memory, c.memory), max(u.Procs, c.procs)
}

// limitOutput bounds what both streams may carry together; it is called before
// anything is read.
func (p *process) limitOutput(limit int64) {
	if limit < 0 {
		return
	}
	p.output.limit = limit
	spend := func(n int) int {
		may := p.output.take(n)
		if may < n && !p.ended() {
			p.loud.Store(true)
			// An error means that it has just ended by itself.
			_ = p.Kill()
		}
		return may
	}
	p.stdout.budget, p.stderr.budget = spend, spend
}

func (p *process) ended() bool {
	event, err := windows.WaitForSingleObject(p.handle, 0)
	return err != nil || event == windows.WAIT_OBJECT_0
}

const (
	// lookEvery is the time between two looks at what a tree uses, when no message
	// comes before.
	lookEvery = 50 * time.Millisecond
	// goneWait is how long a tree that was ended may take to be gone.
	goneWait = 5 * time.Second
)

// follow watches the program to its end, ends what is left of its tree and takes
// back what was granted.
func (p *process) follow() {
	limit := p.watch()
	p.exit = p.collect(limit)
	p.detach()
	p.size.finish()
	p.stdin.Close()
	p.mu.Lock()
	p.job.close()
	p.job = nil
	p.mu.Unlock()
	if err := p.grants.undo(); err != nil {
		p.exit.Detail = joinSentences(p.exit.Detail, fmt.Sprintf("What was granted to it is taken back at the next start (%v).", err))
	}
	close(p.done)
	windows.CloseHandle(p.handle)
}

// watch returns when the program has ended, or has reached the limit that it
// returns.
func (p *process) watch() *Exit {
	wait := lookEvery
	for {
		message := p.job.message(wait)
		count, err := p.job.count()
		if err != nil {
			e := killed(Failed, fmt.Sprintf("What the program uses cannot be counted any more: %v.", err))
			return &e
		}
		p.mu.Lock()
		p.note(count)
		p.mu.Unlock()
		if e := p.limits.jobEnd(message, time.Since(p.began), count); e != nil {
			return e
		}
		if p.ended() {
			if message == 0 && wait == 0 {
				return nil
			}
			wait = 0 // what came with the end is still to be read
			continue
		}
		if e := p.size.check(time.Now()); e != nil {
			return e
		}
	}
}

// collect ends the tree and says how the program ended.
func (p *process) collect(limit *Exit) Exit {
	err := p.job.end()
	for began := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		count, cerr := p.job.count()
		if cerr == nil && count.procs == 0 && p.ended() {
			break
		}
		if time.Since(began) > goneWait {
			return killed(Failed, fmt.Sprintf("It could not be ended (%v).", errors.Join(err, cerr)))
		}
	}
	var code uint32
	if err := windows.GetExitCodeProcess(p.handle, &code); err != nil {
		return killed(Failed, fmt.Sprintf("How it ended cannot be found out: %v.", err))
	}
	switch {
	case p.loud.Load():
		return killed(TooLoud, fmt.Sprintf("It wrote more than %s to its output, which is the limit.", size(p.output.limit)))
	case limit != nil:
		return *limit
	case p.killed.Load() && code == endedByUs:
		return killed(Killed, "")
	}
	return exitOf(code)
}

func joinSentences(a, b string) string { return strings.TrimSpace(a + " " + b) }
