//go:build linux || darwin

package sandbox

import (
	"bufio"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// A checker carries out the trials of a self-check with programs of the system.
type checker struct {
	// start starts a command inside the boundary.
	start func(context.Context, Policy, Command) (Process, error)
	home  string // a folder that is not empty, which must not be listed
	// connects are commands of a shell that connect to port $PORT of 127.0.0.1,
	// or to the socket file $SOCKET.
	connects []string

	base     string
	secret   string
	accepted atomic.Int64 // connections to the listeners
	env      []string
}

// An attempt is what a shell is told to do. It succeeds with status 0.
type attempt struct {
	trial  string
	want   bool
	script string
	// effect tells, by what is left, whether it was done; nil: its status says so.
	effect func(out string) bool
	// undo takes the effect back before the next.
	undo func()
}

// Bounds of a self-check.
const (
	trialTime = 20 * time.Second // of one program
	trialEnd  = 3 * time.Second  // until the last process of an ended tree is gone
	trialText = 64 << 10         // bytes of output that are looked at
)

// begun is what every program says first: what says nothing has not run, so that
// nothing was refused to it.
const begun = "begun\n"

// trials returns what was tried, as far as it got, and why it got no further.
func (c *checker) trials(ctx context.Context) ([]trial, error) {
	dir, err := os.MkdirTemp("", "atoll-check-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if c.base, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	policy, attempts, stop, err := c.prepare()
	if err != nil {
		return nil, err
	}
	defer stop()
	var out []trial
	at := map[string]int{}
	for _, a := range attempts {
		free, err := c.try(ctx, a, c.free)
		if err != nil {
			return out, fmt.Errorf("%s, without the boundary: %w", a.trial, err)
		}
		bound, err := c.try(ctx, a, func(ctx context.Context, script string) (shellRun, error) {
			return c.bound(ctx, policy, script)
		})
		if err != nil {
			return out, fmt.Errorf("%s: %w", a.trial, err)
		}
		i, ok := at[a.trial]
		if !ok {
			i, at[a.trial] = len(out), len(out)
			out = append(out, trial{Name: a.trial, Want: a.want, Outside: true, Inside: a.want})
		}
		t := &out[i]
		t.Outside = t.Outside && free.succeeded(a)
		// What must be possible must be so in every way, what must not, in none.
		// Against the boundary counts what the program claims, too.
		inside := bound.succeeded(a)
		if !a.want {
			inside = bound.seen || bound.code == 0
		}
		if inside != a.want {
			t.Inside, t.Note = inside, fmt.Sprintf("%s: status %d, %q.", a.script, bound.code, firstLine(bound.errs))
		}
	}
	ends, err := c.ends(ctx, policy)
	return append(out, ends...), err
}

// prepare makes what the attempts are about.
func (c *checker) prepare() (Policy, []attempt, func(), error) {
	var p Policy
	in, work, out := filepath.Join(c.base, "in"), filepath.Join(c.base, "work"), filepath.Join(c.base, "out")
	git := filepath.Join(work, "project", ".git")
	away, hook := git+".away", filepath.Join(git, "hooks", "pre-commit")
	for _, d := range []string{in, filepath.Dir(hook), out} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return p, nil, nil, err
		}
	}
	c.secret = rand.Text()
	readable, decoy := filepath.Join(in, "file"), filepath.Join(out, "decoy")
	for _, f := range []string{readable, decoy} {
		if err := os.WriteFile(f, []byte(c.secret), 0o600); err != nil {
			return p, nil, nil, err
		}
	}
	socket := filepath.Join(work, "s")
	port, closeServers, err := c.serve(socket)
	if err != nil {
		return p, nil, nil, err
	}
	decoyProgram := victim{file: filepath.Join(in, "pid")}
	stop := func() {
		closeServers()
		decoyProgram.end()
	}
	written, outside := filepath.Join(work, "written"), filepath.Join(out, "written")
	c.env = []string{
		"PATH=/usr/bin:/bin", "READABLE=" + readable, "DECOY=" + decoy, "WRITTEN=" + written, "OUTSIDE=" + outside, "FOLDER=" + c.home,
		fmt.Sprintf("PORT=%d", port), "SOCKET=" + socket, "PID_FILE=" + decoyProgram.file, "GIT=" + git, "HOOK=" + hook,
	}
	p = Policy{Read: []string{in}, Write: []string{work}, Env: c.env}
	reads := func(text string) bool { return strings.Contains(text, c.secret) }
	wrote := func(path string) (func(string) bool, func()) {
		return func(string) bool {
			text, err := os.ReadFile(path)
			return err == nil && strings.TrimSpace(string(text)) == "written"
		}, func() { os.Remove(path) }
	}
	attempts := []attempt{
		{trial: "runs programs", want: true, script: "true"},
		{trial: "reads what it may", want: true, script: `cat "$READABLE"`, effect: reads},
		{trial: "writes where it may", want: true, script: `echo written >"$WRITTEN"`},
		{trial: "hides files", script: `cat "$DECOY"`, effect: reads},
		{trial: "hides files", script: `ls "$FOLDER"`},
		{trial: "protects files", script: `echo written >"$OUTSIDE"`},
		{trial: "protects files", script: `echo written >>"$READABLE"`, effect: func(string) bool {
			text, err := os.ReadFile(readable)
			return err != nil || string(text) != c.secret
		}, undo: func() { _ = os.WriteFile(readable, []byte(c.secret), 0o600) }},
	}
	attempts = append(attempts, attempt{trial: "spares other programs", script: `kill "$(cat "$PID_FILE")"`, effect: decoyProgram.ended, undo: decoyProgram.anew})
	write, unwrite := wrote(hook)
	attempts = append(attempts, attempt{trial: "read-only parts", script: `echo written >"$HOOK"`, effect: write, undo: unwrite},
		attempt{trial: "read-only parts", script: `mv "$GIT" "$GIT.away"`, effect: func(string) bool {
			_, err := os.Stat(away)
			return err == nil
		}, undo: func() { _ = os.Rename(away, git) }})
	attempts[2].effect, attempts[2].undo = wrote(written)
	attempts[5].effect, attempts[5].undo = wrote(outside)
	for _, script := range c.connects {
		attempts = append(attempts, attempt{trial: "no network", script: script, effect: c.connected, undo: func() { c.accepted.Store(0) }})
	}
	return p, attempts, stop, nil
}

// ends tries whether a tree is counted, and whether all of it ends. A process
// that is left would hold the other end of the pipe.
func (c *checker) ends(ctx context.Context, p Policy) ([]trial, error) {
	proc, err := c.start(ctx, p, Command{Path: "/bin/sh", Args: []string{"-c", "sleep 300 & echo begun; sleep 300"}})
	if err != nil {
		return nil, err
	}
	defer proc.Wait()
	defer func() { _ = proc.Kill() }()
	late := time.AfterFunc(trialTime, func() { _ = proc.Kill() })
	defer late.Stop()
	out := bufio.NewReader(proc.Stdout())
	if line, err := out.ReadString('\n'); line != begun {
		return nil, fmt.Errorf("ends programs: the program did not begin: %w", err)
	}
	counts := trial{Name: "counts what is used", Want: true, Outside: true}
	if recorder, ok := proc.(Recorder); ok {
		r, err := recorder.Record()
		counts.Inside = err == nil && r.Usage.Procs >= 2 && r.Usage.Memory > 0
		counts.Note = fmt.Sprintf("Seen of two or three processes: %d, with %d bytes.", r.Usage.Procs, r.Usage.Memory)
	}
	ended := make(chan bool, 1)
	go func() {
		_, err := io.Copy(io.Discard, out)
		ended <- err == nil
	}()
	end := trial{Name: "ends programs", Outside: true}
	select {
	case <-ended:
		end.Outside, end.Note = false, "It ended by itself."
		return []trial{counts, end}, nil
	case <-time.After(100 * time.Millisecond):
	}
	if err := proc.Kill(); err != nil {
		end.Note = err.Error() + "."
	}
	select {
	case <-ended:
	case <-time.After(trialEnd):
		end.Inside, end.Note = true, "A process was still there after the end."
	}
	if e := proc.Wait(); e.Signal != int(syscall.SIGKILL) {
		end.Inside, end.Note = true, fmt.Sprintf("It was said to have ended with status %d.", e.Code)
	}
	return []trial{counts, end}, nil
}
