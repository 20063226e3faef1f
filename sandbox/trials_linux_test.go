package sandbox

import (
	"context"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// newChecker returns the self-check of macOS around another boundary.
func newChecker(t *testing.T, start func(context.Context, Policy, Command) (Process, error)) *checker {
	home := t.TempDir()
	if err := os.WriteFile(home+"/file", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return &checker{start: start, home: home, connects: []string{`bash -c ': </dev/tcp/127.0.0.1/'$PORT`}}
}

// TestSelfCheck judges the boundary of Linux, which holds, and none at all.
func TestSelfCheck(t *testing.T) {
	r := newTestRunner(t).(*runner)
	requireFull(t, r)
	found, err := newChecker(t, r.Start).trials(t.Context())
	if l := levelOf(found, nil); err != nil || l.Name != LevelFull || len(l.Guarantees) != len(trialNames)+4 {
		t.Errorf("a boundary: %v, %+v", err, l)
	}
	found, err = newChecker(t, startFree).trials(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	l := levelOf(found, nil)
	var holds []string
	for _, g := range l.Guarantees {
		if g.Holds {
			holds = append(holds, g.Name)
		} else if !strings.Contains(g.Detail, ": status ") && g.Name != "counts what is used" {
			t.Errorf("%s: %q says not what was seen", g.Name, g.Detail)
		}
	}
	if want := []string{"runs programs", "reads what it may", "writes where it may", "ends programs"}; l.Name != LevelNone || !slices.Equal(holds, want) {
		t.Errorf("no boundary: level %s, holds %q", l.Name, holds)
	}
}

// TestSelfCheckStops is about programs that do not even begin.
func TestSelfCheckStops(t *testing.T) {
	for name, start := range map[string]func(context.Context, Policy, Command) (Process, error){
		"refused": func(context.Context, Policy, Command) (Process, error) { return nil, refusal{"it is not allowed"} },
		"silent": func(ctx context.Context, p Policy, c Command) (Process, error) {
			return startFree(ctx, p, Command{Path: "/bin/sh", Args: []string{"-c", "echo not allowed >&2; exit 65"}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := newChecker(t, start).trials(t.Context())
			if err == nil || !strings.Contains(err.Error(), "not allowed") {
				t.Errorf("%v", err)
			}
			if l := levelOf(found, nil); l.Name != LevelNone {
				t.Errorf("%+v", l)
			}
		})
	}
}

// freeProcess is a program with no boundary around it, in a group of its own.
type freeProcess struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout io.Reader
	stderr io.Reader
}

func startFree(_ context.Context, p Policy, c Command) (Process, error) {
	f := &freeProcess{cmd: exec.Command(c.Path, c.Args...)}
	f.cmd.Env, f.cmd.SysProcAttr = p.Env, &syscall.SysProcAttr{Setpgid: true}
	var err error
	if f.stdin, err = f.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if f.stdout, err = f.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	if f.stderr, err = f.cmd.StderrPipe(); err != nil {
		return nil, err
	}
	return f, f.cmd.Start()
}

func (f *freeProcess) Stdin() io.WriteCloser { return f.stdin }
func (f *freeProcess) Stdout() io.Reader     { return f.stdout }
func (f *freeProcess) Stderr() io.Reader     { return f.stderr }
func (f *freeProcess) Interrupt() error      { return f.Kill() }
func (f *freeProcess) Kill() error           { return syscall.Kill(-f.cmd.Process.Pid, syscall.SIGKILL) }

func (f *freeProcess) Wait() Exit {
	_ = f.cmd.Wait() // the state says it
	ws := f.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return Exit{Code: max(ws.ExitStatus(), 0), Signal: max(int(ws.Signal()), 0)}
}
