//go:build linux || darwin

package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// startError says why the helper did not start the program.
type startError struct{ step, text string }

func (e *startError) Error() string {
	if e.step == stepExec {
		return "start program: " + e.text
	}
	return "build sandbox: " + e.step + ": " + e.text
}

// newProcess returns what spawn completes.
func newProcess(l Limits) *process {
	p := &process{
		stdout: &stream{}, stderr: &stream{}, began: time.Now(),
		settled: make(chan struct{}), done: make(chan struct{}),
		swept: make(chan report, 1), recorded: make(chan report, 1), layers: make(chan report, 1),
	}
	p.limitOutput(l.Output)
	return p
}

// spawn starts the helper and hands it the order.
func (p *process) spawn(ctx context.Context, helper []string, o order, files []*os.File, attr *syscall.SysProcAttr) error {
	line, err := json.Marshal(o)
	if err != nil {
		return err
	}
	var theirs, ours []*os.File
	pipe := func(write bool) *os.File {
		if err != nil {
			return nil
		}
		var pr, pw *os.File
		if pr, pw, err = os.Pipe(); err != nil {
			return nil
		}
		if write {
			pr, pw = pw, pr
		}
		ours, theirs = append(ours, pr), append(theirs, pw)
		return pr
	}
	p.stdin, p.stdout.f, p.stderr.f, p.control, p.reports = pipe(true), pipe(false), pipe(false), pipe(true), pipe(false)
	if err != nil {
		closeAll(theirs)
		closeAll(ours)
		return fmt.Errorf("make pipes: %w", err)
	}
	cmd := exec.Command(helper[0], helper[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs[0], theirs[1], theirs[2]
	cmd.ExtraFiles = append([]*os.File{theirs[3], theirs[4]}, files...)
	// Nothing of the host's environment, in which tokens live.
	// A helper under the race detector, in tests, would sleep a second at its end.
	cmd.Env = []string{"GOMAXPROCS=2", "GOTRACEBACK=none", "GORACE=atexit_sleep_ms=0"}
	cmd.SysProcAttr = attr
	err = cmd.Start()
	closeAll(theirs)
	if err != nil {
		closeAll(ours)
		var e syscall.Errno
		if errors.As(err, &e) && p.full {
			return &startError{"namespaces", e.Error()}
		}
		return &startError{"helper", err.Error()}
	}
	p.cmd = cmd
	p.detach = context.AfterFunc(ctx, func() {
		// An error means that it is gone already.
		_ = p.Kill()
	})
	go p.follow()
	if _, err := p.control.Write(append(line, '\n')); err != nil {
		// The helper's end says why; follow sees it.
		_ = p.Kill()
	}
	return nil
}

// started waits until the program runs. When it does not, the process is over.
func (p *process) started(ctx context.Context) (facts, error) {
	<-p.settled
	switch first := p.first; {
	case first.Event == eventStarted:
		return first.Facts, nil
	case ctx.Err() != nil:
		_ = p.Kill()
		p.Wait()
		return facts{}, ctx.Err()
	default:
		p.Wait()
		if first.Step == stepSeatbelt {
			text, _ := io.ReadAll(io.LimitReader(p.stderr.f, maxCommand)) // nobody writes any more
			first.Error = strings.TrimSpace(first.Error + "; " + strings.ToValidUTF8(string(text), "?"))
		}
		p.closeEnds()
		if first.Event != eventError {
			first.Step, first.Error = "helper", p.Wait().Detail
		}
		return facts{}, &startError{first.Step, first.Error}
	}
}
