package escape

import (
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
	for _, level := range []string{sandbox.LevelFull, sandbox.LevelReduced} {
		t.Run(level, func(t *testing.T) {
			r := newRunner(t, level == sandbox.LevelReduced)
			if got := r.Level(t.Context()); got.Name != level {
				t.Skipf("NOT TESTED: the level %s; this machine and user %d have %s: %+v", level, os.Getuid(), got.Name, got.Guarantees[0])
			}
			report, err := Run(t.Context(), Options{Runner: r, Python: python, ours: true, quick: os.Getenv("ATOLL_ESCAPE") == ""})
			if err != nil {
				t.Fatal(err)
			}
			check(t, report)
		})
	}
}

func check(t *testing.T, r Report) {
	t.Helper()
	groups, proven := map[string]int{}, 0
	for _, a := range r.Attempts {
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
