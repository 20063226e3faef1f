package kernel

import (
	"fmt"
	"slices"
	"time"

	"atoll/sandbox"
)

// fill makes the result of a run that the interpreter has survived.
func fill(res *Result, e *event, code string, n int, stopped Status, o Options) {
	res.Value = clip(e.Value, 2*maxRepr)
	res.Tried = denials(e.Tried)
	switch e.Status {
	case "ok":
		res.Status = OK
	case "interrupted":
		res.Status = stopped
		if stopped == OK {
			res.Status = Interrupted // the code raised KeyboardInterrupt itself
		}
	case "exit":
		res.Status = OK
		if e.Fault == nil {
			note(res, "The program called exit(). The session goes on, its variables are kept.")
		} else {
			res.Status = Error
		}
	default:
		res.Status = Error
	}
	if f := e.Fault; f != nil {
		res.Error = f.exception(code, o.memory())
	}
	if stopped == TimedOut && res.Status == TimedOut {
		note(res, fmt.Sprintf("The run was stopped after %v. Variables are kept.", given(o, res.Took)))
	}
}

// given is the time that a run which was stopped had had.
func given(o Options, took time.Duration) time.Duration {
	if o.Overtime == nil {
		return o.Timeout
	}
	return max(took.Round(time.Second), o.Timeout)
}

// tried is what the driver says about one thing that was looked for: kind,
// name, count.
type tried [3]any

const maxTried = 40

// denials takes over what is well-formed.
func denials(list []tried) []sandbox.Denial {
	var out []sandbox.Denial
	for _, t := range list[:min(len(list), maxTried)] {
		kind, _ := t[0].(string)
		what, _ := t[1].(string)
		n, _ := t[2].(float64)
		if (kind == "file" || kind == "network") && what != "" && n >= 1 && n < 1<<50 {
			out = append(out, sandbox.Denial{Kind: kind, What: clip(what, 500), Layer: SaidByProgram, Count: int64(n)})
		}
	}
	return out
}

func note(res *Result, s string) {
	if res.Note != "" {
		res.Note += " "
	}
	res.Note += s
}

// exception bounds the fault and adds what would help. memory is the limit in
// bytes, 0 for none.
func (f *fault) exception(code string, memory int64) *Exception {
	f.Facts.bound()
	f.Facts.Memory = memory
	x := &Exception{
		Name:    clip(f.Name, 200),
		Message: clip(f.Message, 4000),
		Line:    max(f.Line, 0),
		Trace:   clip(f.Trace, 16000),
	}
	if len(f.Bases) > 8 {
		f.Bases = f.Bases[:8]
	}
	if x.Name != "KeyboardInterrupt" {
		x.Hint = hint(*x, slices.Clone(f.Bases), code, f.Facts)
	}
	return x
}

// describe says how a process ended, in words.
func describe(e sandbox.Exit) string {
	s := ""
	switch {
	case e.Cause == sandbox.OutOfMem:
		s = "its memory limit was reached"
	case e.Cause == sandbox.OutOfDisk:
		s = "its disk limit was reached"
	case e.Cause == sandbox.TooMany:
		s = "its limit of processes was reached"
	case e.Cause == sandbox.Failed:
		s = "the sandbox could not be built"
	case e.Signal != 0:
		s = "signal " + signalName(e.Signal)
	case e.Cause == sandbox.Killed:
		s = "it was ended from outside"
	default:
		s = fmt.Sprintf("exit code %d", e.Code)
	}
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}

// signalName gives the names that Linux and macOS share, and the number of others.
func signalName(n int) string {
	names := map[int]string{
		1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT, abort", 8: "SIGFPE",
		9: "SIGKILL", 11: "SIGSEGV, invalid memory access", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM",
	}
	if s, ok := names[n]; ok {
		return s
	}
	return fmt.Sprintf("%d", n)
}
