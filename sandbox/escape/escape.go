// Package escape tries to get out of the sandbox of this very machine: hostile
// attempts, in Python and shell, at decoys that it makes for them.
//
// Each attempt is first made without a sandbox, where that does no harm, to show
// that it is real; then inside, where it must not succeed. Nothing of the person
// who runs it is read or changed, and nothing is left behind.
package escape

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"atoll/sandbox"
)

// Options says what is tested and with what.
type Options struct {
	// Runner is the sandbox. Its level must not be none.
	Runner sandbox.Runner
	// Python is the absolute path of a Python 3.8 or newer. Empty: only the
	// attempts of the shell and the floods of the shell are made.
	Python string
	// Read are absolute paths that this Python needs beside the system's own
	// folders, such as its prefix.
	Read []string
	// Dir is an existing folder in which the decoys are made for the time of the
	// test. Empty: the person's cache folder, because it lies in the home folder,
	// or else the one for temporary files.
	Dir string
	// Progress, if set, is called as attempts are made inside, by one goroutine at
	// a time. The run outside, some seconds, comes first and does not count.
	Progress func(done, total int)

	// ours says that this is a test machine: attempts that touch the machine
	// itself, and not only decoys, are made outside too.
	ours bool
	// harmless leaves out inside what is never done outside, for a runner that
	// bounds nothing.
	harmless bool
	// quick leaves out the slow floods.
	quick bool
}

// A Report is the outcome of all attempts.
type Report struct {
	Level    string    `json:"level"`   // of the sandbox: "full" or "reduced"
	Seconds  float64   `json:"seconds"` // that it took
	Attempts []Attempt `json:"attempts"`
	Escaped  int       `json:"escaped"` // attempts that succeeded; anything but 0 is a hole
	Stopped  int       `json:"stopped"`
	Absent   int       `json:"absent"`
	// Unproven counts attempts that should work without a sandbox and did not,
	// so that stopping them shows nothing.
	Unproven int `json:"unproven"`
}

// Results of an [Attempt].
const (
	Stopped = "stopped" // the sandbox, or this system without it, did not let it happen
	Escaped = "escaped" // it reached what it should not
	Absent  = "absent"  // this machine has no such thing, or this level promises nothing about it
)

// An Attempt is one way out that was tried.
type Attempt struct {
	Group  string `json:"group"`                                // the subject: "files", "network", ...
	Name   string `json:"name"`                                 // unique, as in the table
	Plain  string `json:"plain"`                                // what it tries, one sentence for anybody
	Result string `json:"result" enum:"stopped,escaped,absent"` // Stopped, Escaped or Absent
	Layer  string `json:"layer"`                                // what stopped it, and what else would have; empty otherwise
	Note   string `json:"note"`                                 // what was seen: an error's name, or what was reached
	// Proven says that the same attempt succeeded without the sandbox just before.
	Proven bool `json:"proven"`
}

// running keeps tests apart: they share the environment of this process.
var running sync.Mutex

// Run makes all attempts, which takes some ten seconds. It returns an error that
// wraps [sandbox.ErrUnsupported] when this machine has no sandbox, and an error
// when the attempts could not be made; never because one succeeded. Two Runs of
// one process wait for each other. While it runs, the environment of this
// process holds a decoy of a token.
func Run(ctx context.Context, o Options) (Report, error) {
	running.Lock()
	defer running.Unlock()
	began := time.Now()
	level := o.Runner.Level(ctx)
	if level.Name == sandbox.LevelNone {
		return Report{}, fmt.Errorf("test sandbox: %w", sandbox.ErrUnsupported)
	}
	t := &test{Options: o, level: level.Name}
	if err := t.all(ctx); err != nil {
		return Report{}, fmt.Errorf("test sandbox: %w", err)
	}
	r := Report{Level: level.Name, Attempts: t.attempts, Unproven: t.unproven}
	for _, a := range r.Attempts {
		switch a.Result {
		case Escaped:
			r.Escaped++
		case Absent:
			r.Absent++
		default:
			r.Stopped++
		}
	}
	r.Seconds = time.Since(began).Seconds()
	return r, nil
}

// test is one Run.
type test struct {
	Options
	level    string
	attempts []Attempt
	unproven int
	total    int // of attempts

	mu   sync.Mutex // guards done
	done int
}

func (t *test) all(ctx context.Context) error {
	if err := os.Setenv(token, secret); err != nil {
		return err
	}
	defer os.Unsetenv(token)
	tables := t.tables()
	if err := each(tables, func(tb *table) error { return t.outside(ctx, tb) }); err != nil {
		return err
	}
	floods := t.floods()
	t.total = len(floods) + len(tables)
	for _, tb := range tables {
		t.total += len(tb.outside)
	}
	if err := each(tables, func(tb *table) error { return t.inside(ctx, tb) }); err != nil {
		return err
	}
	for _, tb := range tables {
		if err := t.judge(tb); err != nil {
			return err
		}
	}
	for _, f := range floods {
		if err := t.flood(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// each does the tables at the same time: attempts wait more than they compute.
func each(tables []table, do func(*table) error) error {
	errs := make([]error, len(tables))
	var all sync.WaitGroup
	for i := range tables {
		all.Go(func() { errs[i] = do(&tables[i]) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// step tells how many attempts were made.
func (t *test) step(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.done += n
	if t.Progress != nil && n > 0 {
		t.Progress(t.done, t.total)
	}
}

// notProven is said of an attempt that should have succeeded outside.
const notProven = "; not proven: outside too it ended with "

// report turns what the attempt said into what is reported.
func (t *test) report(a, control line) {
	out := Attempt{Group: a.Group, Name: a.Name, Plain: a.Plain, Result: a.Result, Note: a.Note, Proven: control.Result == Escaped}
	if a.Full && t.level == sandbox.LevelReduced && a.Result == Escaped {
		out.Result, out.Note = Absent, "The reduced level does not promise this: "+a.Note
	}
	if out.Result == Stopped && control.Result == Stopped && missing[errorName(control.Note)] {
		out.Result, out.Note = Absent, "This machine has no such thing: "+control.Note
	}
	if out.Result == Stopped {
		out.Layer = layer(a, t.level)
	}
	if a.Control == "must" && !out.Proven && out.Result != Absent {
		t.unproven++
		out.Note += notProven + control.Note
	}
	t.attempts = append(t.attempts, out)
}
