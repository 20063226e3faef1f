package escape

import (
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"atoll/sandbox"
)

// bare starts programs as they are: no boundary at all.
type bare struct{}

type bareProcess struct {
	in       io.WriteCloser
	out, err *io.PipeReader
	cmd      *exec.Cmd
	done     chan struct{}
}

func (bare) Level(context.Context) sandbox.Level { return sandbox.Level{Name: sandbox.LevelFull} }

func (bare) Start(ctx context.Context, _ sandbox.Policy, c sandbox.Command) (sandbox.Process, error) {
	p := &bareProcess{cmd: exec.CommandContext(ctx, c.Path, c.Args...), done: make(chan struct{})}
	p.cmd.Dir = c.Dir
	p.cmd.WaitDelay = time.Second // what is left behind may hold the pipes
	outR, outW := io.Pipe()
	errR, errW := io.Pipe()
	p.out, p.err, p.cmd.Stdout, p.cmd.Stderr = outR, errR, outW, errW
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = p.cmd.Wait() // the code is all that counts here
		outW.Close()
		errW.Close()
		close(p.done)
	}()
	return p, nil
}

func (p *bareProcess) Stdin() io.WriteCloser { return p.in }
func (p *bareProcess) Stdout() io.Reader     { return p.out }
func (p *bareProcess) Stderr() io.Reader     { return p.err }
func (p *bareProcess) Interrupt() error      { return p.cmd.Process.Signal(os.Interrupt) }
func (p *bareProcess) Kill() error           { return p.cmd.Process.Kill() }

func (p *bareProcess) Wait() sandbox.Exit {
	<-p.done
	return sandbox.Exit{Code: p.cmd.ProcessState.ExitCode(), Cause: sandbox.Exited}
}

// TestSuiteCanFail: where nothing bounds programs the report is full of
// escapes. Attempts that would do harm are left out.
func TestSuiteCanFail(t *testing.T) {
	needPython(t)
	if os.Getenv("ATOLL_ESCAPE") == "" {
		t.Skip("NOT TESTED: that the suite notices a missing sandbox; set ATOLL_ESCAPE=1")
	}
	r, err := Run(t.Context(), Options{Runner: bare{}, Python: python, harmless: true})
	if err != nil {
		t.Fatal(err)
	}
	escaped := map[string]int{}
	for _, a := range r.Attempts {
		if a.Result == Escaped {
			escaped[a.Group]++
			if a.Layer != "" {
				t.Errorf("%s escaped, and yet %q stopped it", a.Name, a.Layer)
			}
		} else if a.Proven && !strings.HasSuffix(a.Name, "_race") { // a race can be lost
			t.Errorf("%s succeeded outside and not now: %s %s", a.Name, a.Result, a.Note)
		}
	}
	for _, group := range []string{"files", "persistence", "processes", "messages", "network", "kernel", "environment", "leftovers", "afterwards"} {
		if escaped[group] == 0 {
			t.Errorf("nothing of %q escaped", group)
		}
	}
	if r.Escaped <= 100 {
		t.Errorf("only %d attempts escaped", r.Escaped)
	}
	t.Logf("%d of %d escape without a sandbox, in %.1f s: %v", r.Escaped, len(r.Attempts), r.Seconds, escaped)
}
