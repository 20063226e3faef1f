// Package worker is the model worker: the child process that holds llama.cpp,
// one model and its context, and continues prompts for the host.
//
// It is the only package that calls native code. A model file that makes the
// library abort takes this process down and nothing else. It reads
// [wire.Command] frames from its standard input and writes [wire.Event] frames
// to what was its standard output, and ends when its input ends, which is how
// it dies with its host.
package worker

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"atoll/llm"
	"atoll/llm/engine/wire"
)

// Main runs the worker until its standard input ends and returns the exit
// status of the process.
func Main() int {
	out, err := takeStdout()
	if err != nil {
		fmt.Fprintln(os.Stderr, "model worker:", err)
		return 1
	}
	if err := serve(os.Stdin, out); err != nil {
		fmt.Fprintln(os.Stderr, "model worker:", err)
		return 1
	}
	return 0
}

// serve answers the commands of r on w, one at a time. The end of r ends the
// whole process, even in the middle of a computation: nobody is left to
// answer, and native code cannot be asked to return.
func serve(r io.Reader, w io.Writer) error {
	out := wire.NewWriter(w)
	s := &server{out: out}
	commands := make(chan wire.Command, 16)
	go func() {
		for {
			var c wire.Command
			if err := wire.Read(r, &c); err != nil {
				if errors.Is(err, io.EOF) {
					os.Exit(0)
				}
				fmt.Fprintln(os.Stderr, "model worker: read command:", err)
				os.Exit(1)
			}
			if c.Cancel {
				s.cancel(c.ID)
				continue
			}
			commands <- c
		}
	}()
	for c := range commands {
		if err := s.answer(c); err != nil {
			return err
		}
	}
	return nil
}

// A server holds the one model of the process.
type server struct {
	out   *wire.Writer
	model *model

	// The highest command cancelled. Commands come in rising order and a
	// cancelled one may still be waiting, so a number says more than a flag.
	cancelled atomic.Int64
	running   atomic.Int64
	abort     abortFlag
}

// cancel stops the command with the number id, running or still to come. It
// is called from the goroutine that reads commands.
func (s *server) cancel(id int64) {
	s.cancelled.Store(max(id, s.cancelled.Load()))
	if s.running.Load() == id {
		s.abort.set(true)
	}
}

// stopped reports whether the running command was cancelled.
func (s *server) stopped() bool { return s.cancelled.Load() >= s.running.Load() }

// answer handles c and sends its last event. The error is that of the pipe.
func (s *server) answer(c wire.Command) error {
	s.abort.set(false)
	s.running.Store(c.ID)
	if s.stopped() { // also when cancel came between the two lines above
		s.abort.set(true)
	}
	last, err := s.handle(c)
	runaway := errors.Is(err, errRunaway)
	if err != nil {
		last = wire.Event{Fault: faultOf(err)}
		last.Fault.Final = runaway
	}
	last.ID = c.ID
	if werr := s.out.Write(last); werr != nil {
		return werr
	}
	if runaway {
		return err
	}
	return nil
}

func (s *server) handle(c wire.Command) (wire.Event, error) {
	send := func(e wire.Event) error {
		e.ID = c.ID
		return s.out.Write(e)
	}
	switch {
	case c.Load != nil && c.Load.Path == "" && s.model == nil:
		log := &libraryLog{}
		if err := openLibrary(c.Load.LibDir, log); err != nil {
			return wire.Event{}, err
		}
		return wire.Event{Loaded: &wire.Loaded{Device: device(c.Load.GPULayers, log)}}, nil
	case c.Load != nil && s.model == nil:
		m, err := load(*c.Load, s, send)
		if err != nil {
			return wire.Event{}, err
		}
		s.model = m
		return wire.Event{Loaded: m.loaded()}, nil
	case s.model == nil || c.Load != nil:
		return wire.Event{}, fail(wire.KindRequest, "the model worker was asked out of order")
	case c.Count != nil:
		tokens, err := s.model.tokens(*c.Count)
		if err != nil {
			return wire.Event{}, err
		}
		n := len(tokens)
		return wire.Event{Count: &n}, nil
	case c.Complete != nil:
		done, err := s.model.complete(*c.Complete, s.stopped, send)
		if err != nil {
			return wire.Event{}, err
		}
		return wire.Event{Done: &done}, nil
	}
	return wire.Event{}, fail(wire.KindRequest, "the model worker was asked for nothing it knows")
}

// fault is an error that carries its kind to the host.
type fault struct {
	kind wire.Kind
	text string
}

func (f *fault) Error() string { return f.text }

func fail(kind wire.Kind, format string, args ...any) error {
	return &fault{kind, fmt.Sprintf(format, args...)}
}

func faultOf(err error) *wire.Fault {
	var f *fault
	if errors.As(err, &f) {
		return &wire.Fault{Kind: f.kind, Text: f.text}
	}
	return &wire.Fault{Kind: wire.KindRequest, Text: err.Error()}
}

// errCancelled is the answer to a command that the host cancelled.
var errCancelled = fail(wire.KindCancelled, "stopped")

// progress sends how far a phase before the first token has come.
func progress(phase string, done float64) wire.Event {
	return wire.Event{Progress: &llm.Load{Phase: phase, Done: done}}
}
