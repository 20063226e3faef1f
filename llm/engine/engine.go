// Package engine is the model worker seen from the host: it starts the worker,
// loads a model into it, continues prompts, and starts another when one
// crashed. Native code runs only in the worker.
package engine

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"atoll/llm"
	"atoll/llm/engine/wire"
	"atoll/llm/harness"
)

// ErrClosed is returned by every method after Close.
var ErrClosed = errors.New("model engine is closed")

// Options says which model an Engine runs, and how.
type Options struct {
	Ref    llm.Ref // what Info reports
	Name   string  // for people; "" takes the file's name
	Path   string  // the GGUF file
	LibDir string  // folder of the inference libraries

	Context   int // tokens; 0 chooses the most that is useful and fits in memory
	Threads   int // 0: one per physical core
	GPULayers int // layers to compute on a graphics device, -1 for all, 0 for none

	Launch Launcher // starts the worker; required

	// Memory returns how many bytes are free for the model, 0 for unknown. Nil
	// asks the operating system.
	Memory func() int64
}

// An Engine runs one model in a worker process. It loads on first use. One
// command runs at a time, others wait for their turn; all methods are safe
// for concurrent use.
type Engine struct {
	o    Options
	turn chan struct{} // holds one token: whoever has it may use session

	session *session // guarded by turn; nil: not loaded
	lastID  int64    // guarded by turn: rises over all sessions

	mu     sync.Mutex // guards the fields that follow; held only briefly
	info   llm.Info
	live   *session // the session as Close sees it
	closed chan struct{}
	once   sync.Once
}

var (
	_ harness.Completer = (*Engine)(nil)
	_ llm.Loader        = (*Engine)(nil)
)

// New returns an engine for o. Nothing is started or read but the file's size.
func New(o Options) *Engine {
	if o.Name == "" {
		o.Name = strings.TrimSuffix(filepath.Base(o.Path), ".gguf")
	}
	if o.Memory == nil {
		o.Memory = freeMemory
	}
	e := &Engine{o: o, turn: make(chan struct{}, 1), closed: make(chan struct{})}
	e.info = llm.Info{Ref: o.Ref, Name: o.Name, Local: true}
	if st, err := os.Stat(o.Path); err == nil {
		e.info.Size = st.Size()
	}
	e.turn <- struct{}{}
	return e
}

// Info describes the model. Context, ContextTrain, Device, ChatTemplate and
// Parameters are zero until it was loaded once, and then stay as they were at
// the last load.
func (e *Engine) Info() llm.Info {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.info
}

// Loaded reports whether the model is in memory now.
func (e *Engine) Loaded() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.live != nil && !e.live.over()
}

// Load makes the model ready, if it is not. Progress, which may be nil, gets
// fractions from 0 to 1 in the calling goroutine. Errors are llm.ErrEngine,
// llm.ErrBadModel, llm.ErrNoMemory, llm.ErrCrashed, or those of the launcher.
func (e *Engine) Load(ctx context.Context, progress func(done float64)) error {
	if err := e.take(ctx); err != nil {
		return err
	}
	defer e.give()
	return e.load(ctx, func(l *llm.Load) bool {
		if progress != nil {
			progress(l.Done)
		}
		return true
	})
}

// Unload waits for a running command and frees the memory. The next command
// loads again.
func (e *Engine) Unload() error {
	if err := e.take(context.Background()); err != nil {
		if errors.Is(err, ErrClosed) {
			return nil
		}
		return err
	}
	defer e.give()
	e.drop()
	return nil
}

// Close ends the worker at once, also in the middle of a command, and waits
// until it is gone. It may be called many times, but not from within a range
// over Complete, which it waits for.
func (e *Engine) Close() error {
	e.once.Do(func() { close(e.closed) })
	e.mu.Lock()
	live := e.live
	e.mu.Unlock()
	if live != nil {
		live.kill()
	}
	<-e.turn // whoever runs has seen its session end
	defer e.give()
	e.drop()
	return nil
}

// Complete continues p. It loads the model first where needed, and says so in
// pieces. A cancelled context or a range left early stops the worker's
// computation before Complete returns. Beside the errors of Load there are
// llm.ErrContextFull, and ctx.Err() when ctx ended.
func (e *Engine) Complete(ctx context.Context, p harness.Prompt) iter.Seq2[harness.Piece, error] {
	return func(yield func(harness.Piece, error) bool) {
		left := false
		give := func(piece harness.Piece, err error) bool {
			if !left && !yield(piece, err) {
				left = true
			}
			return !left
		}
		err := e.do(ctx, wire.Command{Complete: &p}, func(ev wire.Event) bool {
			switch {
			case ev.Progress != nil:
				return give(harness.Piece{Load: ev.Progress}, nil)
			case ev.Done != nil:
				return give(harness.Piece{Done: ev.Done}, nil)
			case ev.Text != "":
				return give(harness.Piece{Text: ev.Text}, nil)
			}
			return true
		})
		if err != nil {
			give(harness.Piece{}, err)
		}
	}
}

// Count returns how many tokens p takes in the context, loading the model
// where needed.
func (e *Engine) Count(ctx context.Context, p harness.Prompt) (int, error) {
	n := 0
	err := e.do(ctx, wire.Command{Count: &p}, func(ev wire.Event) bool {
		if ev.Count != nil {
			n = *ev.Count
		}
		return true
	})
	return n, err
}

// do runs one command in its turn, loading first where needed. on gets every
// event, those of loading too; when it returns false the command is cancelled
// and the error is nil.
func (e *Engine) do(ctx context.Context, c wire.Command, on func(wire.Event) bool) error {
	if err := e.take(ctx); err != nil {
		return err
	}
	defer e.give()
	left := false
	err := e.load(ctx, func(l *llm.Load) bool {
		left = !on(wire.Event{Progress: l})
		return !left
	})
	if err != nil || left {
		return err
	}
	return e.run(ctx, c, on)
}

// run sends c to the session and passes on its events. The caller has the
// turn. A session that ended is dropped, so that the next command starts anew.
func (e *Engine) run(ctx context.Context, c wire.Command, on func(wire.Event) bool) error {
	e.lastID++
	c.ID = e.lastID
	err := e.session.run(ctx, c, on)
	if e.session.over() {
		e.drop()
		select {
		case <-e.closed:
			return ErrClosed
		default:
		}
	}
	return err
}

// take waits for the turn.
func (e *Engine) take(ctx context.Context) error {
	select {
	case <-e.closed:
		return ErrClosed
	default:
	}
	select {
	case <-e.turn:
	case <-ctx.Done():
		return ctx.Err()
	case <-e.closed:
		return ErrClosed
	}
	select {
	case <-e.closed:
		e.give()
		return ErrClosed
	default:
		return nil
	}
}

func (e *Engine) give() { e.turn <- struct{}{} }
