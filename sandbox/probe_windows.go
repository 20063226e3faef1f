package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/windows"
)

// ability is what this machine was seen to enforce.
type ability struct {
	level  Level
	manner manner
}

// reason says why the level is none.
func (a ability) reason() string {
	for _, g := range a.level.Guarantees {
		if !g.Holds && g.Fix != "" {
			return g.Name + ": " + g.Detail
		}
	}
	return "the self-check has failed"
}

// probe finds out, once for each runner, by really starting a program.
func (r *runner) probe(ctx context.Context) (ability, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known != nil {
		return *r.known, nil
	}
	a := r.try(ctx)
	if err := ctx.Err(); err != nil {
		return a, err
	}
	r.known = &a
	return a, nil
}

// Level is documented at [Runner]. The first call takes a second or so.
func (r *runner) Level(ctx context.Context) Level {
	a, err := r.probe(ctx)
	if err != nil {
		return none("It was not tried: "+err.Error()+".", "Try again.")
	}
	return a.level
}

func none(detail, fix string) Level {
	return Level{Name: LevelNone, Guarantees: []Guarantee{{Name: "sandbox", Detail: detail, Fix: fix}}}
}

// manners are tried in this order; the first in which a program runs is kept.
var manners = []manner{{true, true}, {true, false}, {false, true}, {false, false}}

func (r *runner) try(ctx context.Context) ability {
	if len(r.helper) == 0 {
		return ability{level: none("The program was built without its sandbox helper (Options.Helper is empty).", "Install the program again.")}
	}
	swept := SweepGrants()
	home, err := os.UserHomeDir()
	if err != nil {
		return ability{level: none("The home folder is not known: "+err.Error()+".", "Set USERPROFILE.")}
	}
	bed, err := newCheckBed("", home)
	if err != nil {
		return ability{level: none("The self-check could not be prepared: "+err.Error()+".", "Try again.")}
	}
	defer bed.close()
	var failed []string
	for _, m := range manners {
		trials, err := bed.trials(
			func(todo []selfAttempt) ([]finding, error) { return r.freely(ctx, todo) },
			func(todo []selfAttempt) ([]finding, error) { return r.inside(ctx, bed.policy(), m, todo) },
		)
		if err == nil {
			trials = append(trials,
				r.ended(ctx, m, "memory limit", selfAttempt{"", tryGrow, "256"}, Limits{Memory: 128 << 20}, OutOfMem),
				r.ended(ctx, m, "process limit", selfAttempt{"", trySpawn, "12"}, Limits{Procs: 6}, TooMany))
			l := levelOf(trials, weaknesses(m, swept))
			l.Guarantees = append(l.Guarantees, counted()...)
			return ability{level: l, manner: m}
		}
		if ctx.Err() != nil {
			break
		}
		if why := err.Error(); !slices.Contains(failed, why) {
			failed = append(failed, why)
		}
	}
	return ability{level: none("No program could be run inside: "+strings.Join(failed, "; ")+".", "Use Windows 10 or newer, and start Atoll from no other sandbox.")}
}

// checkTime bounds one run of the self-check.
const checkTime = 15 * time.Second

// freely makes attempts without the boundary. The program is this one.
func (r *runner) freely(ctx context.Context, todo []selfAttempt) ([]finding, error) {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	text, err := json.Marshal(todo)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, r.helper[0], r.helper[1:]...)
	cmd.Stdin = bytes.NewReader(text)
	cmd.SysProcAttr = &windows.SysProcAttr{HideWindow: true, CreationFlags: windows.CREATE_NO_WINDOW}
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	var said []finding
	return said, json.Unmarshal(out, &said)
}

// inside makes attempts inside.
func (r *runner) inside(ctx context.Context, p Policy, m manner, todo []selfAttempt) ([]finding, error) {
	out, exit, err := r.run(ctx, p, m, todo)
	if err != nil {
		return nil, err
	}
	if exit.Cause != Exited || exit.Code != 0 {
		return nil, errors.New(joinSentences(fmt.Sprintf("it ended with %d (%s)", exit.Code, exit.Cause), exit.Detail))
	}
	var said []finding
	return said, json.Unmarshal(out, &said)
}

// run runs the self-check's program inside. What it complained about is added to
// the detail of its end.
func (r *runner) run(ctx context.Context, p Policy, m manner, todo []selfAttempt) ([]byte, Exit, error) {
	p.Limits.Wall = checkTime
	text, err := json.Marshal(todo)
	if err != nil {
		return nil, Exit{}, err
	}
	proc, err := start(ctx, p, Command{Path: r.helper[0], Args: r.helper[1:]}, m)
	if err != nil {
		return nil, Exit{}, err
	}
	complaint := make(chan []byte, 1)
	go func() {
		// Half a complaint is better than none, and a long one says no more.
		const most = 500
		b, _ := io.ReadAll(io.LimitReader(proc.Stderr(), most))
		_, _ = io.Copy(io.Discard, proc.Stderr())
		complaint <- b
	}()
	// When it does not take or give everything, its end says why.
	_, _ = proc.stdin.Write(text)
	proc.stdin.Close()
	out, _ := io.ReadAll(proc.Stdout())
	exit := proc.Wait()
	exit.Detail = joinSentences(exit.Detail, strings.TrimSpace(string(<-complaint)))
	return out, exit, nil
}

// ended is the trial of a limit: a program that goes beyond it is ended for that.
// The cause is the system's word, so that it proves itself.
func (r *runner) ended(ctx context.Context, m manner, name string, a selfAttempt, l Limits, want Cause) trial {
	t := trial{Name: name, Outside: true, Inside: true}
	_, exit, err := r.run(ctx, Policy{Limits: l}, m, []selfAttempt{a})
	switch {
	case err != nil:
		t.Note = "It could not be tried: " + err.Error() + "."
	case exit.Cause == want:
		t.Inside, t.Note = false, "A program that went beyond it was ended."
	default:
		t.Note = joinSentences(fmt.Sprintf("The program was not ended for it (%s, %d).", exit.Cause, exit.Code), exit.Detail)
	}
	return t
}

// weaknesses are what does not hold on any Windows, or not in this manner.
func weaknesses(m manner, swept error) []Guarantee {
	out := []Guarantee{
		{Name: "open files", Detail: "Their number is not limited on Windows."},
		{Name: "record of refusals", Detail: "Windows tells nobody what it refuses; limits are recorded."},
		{Name: "interrupt", Detail: "A program can be ended, not interrupted: stopping a run loses its variables."},
		{Name: "graphics cards", Detail: "Windows lets programs in containers use graphics cards, whatever the policy says."},
		{Name: "other networks", Detail: "Policies with a network are refused."},
		{Name: "effect layers", Detail: "Writes cannot be held back for a look at them."},
	}
	if !m.windowLimits {
		out = append(out, Guarantee{
			Name: "windows and clipboard", Detail: "What started Atoll has put it into a job, in which a further one cannot limit the use of windows and the clipboard.",
			Fix: "Start Atoll from the start menu or the Explorer.",
		})
	}
	if !m.console {
		out = append(out, Guarantee{Name: "console", Detail: "Programs have no console here, so that console programs which they start may fail."})
	}
	if swept != nil {
		out = append(out, Guarantee{
			Name: "nothing left behind", Detail: "What an earlier run was granted could not all be taken back: " + swept.Error() + ".",
			Fix: "Make the folders named writable for yourself, then start Atoll again; what is granted there is granted to no program that exists.",
		})
	}
	return out
}

// counted are the limits that hold.
func counted() []Guarantee {
	return []Guarantee{
		{Name: "kill", Holds: true, Detail: "The system ends every process of a job, also when Atoll itself is ended."},
		{Name: "disk limit", Holds: true, Detail: "Growth of the writable folders and size of the largest file are measured every 200 ms or slower, and free space of up to 1 GiB always remains."},
	}
}

// JailMain is the program of the self-check on Windows: it makes attempts that it
// reads from its standard input, and returns the exit status.
func JailMain() int { return attemptsMain(os.Stdin, os.Stdout, readMemory) }

// readMemory reads the memory of another program.
func readMemory(pid int, at uintptr, n int) ([]byte, error) {
	h, err := windows.OpenProcess(windows.PROCESS_VM_READ, false, uint32(pid))
	if err != nil {
		return nil, err
	}
	defer windows.CloseHandle(h)
	b := make([]byte, n)
	var got uintptr
	if err := windows.ReadProcessMemory(h, at, &b[0], uintptr(n), &got); err != nil {
		return nil, err
	}
	return b[:got], nil
}
