package sandbox

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// requireFull skips, loudly, what only the full mode can show.
func requireFull(tb testing.TB, r Runner) {
	tb.Helper()
	l := r.Level(context.Background())
	if l.Name != LevelFull {
		tb.Skipf("NOT TESTED: this machine's sandbox is %q, not full: %+v", l.Name, l.Guarantees)
	}
}

func write(tb testing.TB, path, text string) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		tb.Fatal(err)
	}
}

func TestLevelIsFullOrSaysWhy(t *testing.T) {
	l := newTestRunner(t).Level(context.Background())
	t.Logf("level %s", l.Name)
	for _, g := range l.Guarantees {
		t.Logf("%-16s %-5v %s %s", g.Name, g.Holds, g.Detail, g.Fix)
		if g.Detail == "" {
			t.Errorf("%s: no detail", g.Name)
		}
		if l.Name == LevelFull && !g.Holds && g.Name != "landlock" && g.Name != "sockets in folders" {
			t.Errorf("%s does not hold although the level is full", g.Name)
		}
	}
}

func TestExitAndPipes(t *testing.T) {
	for level, r := range runners(t) {
		t.Run(level, func(t *testing.T) {
			proc := start(t, r, Policy{}, sh("cat; echo err >&2; exit 7"))
			io.WriteString(proc.Stdin(), "hello")
			got := collect(t, proc)
			want := outcome{"hello", "err\n", Exit{Code: 7, Cause: Exited}}
			if d := cmp.Diff(want, got, cmp.AllowUnexported(outcome{})); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(proc.Wait(), proc.Wait()); d != "" {
				t.Errorf("second Wait differs: %s", d)
			}
			if err := proc.Interrupt(); !errors.Is(err, os.ErrProcessDone) {
				t.Errorf("Interrupt after the end: %v, want %v", err, os.ErrProcessDone)
			}
			if err := proc.Kill(); err != nil {
				t.Errorf("Kill after the end: %v", err)
			}
			if e := run(t, r, Policy{}, sh("kill -SEGV $$")).exit; e.Signal != 11 || e.Code != 139 || e.Cause != Exited {
				t.Errorf("program killed by itself: %+v", e)
			}
		})
	}
}

func TestEnvironmentIsThePolicys(t *testing.T) {
	r := newTestRunner(t)
	requireFull(t, r)
	t.Setenv("SECRET_TOKEN", "x")
	got := run(t, r, Policy{Env: []string{"A=1", "B=two words"}}, Command{Path: "/usr/bin/env"})
	if got.out != "A=1\nB=two words\n" {
		t.Errorf("environment is %q", got.out)
	}
}

func TestFilesBecomeDescriptors(t *testing.T) {
	for level, r := range runners(t) {
		t.Run(level, func(t *testing.T) {
			for _, n := range []int{1, 2, 5} {
				var files, reads []*os.File
				for range n {
					pr, pw, err := os.Pipe()
					if err != nil {
						t.Fatal(err)
					}
					files, reads = append(files, pw), append(reads, pr)
				}
				c := sh(`i=3; while [ $i -lt ` + string(rune('3'+n)) + ` ]; do eval "echo fd $i >&$i"; i=$((i+1)); done; set -- /proc/self/fd/*; echo $#`)
				c.Files = files
				got := run(t, r, Policy{}, c)
				for i, f := range reads {
					b, err := io.ReadAll(f)
					if want := "fd " + string(rune('3'+i)) + "\n"; string(b) != want || err != nil {
						t.Errorf("%d files: descriptor %d got %q, %v", n, 3+i, b, err)
					}
				}
				// 0, 1, 2, the files, and the folder that the shell reads.
				if want := string(rune('0' + 4 + n)); strings.TrimSpace(got.out) != want {
					t.Errorf("%d files: the program has %s descriptors, want %s", n, got.out, want)
				}
				if _, err := files[0].Write(nil); !errors.Is(err, os.ErrClosed) {
					t.Errorf("Start left a file open: %v", err)
				}
			}
		})
	}
}

func TestStartRefuses(t *testing.T) {
	r := newTestRunner(t)
	requireFull(t, r)
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		p    Policy
		c    Command
		want error
	}{
		"home writable":   {Policy{Write: []string{home}}, sh("true"), ErrPolicy},
		"missing program": {Policy{}, Command{Path: "/usr/bin/no-such-program"}, os.ErrNotExist},
	} {
		f, err := os.Open(os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
		row.c.Files = []*os.File{f}
		_, err = r.Start(context.Background(), row.p, row.c)
		if !errors.Is(err, row.want) {
			t.Errorf("%s: %v, want %v", name, err, row.want)
		}
		if f.Close() == nil {
			t.Errorf("%s: the file stayed open", name)
		}
	}
	c := sh("true")
	c.Dir = "/root/nowhere"
	if _, err := r.Start(context.Background(), Policy{}, c); err == nil || !strings.Contains(err.Error(), "working folder") {
		t.Errorf("hidden working folder: %v", err)
	}
	_, err = New(Options{}).Start(context.Background(), Policy{}, sh("true"))
	if !errors.Is(err, ErrUnsupported) {
		t.Errorf("no helper: %v, want %v", err, ErrUnsupported)
	}
}

func TestInterruptReachesTheGroup(t *testing.T) {
	for level, r := range runners(t) {
		t.Run(level, func(t *testing.T) {
			proc := start(t, r, Policy{}, sh(`trap 'echo stopped; exit 3' INT; echo ready; while :; do sleep 0.05; done`))
			buf := make([]byte, 6)
			if _, err := io.ReadFull(proc.Stdout(), buf); err != nil {
				t.Fatal(err)
			}
			if err := proc.Interrupt(); err != nil {
				t.Fatal(err)
			}
			got := collect(t, proc)
			if got.out != "stopped\n" || got.exit.Code != 3 {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestContextKills(t *testing.T) {
	for level, r := range runners(t) {
		t.Run(level, func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			proc, err := r.Start(ctx, Policy{}, sh("sleep 1000"))
			if err != nil {
				t.Fatal(err)
			}
			cancel()
			if e := proc.Wait(); e.Cause != Killed {
				t.Errorf("%+v", e)
			}
			if _, err := r.Start(ctx, Policy{}, sh("true")); !errors.Is(err, context.Canceled) {
				t.Errorf("start under a context that ended: %v", err)
			}
		})
	}
}

func TestUnlimitedMeansNoLimits(t *testing.T) {
	r := newTestRunner(t)
	requireFull(t, r)
	want, err := exec.Command("/bin/sh", "-c", "ulimit -d -f -m -l -u; ulimit -Hn").Output()
	if err != nil {
		t.Fatal(err)
	}
	script := "ulimit -d -f -m -l -u; ulimit -Hn"
	got := run(t, r, Policy{Limits: Limits{-1, -1, -1, -1, -1, -1, -1, -1}}, sh(script))
	if got.out != string(want) {
		t.Errorf("unlimited: %q, outside %q", got.out, want)
	}
	if got := run(t, r, Policy{}, sh(script)); got.out == string(want) {
		t.Errorf("control: the defaults are as outside: %q", got.out)
	}
}

func TestProgramsSeeTheProcessor(t *testing.T) {
	r := newTestRunner(t)
	requireFull(t, r)
	got := run(t, r, Policy{}, sh("grep -c MemTotal /proc/meminfo; grep -q processor /proc/cpuinfo && readlink /proc/self/exe; nproc; [ ! -e "+cpuTree+" ] || cat "+cpuTree+"/online"))
	if got.exit.Code != 0 || !strings.HasPrefix(got.out, "1\n/usr/bin/readlink\n") {
		t.Errorf("%+v", got)
	}
}

func TestManyStartsLeakNothing(t *testing.T) {
	files := func() int {
		t.Helper()
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	for level, r := range runners(t) {
		run(t, r, Policy{}, sh("true")) // whatever is opened once
		before := files()
		done := make(chan outcome)
		for range 40 {
			go func() {
				proc, err := r.Start(context.Background(), Policy{}, sh("echo hello; exit 3"))
				if err != nil {
					t.Errorf("%s: %v", level, err)
					done <- outcome{}
					return
				}
				done <- collect(t, proc)
			}()
		}
		for range 40 {
			if got := <-done; got.out != "hello\n" || got.exit.Code != 3 {
				t.Errorf("%s: %+v", level, got)
			}
		}
		if after := files(); after > before {
			t.Errorf("%s: %d files open, %d before", level, after, before)
		}
	}
}
