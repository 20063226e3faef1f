package sandbox

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// mark returns the argument of a sleep that no other program has.
func mark(t *testing.T) string {
	t.Helper()
	return "1000." + strconv.FormatInt(time.Now().UnixNano(), 10)
}

// running counts the machine's processes with mark in their command line.
func running(t *testing.T, mark string) int {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && strings.Contains(string(b), mark) {
			n++
		}
	}
	return n
}

// await fails the test when a state is not reached long after it should be.
func await(t *testing.T, what string, reached func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !reached(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// awaitLine reads until the program said something.
func awaitLine(t *testing.T, proc Process) {
	t.Helper()
	if _, err := proc.Stdout().Read(make([]byte, 64)); err != nil {
		t.Fatal(err)
	}
}

func TestNothingSurvives(t *testing.T) {
	for level, r := range runners(t) {
		for name, script := range map[string]string{
			"ordinary":         "sleep MARK & echo; sleep MARK",
			"SIGTERM ignored":  "trap '' TERM INT HUP QUIT; sleep MARK & echo; while :; do sleep MARK; done",
			"stopped":          "sleep MARK & echo; kill -STOP $$; sleep MARK",
			"own session":      "setsid sleep MARK & echo; sleep MARK",
			"orphaned session": "(setsid sh -c 'setsid sleep MARK & sleep MARK' &) ; echo; sleep MARK",
			"flood":            "sleep MARK & yes MARK",
			"kill everything":  "trap '' TERM; sleep MARK & echo; kill -TERM 1 2>/dev/null; kill -INT 1 2>/dev/null; sleep MARK",
		} {
			m := mark(t)
			proc := start(t, r, Policy{}, sh(strings.ReplaceAll(script, "MARK", m)))
			awaitLine(t, proc)
			if running(t, m) == 0 {
				t.Errorf("%s, %s: control: nothing was running", level, name)
			}
			if err := proc.Kill(); err != nil {
				t.Errorf("%s, %s: Kill: %v", level, name, err)
			}
			if e := proc.Wait(); e.Cause != Killed {
				t.Errorf("%s, %s: %+v", level, name, e)
			}
			if n := running(t, m); n != 0 {
				t.Errorf("%s, %s: %d processes survived", level, name, n)
			}
		}
	}
}

func TestEndTakesTheTreeAlong(t *testing.T) {
	for level, r := range runners(t) {
		for name, script := range map[string]string{
			"holds the pipes":  "sleep MARK & echo done",
			"own session":      "setsid sleep MARK & sleep 0.2; echo done",
			"orphaned session": "(setsid sh -c 'setsid sleep MARK' &); sleep 0.2; echo done",
		} {
			m := mark(t)
			got := run(t, r, Policy{}, sh(strings.ReplaceAll(script, "MARK", m)))
			if got.out != "done\n" || got.exit.Cause != Exited || got.exit.Code != 0 {
				t.Errorf("%s, %s: %+v", level, name, got)
			}
			if n := running(t, m); n != 0 {
				t.Errorf("%s, %s: %d processes survived", level, name, n)
			}
		}
	}
}

func TestKillMinusOneStaysInside(t *testing.T) {
	r := newTestRunner(t)
	requireFull(t, r)
	m := mark(t)
	other := exec.Command("/bin/sleep", m)
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		other.Process.Kill()
		other.Wait()
	}()
	// The program, in its own namespace, cannot mean anybody else. Signal 0
	// first: should the namespace be missing, nothing is killed.
	got := run(t, r, Policy{}, sh("[ $(ls -d /proc/[0-9]* | wc -l) -lt 10 ] || exit 9; sleep 1000 & kill -KILL -1; echo after"))
	if got.exit.Code != 0 && got.exit.Signal != 9 {
		t.Errorf("%+v", got)
	}
	if running(t, m) != 1 {
		t.Error("a program outside was killed")
	}
}

func TestDeadlineKills(t *testing.T) {
	for level, r := range runners(t) {
		ctx, cancel := context.WithTimeout(context.Background(), 1500*time.Millisecond)
		proc, err := r.Start(ctx, Policy{}, sh("while :; do :; done"))
		if err != nil {
			t.Fatal(err)
		}
		if e := proc.Wait(); e.Cause != Killed || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			t.Errorf("%s: %+v", level, e)
		}
		cancel()
	}
}

// TestHelperKilled is what happens when the system ends the helper for want of
// memory.
func TestHelperKilled(t *testing.T) {
	r := newTestRunner(t)
	requireFull(t, r)
	m := mark(t)
	proc := start(t, r, Policy{}, sh("echo; sleep "+m))
	awaitLine(t, proc)
	if err := proc.(*process).cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if e := proc.Wait(); e.Cause != Failed || e.Detail == "" {
		t.Errorf("%+v", e)
	}
	if n := running(t, m); n != 0 {
		t.Errorf("%d processes survived", n)
	}
}

// hostArg makes the test binary a host that starts a sandbox and waits.
const hostArg = "sandbox-host"

// hostMain starts a program named by the second argument under the level named
// by the third, says so and waits to be killed.
func hostMain() int {
	exe, err := os.Executable()
	if err != nil {
		return 1
	}
	r := newRunner(Options{Helper: []string{exe, helperArg}}).(*runner)
	if os.Args[3] == LevelReduced {
		r.known = &ability{level: LevelReduced}
	}
	proc, err := r.Start(context.Background(), Policy{}, sh("setsid sleep "+os.Args[2]+" & echo; exec sleep "+os.Args[2]))
	if err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		return 1
	}
	io.CopyN(os.Stdout, proc.Stdout(), 1)
	proc.Wait()
	return 0
}

func TestHostKilled(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for level := range runners(t) {
		m := mark(t)
		host := exec.Command(exe, hostArg, m, level)
		host.Stderr = os.Stderr
		out, err := host.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := host.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(out, make([]byte, 1)); err != nil {
			t.Fatalf("%s: host: %v", level, err)
		}
		// The control: the host itself and two programs.
		await(t, level+": both programs run", func() bool { return running(t, m) >= 3 })
		host.Process.Kill()
		host.Wait()
		await(t, level+": nothing outlives the host", func() bool { return running(t, m) == 0 })
	}
}
