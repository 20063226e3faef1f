//go:build linux || darwin

package sandbox

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// process is one helper and what it started. Its goroutine, follow, ends with
// the helper; Wait awaits it.
type process struct {
	cmd     *exec.Cmd
	full    bool        // namespaces: ending the helper ends the tree
	cleanup func()      // removes what belongs to this run
	detach  func() bool // from the context
	stdin   *os.File
	stdout  *stream
	stderr  *stream
	reports *os.File

	mu      sync.Mutex // guards control against use after its end
	control *os.File

	sweeping  sync.Mutex  // one sweep at a time
	swept     chan report // its answer
	recording sync.Mutex
	recorded  chan report

	// judge corrects the end by what others than the helper have seen, and adds
	// completes the record; nil where nobody else looks.
	judge  func(Exit) Exit
	adds   func(Record) Record
	began  time.Time
	output outputBudget
	loud   atomic.Bool

	layers chan report // answers to layer commands

	killed  atomic.Bool
	settled chan struct{} // closed when first is set
	first   report
	done    chan struct{} // closed when exit is set
	exit    Exit
	last    Record // the newest from the helper; read after done
}

// Stdin is documented at [Process]. It is closed when the program has ended.
func (p *process) Stdin() io.WriteCloser { return p.stdin }

// Stdout is documented at [Process]. What was written before the end can be
// read after it.
func (p *process) Stdout() io.Reader { return p.stdout }

// Stderr is like Stdout.
func (p *process) Stderr() io.Reader { return p.stderr }

// Interrupt sends SIGINT to the program's process group. It returns
// [os.ErrProcessDone] after the end.
func (p *process) Interrupt() error { return p.command(cmdInterrupt) }

func (p *process) command(text string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.done:
		return os.ErrProcessDone
	default:
	}
	if _, err := p.control.WriteString(text); err != nil {
		if errors.Is(err, syscall.EPIPE) {
			return os.ErrProcessDone
		}
		return fmt.Errorf("tell sandbox helper: %w", err)
	}
	return nil
}

// sweepWait is longer than the helper takes to sweep, or to give up.
const sweepWait = 2 * sweepTime

// Sweep is documented at [Sweeper].
func (p *process) Sweep() error {
	p.sweeping.Lock()
	defer p.sweeping.Unlock()
	select {
	case <-p.swept: // of a sweep that was waited for in vain
	default:
	}
	if err := p.command(cmdSweep); err != nil {
		return ignoreDone(err)
	}
	late := time.NewTimer(sweepWait)
	defer late.Stop()
	select {
	case r := <-p.swept:
		if r.Error != "" {
			return fmt.Errorf("sweep up: %s", r.Error)
		}
		return nil
	case <-p.done:
		return nil
	case <-late.C:
		return errors.New("sweep up: the sandbox helper does not answer")
	}
}

// killWait is what process 1 has for its last record before it is ended.
const killWait = 200 * time.Millisecond

// Kill is documented at [Process]. It does not wait.
func (p *process) Kill() error {
	select {
	case <-p.done:
		return nil
	default:
	}
	p.killed.Store(true)
	// The guard must live to sweep up; if it cannot, it goes as well.
	patience := Grace
	if p.full {
		patience = killWait
		select {
		case <-p.settled:
		default: // nothing runs yet that a record could be about
			return ignoreDone(p.cmd.Process.Kill())
		}
	}
	time.AfterFunc(patience, func() {
		select {
		case <-p.done:
		default:
			_ = p.cmd.Process.Kill()
		}
	})
	return ignoreDone(p.command(cmdKill))
}

func ignoreDone(err error) error {
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

// Wait is documented at [Process].
func (p *process) Wait() Exit {
	<-p.done
	return p.exit
}

// follow reads the helper's reports to their end and collects the helper. The
// end of process 1 is the end of every process of its namespace.
func (p *process) follow() {
	var last report
	err := readReports(p.reports, func(r report) {
		if r.Record != nil {
			p.last = *r.Record
		} else if r.Event == eventRecord {
			return
		}
		answers := map[string]chan report{eventSwept: p.swept, eventRecord: p.recorded, eventLayer: p.layers}[r.Event]
		if answers != nil {
			select {
			case answers <- r:
			default: // nobody waits for it any more
			}
			return
		}
		if last.Event == "" {
			p.first = r
			close(p.settled)
		}
		last = r
	})
	if err != nil {
		// A helper that talks nonsense is not ours any more.
		_ = p.cmd.Process.Kill()
	}
	p.reports.Close()
	p.detach()
	// Not cmd.Wait: it is for pipes that it copies itself.
	state, err := p.cmd.Process.Wait()
	p.exit = p.end(last, state, err)
	if p.judge != nil {
		p.exit = p.judge(p.exit)
	}
	if last.Event == "" {
		close(p.settled)
	}
	if p.last.Usage.Wall == 0 { // the helper told nothing
		p.last.Usage.Wall = time.Since(p.began)
	}
	switch p.exit.Cause {
	case OutOfMem, OutOfDisk, TooMany, OutOfTime, TooLoud:
		p.last.Denials = append(p.last.Denials, Denial{Kind: "limit", What: string(p.exit.Cause), Layer: "limits", Count: 1})
	}
	p.cleanup()
	p.stdin.Close()
	p.mu.Lock()
	p.control.Close()
	close(p.done)
	p.mu.Unlock()
}

// readReports calls handle for each report until the end, which is no error,
// or until something else comes than an event of at most [maxReport] bytes.
func readReports(from io.Reader, handle func(report)) error {
	for lines := bufio.NewReader(from); ; {
		line, err := readLine(lines, maxReport)
		if errors.Is(err, errLongLine) {
			return err
		}
		if err != nil {
			return nil
		}
		var r report
		if err := json.Unmarshal(line, &r); err != nil {
			return err
		}
		if r.Event == "" {
			return errors.New("a report without an event")
		}
		handle(r)
	}
}

// end works out how the tree ended from the helper's last words.
func (p *process) end(last report, state *os.ProcessState, err error) Exit {
	switch {
	case p.loud.Load():
		return killed(TooLoud, fmt.Sprintf("It wrote more than %s to its output, which is the limit.", size(p.output.limit)))
	case last.Event == eventExit && (last.Exit.Cause != Killed || !p.killed.Load()):
		return last.Exit
	case p.killed.Load():
		return killed(Killed, "")
	case last.Event == eventError:
		return Exit{Code: 125, Cause: Failed, Detail: last.Step + ": " + last.Error}
	case err != nil:
		return killed(Failed, "wait for sandbox helper: "+err.Error())
	}
	return killed(Failed, fmt.Sprintf("The sandbox helper ended before its time (%s); when memory is short, the system may have ended it.", state))
}

// closeEnds drops the pipes of a program that never ran.
func (p *process) closeEnds() {
	for _, f := range []*os.File{p.stdin, p.stdout.f, p.stderr.f} {
		f.Close()
	}
}
