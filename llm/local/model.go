package local

import (
	"context"
	"iter"

	"atoll/llm"
	"atoll/llm/engine"
	"atoll/llm/harness"
)

// A model is an llm.Model that can be loaded and unloaded.
type model struct {
	llm.Model
	c *completer
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
