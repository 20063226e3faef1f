package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"atoll/llm"
)

// Model joins an engine and a dialect.
func Model(c Completer, h Harness) llm.Model { return &model{c, h} }

type model struct {
	c Completer
	h Harness
}

func (m *model) Info() llm.Info {
	i := m.c.Info()
	i.Harness = m.h.Name()
	return i
}

func (m *model) Count(ctx context.Context, req *llm.Request) (int, error) {
	p, err := m.h.Render(req)
	if err != nil {
		return 0, err
	}
	return m.c.Count(ctx, p)
}

func (m *model) Generate(ctx context.Context, req *llm.Request) llm.Stream {
	return func(yield func(llm.Delta, error) bool) {
		p, err := m.h.Render(req)
		if err != nil {
			yield(llm.Delta{}, fmt.Errorf("write prompt: %w", err))
			return
		}
		g := generation{c: m.c, parser: m.h.Parser(req), yield: yield}
		done, ok := g.complete(ctx, p)
		if !ok {
			return
		}
		// What a stop string of the request cut is as unfinished as what the
		// token limit cut.
		cut := done.Stop == llm.StopLength || done.StopAt != "" && !slices.Contains(p.Stop, done.StopAt)
		rest, err := g.parser.Close(cut)
		if !g.emit(rest) {
			return
		}
		if err != nil {
			yield(llm.Delta{}, err)
			return
		}
		if g.calls > 0 {
			done.Stop = llm.StopCalls
		}
		yield(llm.Delta{Done: &done}, nil)
	}
}

// generation is one answer on its way from an engine through a parser.
type generation struct {
	c      Completer
	parser Parser
	yield  func(llm.Delta, error) bool
	calls  int // emitted so far
}

// emit passes ds on and reports whether more is wanted.
func (g *generation) emit(ds []llm.Delta) bool {
	for _, d := range ds {
		if d.Call != nil {
			g.calls++
		}
		if !g.yield(d, nil) {
			return false
		}
	}
	return true
}

// heldBack passes on what the parser kept to itself when the output broke off:
// it was said. No call is made of it.
func (g *generation) heldBack() bool {
	ds, _ := g.parser.Close(true) // that it is unfinished is no news
	return g.emit(slices.DeleteFunc(ds, func(d llm.Delta) bool { return d.Call != nil }))
}

// complete gets the whole output of p. Where a stop string turns out to be a
// part of the answer ([Resumer]), the prompt is continued behind it; what was
// generated is in the engine's cache, so that little is computed again, and
// the tokens of the parts are added up. A prompt with a Grammar is not
// continued: its rule would begin anew. ok is false when the stream has ended.
func (g *generation) complete(ctx context.Context, p Prompt) (done llm.Done, ok bool) {
	var usage llm.Usage
	for part := 0; ; part++ {
		var out strings.Builder
		for piece, err := range g.c.Complete(ctx, p) {
			switch {
			case part > 0 && errors.Is(err, llm.ErrContextFull):
				return llm.Done{Stop: llm.StopLength, Usage: usage}, true
			case err != nil:
				if g.heldBack() {
					g.yield(llm.Delta{}, err)
				}
				return done, false
			case piece.Load != nil:
				// The continuation of an answer is no news to its reader.
				if part == 0 && !g.yield(llm.Delta{Load: piece.Load}, nil) {
					return done, false
				}
			case piece.Done != nil:
				done = *piece.Done
			default:
				out.WriteString(piece.Text)
				if !g.emit(g.parser.Push(piece.Text)) {
					return done, false
				}
			}
		}
		output := done.Usage.Output
		if part > 0 { // the prompt was counted
			u := done.Usage
			done.Usage = usage.Add(llm.Usage{Output: u.Output, PromptNS: u.PromptNS, OutputNS: u.OutputNS})
		}
		usage = done.Usage
		r, can := g.parser.(Resumer)
		if !can || p.Grammar != "" || !slices.Contains(p.Stop, done.StopAt) {
			return done, true
		}
		ds, over := r.Stopped(done.StopAt)
		if !g.emit(ds) {
			return done, false
		}
		if over {
			return done, true
		}
		if p.Max > 0 {
			if p.Max -= output; p.Max <= 0 {
				done.Stop, done.StopAt = llm.StopLength, ""
				return done, true
			}
		}
		p.Prefill += out.String() + done.StopAt
		p.Arm = nil
	}
}
