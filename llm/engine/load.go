package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"atoll/llm"
	"atoll/llm/engine/wire"
)

// load starts a worker and loads the model unless one is ready. The caller
// has the turn. When on returns false loading stops and the error is nil.
func (e *Engine) load(ctx context.Context, on func(*llm.Load) bool) error {
	if e.session != nil && !e.session.over() {
		return nil
	}
	e.drop()
	if e.o.Launch == nil {
		return fmt.Errorf("%w: no launcher was given", llm.ErrEngine)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := e.present(); err != nil {
		return err
	}
	s, err := start(e.o)
	if err != nil {
		return fmt.Errorf("%w: start the model process: %w", llm.ErrEngine, err)
	}
	e.adopt(s)
	left := false
	var loaded *wire.Loaded
	err = e.run(ctx, wire.Command{Load: &wire.Load{
		Path: e.o.Path, LibDir: e.o.LibDir, Context: e.o.Context,
		Threads: threads(e.o.Threads), GPULayers: e.o.GPULayers, Memory: e.o.Memory(),
	}}, func(ev wire.Event) bool {
		switch {
		case ev.Progress != nil:
			left = !on(ev.Progress)
		case ev.Loaded != nil:
			loaded = ev.Loaded
		}
		return !left
	})
	if err != nil || loaded == nil {
		e.drop() // a worker without a model is of no use
		if errors.Is(err, llm.ErrCrashed) {
			err = fmt.Errorf("load %s: %w", filepath.Base(e.o.Path), err)
		}
		return err
	}
	e.mu.Lock()
	e.info.Context, e.info.ContextTrain, e.info.Device = loaded.Context, loaded.ContextTrain, loaded.Device
	e.info.ChatTemplate, e.info.Parameters = loaded.ChatTemplate, loaded.Parameters
	e.mu.Unlock()
	on(&llm.Load{Phase: "load", Done: 1})
	return nil
}

// present checks that the files are there. The worker would say so too, but a
// sandbox that is to open them for it may refuse to start, in other words.
func (e *Engine) present() error {
	if _, err := os.Stat(e.o.Path); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: there is no file %s any more: it was moved or deleted, or its disk is not connected", llm.ErrBadModel, e.o.Path)
	}
	if _, err := os.Stat(e.o.LibDir); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: the inference engine is missing: there is no folder %s; install Atoll's engine files again", llm.ErrEngine, e.o.LibDir)
	}
	return nil
}

// adopt makes s the session, and visible to Close. The caller has the turn.
func (e *Engine) adopt(s *session) {
	e.session = s
	e.mu.Lock()
	e.live = s
	e.mu.Unlock()
	select {
	case <-e.closed: // Close may have looked too early
		s.kill()
	default:
	}
}

// drop ends the session, if there is one. The caller has the turn.
func (e *Engine) drop() {
	if e.session == nil {
		return
	}
	e.session.close()
	e.session = nil
	e.mu.Lock()
	e.live = nil
	e.mu.Unlock()
}

// Probe starts a worker, lets it open the libraries of o, and returns what
// would compute, for example "CPU (haswell)". Errors are those of Load.
func Probe(ctx context.Context, o Options) (device string, err error) {
	if o.Launch == nil {
		return "", fmt.Errorf("%w: no launcher was given", llm.ErrEngine)
	}
	o.Path = ""
	s, err := start(o)
	if err != nil {
		return "", fmt.Errorf("%w: start the model process: %w", llm.ErrEngine, err)
	}
	defer s.close()
	err = s.run(ctx, wire.Command{ID: 1, Load: &wire.Load{LibDir: o.LibDir, Threads: 1, GPULayers: o.GPULayers}}, func(ev wire.Event) bool {
		if ev.Loaded != nil {
			device = ev.Loaded.Device
		}
		return true
	})
	return device, err
}
