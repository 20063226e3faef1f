package escape

import (
	"errors"
	"os"
	"strings"
	"testing"

	"atoll/sandbox"
)

// python is the system's own; a version manager's shim would hide why an
// attempt fails.
const python = "/usr/bin/python3"

func newRunner(t *testing.T, reduced bool) sandbox.Runner {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return sandbox.New(sandbox.Options{Helper: []string{exe, helperArg}, Reduced: reduced})
}

// TestEscape makes all attempts at each level that this machine and user have.
func TestEscape(t *testing.T) {
	needPython(t)
	if os.Getenv("ATOLL_ESCAPE") == "" {
		t.Skip("NOT TESTED: attempts that touch the machine outside, slow floods and the reduced level; set ATOLL_ESCAPE=1")
	}
	for _, level := range []string{sandbox.LevelFull, sandbox.LevelReduced} {
		t.Run(level, func(t *testing.T) {
			r := newRunner(t, level == sandbox.LevelReduced)
			if got := r.Level(t.Context()); got.Name != level {
				t.Skipf("NOT TESTED: the level %s; this machine and user %d have %s: %+v", level, os.Getuid(), got.Name, got.Guarantees[0])
			}
			report, err := Run(t.Context(), Options{Runner: r, Python: python, ours: true})
			if err != nil {
				t.Fatal(err)
			}
			check(t, report)
		})
	}
}

// TestRun is the test as a person starts it, at the level that this machine has,
// without the slow floods.
func TestRun(t *testing.T) {
	needPython(t)
	r := newRunner(t, false)
	if r.Level(t.Context()).Name == sandbox.LevelNone {
		t.Skip("NOT TESTED: the test for a person; this machine has no sandbox")
	}
	dir, done, total := t.TempDir(), 0, 0
	report, err := Run(t.Context(), Options{Runner: r, Python: python, Dir: dir, quick: true, Progress: func(d, n int) {
		if d <= done || d > n {
			t.Errorf("progress went from %d to %d", done, d)
		}
		done, total = d, n
	}})
	if err != nil {
		t.Fatal(err)
	}
	check(t, report)
	if done != total || done != len(report.Attempts) {
		t.Errorf("progress ended at %d of %d, with %d attempts", done, total, len(report.Attempts))
	}
	if report.Escaped+report.Stopped+report.Absent != len(report.Attempts) {
		t.Errorf("%d, %d and %d make not %d", report.Escaped, report.Stopped, report.Absent, len(report.Attempts))
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("it left %v (%v)", left, err)
	}
	if os.Getenv(token) != "" {
		t.Error("it left the token in the environment")
	}
}

func TestNoSandbox(t *testing.T) {
	_, err := Run(t.Context(), Options{Runner: sandbox.New(sandbox.Options{}), Python: python})
	if !errors.Is(err, sandbox.ErrUnsupported) {
		t.Errorf("%v, want ErrUnsupported", err)
	}
}

func check(t *testing.T, r Report) {
	t.Helper()
	groups, proven, names := map[string]int{}, 0, map[string]bool{}
	for _, a := range r.Attempts {
		if names[a.Name] {
			t.Errorf("two attempts are called %s", a.Name)
		}
		names[a.Name] = true
		if !strings.HasSuffix(a.Plain, ".") || a.Group == "" {
			t.Errorf("%s has no sentence or no group: %+v", a.Name, a)
		}
		if (a.Layer != "") != (a.Result == Stopped) {
			t.Errorf("%s was %s by %q", a.Name, a.Result, a.Layer)
		}
		groups[a.Group]++
		if a.Proven {
			proven++
		}
		if testing.Verbose() {
			t.Logf("%-12s %-28s %-8s proven %-5v %s | %s", a.Group, a.Name, a.Result, a.Proven, a.Layer, a.Note)
		}
		if a.Result == Escaped || strings.Contains(a.Note, notProven) {
			t.Errorf("%s: %s %s: %s", a.Group, a.Name, a.Result, a.Note)
		}
	}
	t.Logf("%s as user %d: %d attempts in %.1f s, %d proven outside, %d stopped, %d absent: %v", r.Level, os.Getuid(), len(r.Attempts), r.Seconds, proven, r.Stopped, r.Absent, groups)
}

func needPython(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(python); err != nil {
		t.Skipf("NOT TESTED: that programs cannot escape, because there is no %s", python)
	}
}
