package local

import (
	"context"
	"iter"

	"atoll/llm"
	"atoll/llm/engine"
	"atoll/llm/harness"
)

// A model is an llm.Model that can be loaded and unloaded. It is loaded before
// a request is written, for the model's file says in which dialect.
type model struct{ c *completer }

func (m *model) spoken() llm.Model { return harness.Model(m.c, m.c.p.o.Pick(m.c.Info())) }

// Info implements [llm.Model]. The dialect of a model that was never loaded is
// the one that suits an unknown model.
func (m *model) Info() llm.Info { return m.spoken().Info() }

func (m *model) Generate(ctx context.Context, req *llm.Request) llm.Stream {
	return func(yield func(llm.Delta, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		left := false
		err := m.Load(ctx, func(done float64) {
			if !left && !yield(llm.Delta{Load: &llm.Load{Phase: "load", Done: done}}, nil) {
				left = true
				cancel()
			}
		})
		switch {
		case left:
		case err != nil:
			yield(llm.Delta{}, err)
		default:
			m.spoken().Generate(ctx, req)(yield)
		}
	}
}

func (m *model) Count(ctx context.Context, req *llm.Request) (int, error) {
	if err := m.Load(ctx, nil); err != nil {
		return 0, err
	}
	return m.spoken().Count(ctx, req)
}

func (m *model) Load(ctx context.Context, progress func(done float64)) error {
	release, err := m.c.p.use(ctx, m.c.e)
	if err != nil {
		return err
	}
	defer release()
	return m.c.e.Load(ctx, progress)
}

func (m *model) Unload() error { return m.c.e.Unload() }

// A completer is an engine that takes turns with the provider's others.
type completer struct {
	p    *Provider
	e    *engine.Engine
	file llm.Info // as known before loading
}

func (c *completer) Info() llm.Info {
	i := c.e.Info()
	i.Ref, i.Name = c.file.Ref, c.file.Name
	if i.ContextTrain == 0 {
		i.ContextTrain = c.file.ContextTrain
	}
	return i
}

func (c *completer) Complete(ctx context.Context, prompt harness.Prompt) iter.Seq2[harness.Piece, error] {
	return func(yield func(harness.Piece, error) bool) {
		release, err := c.p.use(ctx, c.e)
		if err != nil {
			yield(harness.Piece{}, err)
			return
		}
		defer release()
		c.e.Complete(ctx, prompt)(yield)
	}
}

func (c *completer) Count(ctx context.Context, prompt harness.Prompt) (int, error) {
	release, err := c.p.use(ctx, c.e)
	if err != nil {
		return 0, err
	}
	defer release()
	return c.e.Count(ctx, prompt)
}
