//go:build linux

package kernel

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atoll/sandbox"
)

// trials returns options whose writes can be held back.
func trials(t *testing.T) Options {
	t.Helper()
	o := options(t)
	if o.Runner.Level(t.Context()).Name != sandbox.LevelFull {
		t.Skip("NOT TESTED: trials need namespaces")
	}
	o.Layers = t.TempDir()
	o.Write = []string{t.TempDir()}
	return o
}

// tryCode runs code in a layer.
func tryCode(t *testing.T, s *Python, code string) (Result, *Trial) {
	t.Helper()
	res, trial, err := s.Try(t.Context(), code, func(Output) {})
	if err != nil || trial == nil {
		t.Fatalf("%v, %+v", err, res)
	}
	return res, trial
}

func content(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return "-"
	}
	return string(b)
}

// What a trial writes is seen by the code itself at once, and outside only when
// it is kept; variables stay either way.
func TestTrial(t *testing.T) {
	o := trials(t)
	project := o.Write[0]
	kept := filepath.Join(project, "data.txt")
	if err := os.WriteFile(kept, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, o)
	if can, err := s.CanTry(t.Context()); !can || err != nil {
		t.Fatal(can, err)
	}
	code := `p = ` + "r'" + project + `'
open(p + '/data.txt', 'w').write('new'); open('mine.txt', 'w').write('m')
x = open(p + '/data.txt').read() + open('mine.txt').read()
x`
	for _, keep := range []bool{false, true} {
		res, trial := tryCode(t, s, code)
		if res.Status != OK || res.Value != "'newm'" {
			t.Fatalf("%+v", res)
		}
		got := map[string]string{}
		for _, c := range trial.Changes {
			got[filepath.Base(c.Path)] = c.Kind
		}
		if d := cmp.Diff(map[string]string{"data.txt": "changed", "mine.txt": "created"}, got); d != "" {
			t.Error(d)
		}
		if content(kept) != "old" || content(filepath.Join(o.Dir, "mine.txt")) != "-" {
			t.Error("the files were written before the decision")
		}
		want := [2]string{"old", "-"}
		end := trial.Drop
		if keep {
			want, end = [2]string{"new", "m"}, trial.Keep
		}
		if err := end(); err != nil {
			t.Fatal(err)
		}
		if got := [2]string{content(kept), content(filepath.Join(o.Dir, "mine.txt"))}; got != want {
			t.Errorf("keep %v: %q, want %q", keep, got, want)
		}
		res, err := s.Run(t.Context(), "import os; x, os.path.exists('mine.txt'), open(p + '/data.txt').read()", func(Output) {})
		if say := map[bool]string{false: "('newm', False, 'old')", true: "('newm', True, 'new')"}[keep]; err != nil || res.Value != say {
			t.Errorf("keep %v: the next run sees %s, want %s (%v)", keep, res.Value, say, err)
		}
	}
	_, trial := tryCode(t, s, "1")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if res, err := s.Run(ctx, "2", func(Output) {}); err != nil || res.Status != Interrupted {
		t.Errorf("beside an open trial: %v %+v", err, res)
	}
	if err := trial.Drop(); err != nil {
		t.Error(err)
	}
}

// A trial whose code ends the interpreter, or leaves a writer behind, leaves no
// trace when it is dropped.
func TestTrialOfHostileCode(t *testing.T) {
	o := trials(t)
	s := open(t, o)
	for name, code := range map[string]string{
		"dies":     "open('a.txt', 'w').write('a'); import os; os._exit(3)",
		"daemon":   "import subprocess; subprocess.Popen(['sh', '-c', 'exec setsid sh -c \"while :; do echo x > b.txt; sleep 0.01; done\"']); import time; time.sleep(0.3)",
		"open one": "f = open('c.txt', 'w'); f.write('c'); f.flush()",
	} {
		res, trial, err := s.Try(t.Context(), code, func(Output) {})
		if errors.Is(err, sandbox.ErrHeld) { // the open file of the case before
			if _, err = s.Run(t.Context(), "f.close()", func(Output) {}); err != nil {
				t.Fatal(err)
			}
			res, trial, err = s.Try(t.Context(), code, func(Output) {})
		}
		if err != nil || trial == nil {
			t.Fatalf("%s: %v %+v", name, err, res)
		}
		if err := trial.Drop(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if left, _ := os.ReadDir(o.Dir); len(left) > 0 {
			t.Errorf("%s: left %v", name, left)
		}
	}
}

// A tree that is held is never written but through a trial that was kept: not by
// a plain run, nor by a thread that goes on after its trial.
func TestHeldTree(t *testing.T) {
	o := trials(t)
	project := o.Write[0]
	o.Held = []string{project}
	mine := filepath.Join(project, "mine.txt")
	if err := os.WriteFile(mine, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, o)
	res, err := s.Run(t.Context(), "p = r'"+project+"'\nopen(p + '/mine.txt').read()", func(Output) {})
	if err != nil || res.Value != "'mine'" {
		t.Fatalf("it cannot be read: %v %+v", err, res)
	}
	res, err = s.Run(t.Context(), "open(p + '/mine.txt', 'w')", func(Output) {})
	if err != nil || res.Error == nil || res.Error.Name != "OSError" {
		t.Errorf("a plain run wrote: %v %+v", err, res)
	}
	_, trial := tryCode(t, s, `
import threading, time, os
tries = []
def later():
    for _ in range(2000):
        try:
            with open(p + '/mine.txt', 'w') as f: f.write('thread')
            os.makedirs(p + '/.vscode', exist_ok=True)
            tries.append('wrote')
        except OSError:
            tries.append('refused')
        time.sleep(0.002)
open(p + '/new.txt', 'w').write('new')
threading.Thread(target=later, daemon=True).start()
while not tries: time.sleep(0.001)
`)
	if err := trial.Drop(); err != nil {
		t.Fatal(err)
	}
	res, err = s.Run(t.Context(), "while 'refused' not in tries[-3:]: time.sleep(0.001)\nn = len(tries)\nwhile len(tries) < n + 20: time.sleep(0.001)\ntries[-1]", func(Output) {})
	if err != nil || res.Value != "'refused'" {
		t.Errorf("the thread goes on: %v %+v", err, res)
	}
	if list, _ := os.ReadDir(project); len(list) != 1 || content(mine) != "mine" {
		t.Errorf("the thread wrote: %v, %q", list, content(mine))
	}
	_, trial = tryCode(t, s, "open(p + '/new.txt', 'w').write('kept');")
	if err := trial.Keep(); err != nil {
		t.Fatal(err)
	}
	if content(filepath.Join(project, "new.txt")) != "kept" {
		t.Error("what was kept is not there")
	}
	res, err = s.Run(t.Context(), "tries.clear()\nwhile len(tries) < 20: time.sleep(0.001)\nset(tries)", func(Output) {})
	if err != nil || res.Value != "{'refused'}" {
		t.Errorf("after a kept trial: %v %+v", err, res)
	}
}
