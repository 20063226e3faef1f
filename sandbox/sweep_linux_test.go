package sandbox

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

// TestSweep: whatever a program has left in the background ends, and the
// program goes on.
func TestSweep(t *testing.T) {
	for level, r := range runners(t) {
		for name, left := range map[string]string{
			"ordinary":       "sleep MARK &",
			"own session":    "setsid sleep MARK &",
			"double fork":    "(setsid sh -c 'trap \"\" TERM INT HUP; setsid sleep MARK & exec sleep MARK' &)",
			"deaf loop":      "(setsid sh -c 'trap \"\" TERM INT HUP; while :; do sleep MARK; done' &)",
			"stopped":        "(setsid sh -c 'kill -STOP $$; sleep MARK' &) ; sleep MARK &",
			"many":           "for i in 1 2 3 4 5 6 7 8 9; do (setsid sleep MARK &); sleep MARK & done",
			"moves by forks": "hop() { [ $1 -eq 0 ] || hop $(($1-1)) & }; hop 20000; sleep MARK &",
			"is a zombie":    "true MARK & sleep MARK &",
		} {
			t.Run(level+" "+name, func(t *testing.T) {
				m := mark(t)
				proc := start(t, r, Policy{}, sh(strings.ReplaceAll(left, "MARK", m)+"\necho up; read x; echo $x; sleep "+m+" & read y; wait"))
				out := bufio.NewScanner(proc.Stdout())
				says := func(want string) {
					t.Helper()
					if !out.Scan() || out.Text() != want {
						t.Fatalf("%q, want %q", out.Text(), want)
					}
				}
				says("up")
				// The control: it runs, and the program itself, whose line has the mark too.
				await(t, "something runs", func() bool { return running(t, m) >= 2 })
				begin := time.Now()
				if err := proc.(Sweeper).Sweep(); err != nil {
					t.Errorf("Sweep: %v", err)
				}
				t.Logf("took %v", time.Since(begin))
				if n := running(t, m); n != 1 {
					t.Errorf("%d processes run, want the program alone", n)
				}
				// The program goes on, and may start others.
				if _, err := io.WriteString(proc.Stdin(), "on\n"); err != nil {
					t.Fatal(err)
				}
				says("on")
				await(t, "the next one runs", func() bool { return running(t, m) == 2 })
				if err := proc.(Sweeper).Sweep(); err != nil || running(t, m) != 1 {
					t.Errorf("second sweep: %v", err)
				}
				proc.Kill()
				proc.Wait()
				if err := proc.(Sweeper).Sweep(); err != nil {
					t.Errorf("Sweep after the end: %v", err)
				}
			})
		}
	}
}

// TestSweepSparesOthers: the pids of reduced mode are the machine's.
func TestSweepSparesOthers(t *testing.T) {
	for level, r := range runners(t) {
		m := mark(t)
		other := start(t, r, Policy{}, sh("sleep "+m+" & echo; wait"))
		awaitLine(t, other)
		await(t, "the other runs", func() bool { return running(t, m) == 2 })
		proc := start(t, r, Policy{}, sh("setsid sleep 1000 & echo; wait"))
		awaitLine(t, proc)
		if err := proc.(Sweeper).Sweep(); err != nil {
			t.Errorf("%s: %v", level, err)
		}
		if n := running(t, m); n != 2 {
			t.Errorf("%s: %d of the other tree's 2 processes are left", level, n)
		}
		if e := proc.Wait(); e.Cause != Exited || e.Code != 0 && e.Code != 137 {
			t.Errorf("%s: %+v", level, e)
		}
		other.Kill()
	}
}

// TestSweepGivesUp: a process that cannot be killed is reported, not awaited
// for ever.
func TestSweepGivesUp(t *testing.T) {
	held := []bool{}
	s := sweeper{
		pids: func() []int { return []int{1, os.Getpid()} }, keep: 1,
		kill: func(pid int) {
			if pid != os.Getpid() {
				panic(fmt.Sprint("kills ", pid))
			}
		},
		hold: func(stop bool) { held = append(held, stop) },
	}
	if err := s.run(); err == nil || !strings.Contains(err.Error(), "1 are left") {
		t.Errorf("run: %v", err)
	}
	if len(held) != 2 || !held[0] || held[1] {
		t.Errorf("the program was held and let go: %v", held)
	}
}
