package sandbox

import (
	"bufio"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestLevel says what a Mac is seen to enforce; the other tests need it.
func TestLevel(t *testing.T) {
	l := newTestRunner(t).Level(t.Context())
	for _, g := range l.Guarantees {
		t.Logf("%v %s: %s", g.Holds, g.Name, g.Detail)
	}
	if l.Name != LevelReduced {
		t.Errorf("level %s: %s", l.Name, whyNone(l))
	}
	if l := New(Options{}).Level(t.Context()); l.Name != LevelNone {
		t.Errorf("without a helper: %+v", l)
	}
}

func TestEnds(t *testing.T) {
	r := newTestRunner(t)
	work := t.TempDir()
	for name, tt := range map[string]struct {
		script string
		limits Limits
		code   int
		signal int
		cause  Cause
	}{
		"status":       {"exit 3", Limits{}, 3, 0, Exited},
		"signal":       {"kill -TERM $$", Limits{}, 128 + 15, 15, Exited},
		"time":         {"sleep 60", Limits{Wall: time.Second}, 128 + 9, 9, OutOfTime},
		"processor":    {"while :; do :; done", Limits{CPU: time.Second}, 128 + 9, 9, OutOfTime},
		"processes":    {"for i in 1 2 3 4 5 6 7 8 9; do sleep 60 & done; wait", Limits{Procs: 4}, 128 + 9, 9, TooMany},
		"memory":       {`x=0123456789abcdef; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24; do x="$x$x"; sleep 0.05; done`, Limits{Memory: 64 << 20}, 128 + 9, 9, OutOfMem},
		"disk":         {`i=0; while [ $i -lt 64 ]; do dd if=/dev/zero of="$WORK/$i" bs=1048576 count=4 2>/dev/null; i=$((i+1)); sleep 0.05; done`, Limits{Disk: 32 << 20}, 128 + 9, 9, OutOfDisk},
		"size of file": {`exec dd if=/dev/zero of="$WORK/big" bs=1048576 count=8`, Limits{FileSize: 4 << 20}, 128 + 25, 25, Exited},
		"output":       {"while :; do echo 0123456789; done", Limits{Output: 1 << 20}, 128 + 9, 9, TooLoud},
	} {
		t.Run(name, func(t *testing.T) {
			got := run(t, r, Policy{Write: []string{work}, Env: []string{"PATH=/usr/bin:/bin", "WORK=" + work}, Limits: tt.limits}, sh(tt.script))
			if e := got.exit; e.Code != tt.code || e.Signal != tt.signal || e.Cause != tt.cause {
				t.Errorf("%+v, %q", e, got.err)
			}
		})
	}
}

// TestSweepAndInterrupt uses a program that lives on.
func TestSweepAndInterrupt(t *testing.T) {
	proc := start(t, newTestRunner(t), Policy{Env: []string{"PATH=/usr/bin:/bin"}}, sh(`trap "echo stopped; exit 3" INT; sleep 300 & echo $!; while :; do sleep 0.1; done`))
	out := bufio.NewReader(proc.Stdout())
	line, err := out.ReadString('\n')
	if err != nil || strings.TrimSpace(line) == "" {
		t.Fatal(line, err)
	}
	if err := proc.(Sweeper).Sweep(); err != nil {
		t.Error(err)
	}
	if err := proc.Interrupt(); err != nil {
		t.Error(err)
	}
	if line, _ := out.ReadString('\n'); line != "stopped\n" {
		t.Errorf("after the interrupt: %q", line)
	}
	if e := proc.Wait(); e.Code != 3 {
		t.Errorf("%+v", e)
	}
}

// TestSpelling: a disk that ignores case must not lend what a name in another
// case denies.
func TestSpelling(t *testing.T) {
	r := newTestRunner(t)
	work := t.TempDir()
	if err := os.Mkdir(filepath.Join(work, "Inputs"), 0o755); err != nil {
		t.Fatal(err)
	}
	odd := filepath.Join(work, "inputs")
	if _, err := os.Stat(odd); err != nil {
		t.Skip("this disk tells a from A")
	}
	p := Policy{Read: []string{odd}, Write: []string{work}, Env: []string{"WORK=" + work}}
	if got := run(t, r, p, sh(`echo x >"$WORK/Inputs/x"`)); got.exit.Code == 0 {
		t.Error("written into a read-only folder")
	}
	if _, err := r.Start(t.Context(), Policy{Write: []string{"/users"}}, sh("true")); !errors.Is(err, ErrPolicy) {
		t.Errorf("/users: %v", err)
	}
}

func TestRefusals(t *testing.T) {
	r := newTestRunner(t)
	for _, mode := range []NetworkMode{NetworkLoopback, NetworkHosts, NetworkOn} {
		if _, err := r.Start(t.Context(), Policy{Network: Network{Mode: mode}}, sh("true")); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s: %v", mode, err)
		}
	}
	file := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(file, []byte("no program"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Start(t.Context(), Policy{}, Command{Path: file}); err == nil {
		t.Error("a file that nobody may run was started")
	}
}

// TestHelperKilled: the group goes even when nobody is left to sweep.
func TestHelperKilled(t *testing.T) {
	proc := start(t, newTestRunner(t), Policy{Env: []string{"PATH=/usr/bin:/bin"}}, sh("echo begun; sleep 300"))
	out := bufio.NewReader(proc.Stdout())
	if line, err := out.ReadString('\n'); line != begun {
		t.Fatal(line, err)
	}
	if err := proc.(*process).cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if e := proc.Wait(); e.Cause != Failed {
		t.Errorf("%+v", e)
	}
	if rest, err := out.ReadString('\n'); err == nil || rest != "" {
		t.Errorf("still there: %q, %v", rest, err)
	}
}
