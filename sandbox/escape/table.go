package escape

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"atoll/sandbox"
)

// attempts holds the tables and what runs them; each says in its head how to
// add to it.
//
//go:embed attempts
var attempts embed.FS

// A line is what a script says of one attempt.
type line struct {
	Group   string `json:"group"`
	Name    string `json:"name"`
	Plain   string `json:"plain"`
	Control string `json:"control"` // "must" succeed outside, "may", "ours" or "never" is made there
	By      string `json:"by"`      // letters of the layers that stop it, see layers
	Full    bool   `json:"full"`    // only the full level promises it
	After   string `json:"after"`   // what to look at when the program has ended, see fixture.left
	Result  string `json:"result"`  // of Attempt, or skipped
	Note    string `json:"note"`
}

// skipped is the result of an attempt that is not made outside.
const skipped = "skipped"

// A table is the attempts of one language.
type table struct {
	language string
	program  string
	args     []string // the script, before the words that it gets
	outside  []line   // of the run without a sandbox: every attempt, in order
	inside   []line   // of the run in it
	end      string   // how that ended
	damage   []string // what it left changed
}

// shell is the program of the shell's table.
const shell = "/bin/sh"

// tables returns what can be run here.
func (t *test) tables() []table {
	var ts []table
	if t.Python != "" {
		ts = append(ts, table{language: "python", program: t.Python, args: []string{"-B", "run.py"}})
	}
	if _, err := os.Stat(shell); err == nil && runtime.GOOS != "windows" {
		ts = append(ts, table{language: "shell", program: shell, args: []string{"run.sh"}})
	}
	return ts
}

// longest is the time that all attempts of a table may take together.
const longest = 45 * time.Second

// words are the script's arguments after the fixture.
func (t *test) words(control bool) []string {
	switch {
	case !control && !t.harmless:
		return nil
	case t.ours:
		return []string{"control", "ours"}
	}
	return []string{"control"}
}

// outside makes the attempts without a sandbox.
func (t *test) outside(ctx context.Context, tb *table) error {
	fx, err := t.newFixture()
	if err != nil {
		return err
	}
	defer fx.close()
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	cmd := exec.CommandContext(ctx, tb.program, append(tb.args, t.words(true)...)...)
	cmd.Dir = fx.ws
	cmd.WaitDelay = 300 * time.Millisecond // what an attempt leaves behind may hold the pipes
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && out.Len() == 0 {
		return fmt.Errorf("make attempts outside: %w: %s", err, strings.TrimSpace(errs.String()))
	}
	if tb.outside, err = parse(out.Bytes()); err != nil {
		return err
	}
	fx.after(tb.outside)
	return nil
}

// inside makes them in the sandbox.
func (t *test) inside(ctx context.Context, tb *table) error {
	fx, err := t.newFixture()
	if err != nil {
		return err
	}
	defer fx.close()
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	out, errs, exit, err := t.run(ctx, fx.policy(t), sandbox.Command{Path: tb.program, Args: append(tb.args, t.words(false)...), Dir: fx.ws}, t.step)
	if err != nil {
		return err
	}
	tb.end = fmt.Sprintf("%+v: %s", exit, strings.TrimSpace(string(errs)))
	if tb.inside, err = parse(out); err != nil {
		return err
	}
	fx.after(tb.inside)
	tb.damage = fx.damage()
	return nil
}

// judge compares the two runs.
func (t *test) judge(tb table) error {
	made := map[string]line{}
	for _, l := range tb.inside {
		made[l.Name] = l
	}
	for _, control := range tb.outside {
		l, ok := made[control.Name]
		if !ok {
			return fmt.Errorf("the attempt %s was not made inside: %s", control.Name, tb.end)
		}
		if l.Result != skipped {
			t.report(l, control)
		}
	}
	a := Attempt{
		Group: "afterwards", Name: "untouched_" + tb.language, Plain: "Changes something outside that no attempt admits.",
		Result: Stopped, Layer: "all layers", Proven: true,
	}
	if len(tb.damage) > 0 {
		a.Result, a.Layer, a.Note = Escaped, "", strings.Join(tb.damage, "; ")
	}
	t.attempts = append(t.attempts, a)
	t.step(1)
	return nil
}

// run runs a command in the sandbox to its end. Made, if not nil, is told how
// many lines it has printed.
func (t *test) run(ctx context.Context, p sandbox.Policy, c sandbox.Command, made func(lines int)) (out, errs []byte, exit sandbox.Exit, err error) {
	proc, err := t.Runner.Start(ctx, p, c)
	if err != nil {
		return nil, nil, exit, err
	}
	proc.Stdin().Close()
	read := make(chan []byte, 1)
	go func() {
		b, _ := io.ReadAll(proc.Stderr())
		read <- b
	}()
	var all bytes.Buffer
	var counted io.Writer = &all
	if made != nil {
		counted = io.MultiWriter(&all, counter(made))
	}
	_, err = io.Copy(counted, proc.Stdout())
	errs = <-read
	exit = proc.Wait()
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return all.Bytes(), errs, exit, err
}

// counter is told the number of lines.
type counter func(lines int)

func (c counter) Write(p []byte) (int, error) {
	c(bytes.Count(p, []byte("\n")))
	return len(p), nil
}

// parse reads what a script printed.
func parse(out []byte) ([]line, error) {
	var lines []line
	for b := range bytes.Lines(out) {
		var l line
		if err := json.Unmarshal(b, &l); err != nil {
			return nil, fmt.Errorf("an attempt said %q: %w", b, err)
		}
		lines = append(lines, l)
	}
	return lines, nil
}
