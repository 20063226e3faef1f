//go:build linux

package kernel

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"atoll/sandbox"
)

// running counts the machine's processes whose command line holds mark.
func running(t *testing.T, mark string) (n int) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && strings.Contains(string(b), mark) {
			n++
		}
	}
	return n
}

// daemons starts three processes that an interrupt does not reach: in a session
// of its own, forked twice from there, and deaf to signals.
const daemons = `import os, signal, subprocess, time
subprocess.Popen(['sleep', MARK], start_new_session=True)
subprocess.Popen(['setsid', 'sh', '-c', 'trap "" TERM INT HUP; (setsid sleep $0 &); while :; do sleep $0; done', MARK], start_new_session=True)
time.sleep(0.3)
print('up', flush=True)
`

// TestStopSweeps: a stopped run leaves no process behind but the interpreter,
// which keeps its variables.
func TestStopSweeps(t *testing.T) {
	if jail() == nil {
		t.Skip("SKIPPED: there is no sandbox on this machine")
	}
	mark := fmt.Sprintf("1000.%d", time.Now().UnixNano())
	code := strings.ReplaceAll(daemons, "MARK", "'"+mark+"'")
	for _, c := range []struct {
		name, code string
		timeout    time.Duration
		want       Status
	}{
		{"stopped", code + "time.sleep(60)", 0, Interrupted},
		{"time is up", code + "time.sleep(60)", 3 * time.Second, TimedOut},
		{"swallows the interrupt", code + "try:\n    time.sleep(60)\nexcept KeyboardInterrupt: pass", 0, OK},
		{"ends by itself", code, 0, OK},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := options(t)
			o.Runner, o.Timeout = jail(), c.timeout
			s := open(t, o)
			exec1(t, s, "kept = 1")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			most := 0
			res, err := s.Run(ctx, c.code, func(out Output) {
				if strings.Contains(out.Text, "up") {
					most = running(t, mark)
					if c.timeout == 0 && c.name != "ends by itself" {
						cancel()
					}
				}
			})
			if err != nil || res.Status != c.want {
				t.Fatalf("%+v, %v", res, err)
			}
			left := running(t, mark)
			if most < 4 {
				t.Errorf("control: %d processes ran, want the session's, the deaf one and two of its children", most)
			}
			if c.name == "ends by itself" {
				if left < 4 {
					t.Errorf("a run that ended by itself was swept up after: %d are left", left)
				}
			} else if left != 0 {
				t.Errorf("%d processes are left", left)
			}
			if next := exec1(t, s, "kept"); next.Value != "1" {
				t.Errorf("state is gone: %+v", next.Result)
			}
			// What the next run starts is its own business.
			if next := exec1(t, s, "import subprocess; subprocess.run(['sleep', '0.1']).returncode"); next.Value != "0" {
				t.Errorf("next: %+v", next.Result)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if n := running(t, mark); n != 0 {
				t.Errorf("after the end of the interpreter %d processes are left", n)
			}
		})
	}
}

// unswept is a runner whose processes cannot be swept up.
type unswept struct{ bare }

type unsweptProcess struct{ sandbox.Process }

func (unsweptProcess) Sweep() error { return errors.New("some are left") }

func (r unswept) Start(ctx context.Context, p sandbox.Policy, c sandbox.Command) (sandbox.Process, error) {
	proc, err := r.bare.Start(ctx, p, c)
	return unsweptProcess{proc}, err
}

// TestStopCannotSweep: what cannot be ended otherwise ends with the interpreter.
func TestStopCannotSweep(t *testing.T) {
	o := options(t)
	o.Runner = unswept{}
	s := open(t, o)
	exec1(t, s, "kept = 1")
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	got := execCtx(t, ctx, s, "import time; time.sleep(60)")
	if got.Status != Died || got.Exit == nil || got.Exit.Cause != sandbox.Killed || !strings.Contains(got.Note, "did not stop when asked") {
		t.Errorf("%+v", got.Result)
	}
	if next := exec1(t, s, "'kept' in globals()"); next.Value != "False" {
		t.Errorf("next: %+v", next.Result)
	}
}
