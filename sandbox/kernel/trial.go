package kernel

import (
	"context"
	"errors"
	"fmt"

	"atoll/sandbox"
)

// ErrUnseen means that what a trial wrote could not be looked at: there is too
// much of it, or the disk is full. Nothing of it was kept.
var ErrUnseen = errors.New("what the code wrote could not be looked at")

// A Trial is a run whose writes wait to be kept. Until Keep or Drop is called
// the session takes no other run.
type Trial struct {
	// Changes is what Keep would do to the writable trees.
	Changes []sandbox.Change

	s     *Python
	layer sandbox.Layerer
	done  bool
}

// Try runs code as Run does, with everything that it writes held back. The
// trial is not nil unless there is an error or the run did not begin. Variables
// are the session's own: they stay whatever becomes of the files, unless the
// interpreter went down.
//
// Errors: those of Run; and, when nothing was run because writes cannot be held
// back, one that wraps [sandbox.ErrUnsupported], or [sandbox.ErrHeld] while the
// code has a file open for writing.
func (s *Python) Try(ctx context.Context, code string, out func(Output)) (Result, *Trial, error) {
	if err := s.take(ctx); err != nil {
		r, err := notStarted(ctx, err)
		return r, nil, err
	}
	give := true
	defer func() {
		if give {
			s.give()
		}
	}()
	if err := s.ensure(ctx); err != nil {
		r, err := notStarted(ctx, err)
		return r, nil, err
	}
	layer, ok := s.p.proc.(sandbox.Layerer)
	if !ok {
		return Result{}, nil, fmt.Errorf("hold back writes: %w", sandbox.ErrUnsupported)
	}
	if err := layer.Begin(); err != nil {
		if !errors.Is(err, sandbox.ErrHeld) && !errors.Is(err, sandbox.ErrUnsupported) {
			err = s.off(func() error { return err }) // it may have a layer on, or folders that are gone
		}
		return Result{}, nil, fmt.Errorf("hold back writes: %w", err)
	}
	s.enter = true
	res, err := s.run(ctx, code, out, s.p.proc)
	s.enter = true
	if err != nil {
		return res, nil, errors.Join(err, s.off(layer.Discard))
	}
	if s.p != nil {
		s.sweep() // what still runs could go on writing while a person looks
	}
	t := &Trial{s: s, layer: layer}
	if t.Changes, err = layer.Changes(); err != nil {
		return res, nil, errors.Join(fmt.Errorf("%w: %w", ErrUnseen, err), s.off(layer.Discard))
	}
	give = false
	return res, t, nil
}

// CanTry reports whether Try works; it starts the interpreter if none is
// running. Errors: those of Start.
func (s *Python) CanTry(ctx context.Context) (bool, error) {
	if s.o.Layers == "" {
		return false, nil
	}
	if err := s.take(ctx); err != nil {
		return false, err
	}
	defer s.give()
	if err := s.ensure(ctx); err != nil {
		return false, err
	}
	_, ok := s.p.proc.(sandbox.Layerer)
	return ok, nil
}

// Keep carries out what the run wrote, also what the machine would run later:
// whoever keeps it has seen that in Changes. The error is a
// [sandbox.CommitError] when some files could not be written; it says where
// their new content is kept.
func (t *Trial) Keep() error {
	return t.end(func() error {
		if p, ok := t.layer.(sandbox.Permitter); ok {
			for _, c := range t.Changes {
				if c.Runs != "" {
					p.Permit(c.Path)
				}
			}
		}
		return t.layer.Commit()
	})
}

// Drop leaves all files as they were before the run.
func (t *Trial) Drop() error { return t.end(t.layer.Discard) }

func (t *Trial) end(f func() error) error {
	if t.done {
		return nil
	}
	t.done = true
	defer t.s.give()
	return t.s.off(f)
}

// off takes a layer off. Where that cannot be done the interpreter is ended, with
// which the layer goes: nothing else could be tried in it.
func (s *Python) off(f func() error) error {
	err := f()
	var partly *sandbox.CommitError
	if err != nil && !errors.As(err, &partly) && s.p != nil {
		s.p.kill()
		s.p, s.lost = nil, "Python was ended because its changes could not be taken back from it"
	}
	return err
}
