//go:build linux

package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// python is the system's own; a version manager's shim would hide why an
// attempt fails.
const python = "/usr/bin/python3"

// attempt is one line of testdata/escape.py.
type attempt struct {
	Group, Name, Control, Result, Note string
}

func attempts(t *testing.T, out []byte) map[string]attempt {
	t.Helper()
	all := map[string]attempt{}
	for line := range bytes.Lines(out) {
		var a attempt
		if err := json.Unmarshal(line, &a); err != nil {
			t.Fatalf("escape.py said %q: %v", line, err)
		}
		all[a.Name] = a
	}
	return all
}

// TestEscape runs hostile attempts outside, to show that they are real, and
// then inside, where none may succeed.
func TestEscape(t *testing.T) {
	if _, err := os.Stat(python); err != nil {
		t.Skipf("NOT TESTED: that programs cannot escape, because there is no %s", python)
	}
	t.Setenv("ATOLL_TEST_TOKEN", escapeSecret)
	control := controlRun(t)
	t.Run("full", func(t *testing.T) {
		r := newTestRunner(t)
		requireFull(t, r)
		fx := newEscapeFixture(t)
		inside := insideRun(t, r, fx, Policy{Write: []string{fx.ws}})
		allowed := map[string]string{}
		if r.(*runner).groups != nil {
			allowed["uncounted_memory"] = "the kernel counts it"
		}
		judge(t, control, inside, allowed)
		for _, d := range append(fx.damage(), fx.gitDamage()...) {
			t.Error("damage:", d)
		}
	})
	t.Run("reduced", func(t *testing.T) {
		r := newReducedRunner(t)
		fx := newEscapeFixture(t)
		if _, err := r.Start(t.Context(), Policy{Write: []string{fx.ws}}, sh("true")); !errors.Is(err, ErrUnsupported) {
			t.Errorf("a folder with .git in it: %v", err)
		}
		if err := os.RemoveAll(fx.ws + "/.git"); err != nil {
			t.Fatal(err)
		}
		inside := insideRun(t, r, fx, Policy{Write: []string{fx.ws}})
		// The level says that these do not hold.
		judge(t, control, inside, map[string]string{
			"git_hook": "read-only parts", "git_config": "read-only parts", "git_swap": "read-only parts",
			"host_name": "namespaces", "bounding_set": "namespaces",
		})
		for _, d := range fx.damage() {
			t.Error("damage:", d)
		}
	})
}

// newReducedRunner returns a runner that has found no namespaces.
func newReducedRunner(t *testing.T) Runner {
	t.Helper()
	if why := reducedForbidden(); why.reason != "" {
		t.Skipf("NOT TESTED: the reduced mode. %s", why.reason)
	}
	r := newTestRunner(t).(*runner)
	r.known = &ability{level: LevelReduced, full: refused{"Namespaces are off in this test.", "Turn them on."}}
	return r
}

func controlRun(t *testing.T) map[string]attempt {
	t.Helper()
	fx := newEscapeFixture(t)
	cmd := exec.Command(python, "escape.py", fx.file, "control")
	cmd.Dir = fx.ws
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("control: %v\n%s", err, errs.String())
	}
	all := attempts(t, out)
	works := 0
	for _, a := range all {
		if a.Result == "escaped" {
			works++
		} else if a.Control == "must" {
			t.Errorf("control: %s does not even work outside: %s", a.Name, a.Note)
		}
	}
	t.Logf("control: %d of %d attempts succeed outside as user %d", works, len(all), os.Getuid())
	if len(fx.damage()) == 0 || len(fx.gitDamage()) == 0 {
		t.Error("control: no damage was seen although attempts succeeded")
	}
	return all
}

func insideRun(t *testing.T, r Runner, fx *escapeFixture, p Policy) map[string]attempt {
	t.Helper()
	p.Env = []string{"PATH=/usr/bin:/bin", "LANG=C.UTF-8"}
	got := run(t, r, p, Command{Path: python, Args: []string{"escape.py", fx.file}, Dir: fx.ws})
	if got.exit.Code != 0 {
		t.Fatalf("%+v", got)
	}
	return attempts(t, []byte(got.out))
}

// judge compares the runs. Allowed names attempts that a guarantee that does
// not hold lets through.
func judge(t *testing.T, control, inside map[string]attempt, allowed map[string]string) {
	t.Helper()
	groups := map[string]int{}
	for _, a := range inside {
		groups[a.Group]++
		if _, ok := allowed[a.Name]; a.Result == "escaped" && !ok {
			t.Errorf("%s: %s escaped: %s (control: %s %s)", a.Group, a.Name, a.Note, control[a.Name].Result, control[a.Name].Note)
		}
		t.Logf("%-12s %-24s %-8s %-40s | outside: %s %s", a.Group, a.Name, a.Result, a.Note, control[a.Name].Result, control[a.Name].Note)
	}
	if len(inside) < len(control) {
		t.Errorf("only %d attempts were made inside, %d outside", len(inside), len(control))
	}
	t.Logf("%d attempts inside: %v", len(inside), groups)
}

func TestPythonFromAPrefix(t *testing.T) {
	prefix := os.Getenv("ATOLL_PYTHON_PREFIX")
	if prefix == "" {
		t.Skip("NOT TESTED: a Python outside the system's folders; set ATOLL_PYTHON_PREFIX to one")
	}
	r := newTestRunner(t)
	requireFull(t, r)
	p := Policy{Read: []string{prefix}, Write: []string{t.TempDir()}, Env: []string{"HOME=/home/user"}}
	got := run(t, r, p, Command{Path: prefix + "/bin/python3", Args: []string{"-c", "import sys, ssl, ctypes, sqlite3, multiprocessing, os; print(sys.prefix); print(multiprocessing.Pool(2).map(abs, [-1])); print(os.listdir(os.path.expanduser('~root')) if os.path.isdir('/root/.ssh') else 'hidden')"}})
	if want := prefix + "\n[1]\nhidden\n"; got.out != want || got.exit.Code != 0 {
		t.Errorf("%+v, want %q", got, want)
	}
	if _, err := r.Start(context.Background(), Policy{}, Command{Path: prefix + "/bin/python3"}); err != nil {
		t.Errorf("control: the program alone starts: %v", err)
	}
}
