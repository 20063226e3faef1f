// Package fake is a scripted model: it answers from a file. Tests of the doors
// use it where a real model would cost minutes.
package fake

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"atoll/llm"
	"atoll/llm/harness"
)

// ID is the provider's part of a [llm.Ref].
const ID = "script"

// A Line answers prompts whose last turn contains When; the first line that
// matches answers.
type Line struct {
	When    string `json:"when"`
	Say     string `json:"say"`     // raw output, in the harness's dialect
	EveryMS int    `json:"everyMs"` // milliseconds between two pieces of four bytes
	Fail    string `json:"fail"`    // ends with this error after Say, unless a stop string is met in it
}

// A Provider offers one model, "script/model", that reads its lines from a
// JSON file at each answer.
type Provider struct {
	Path    string
	Harness harness.Harness
}

// ID implements [llm.Provider].
func (p Provider) ID() string { return ID }

// Models implements [llm.Provider].
func (p Provider) Models(context.Context) ([]llm.Info, error) {
	return []llm.Info{completer(p).Info()}, nil
}

// Open implements [llm.Provider].
func (p Provider) Open(_ context.Context, name string) (llm.Model, error) {
	if name != "model" {
		return nil, fmt.Errorf("open %s/%s: %w", ID, name, llm.ErrUnknownModel)
	}
	return harness.Model(completer(p), p.Harness), nil
}

type completer Provider

func (c completer) Info() llm.Info {
	return llm.Info{Ref: ID + "/model", Name: "Scripted model", Context: 8192, ContextTrain: 8192, Local: true, Device: "script"}
}

func (c completer) Count(_ context.Context, p harness.Prompt) (int, error) {
	n := len(p.Prefill)
	for _, m := range p.Messages {
		n += len(m.Content)
	}
	return n / 4, nil
}

func (c completer) Complete(ctx context.Context, p harness.Prompt) iter.Seq2[harness.Piece, error] {
	return func(yield func(harness.Piece, error) bool) {
		l, err := c.line(p)
		if err != nil {
			yield(harness.Piece{}, err)
			return
		}
		n, _ := c.Count(ctx, p)
		answer, stop := p.Cut(behind(l.Say, p.Prefill))
		for s := answer; s != ""; {
			n := min(4, len(s))
			for n < len(s) && !utf8.RuneStart(s[n]) {
				n++
			}
			piece := s[:n]
			s = s[n:]
			select {
			case <-ctx.Done():
				yield(harness.Piece{}, ctx.Err())
				return
			case <-time.After(time.Duration(l.EveryMS) * time.Millisecond):
			}
			if !yield(harness.Piece{Text: piece}, nil) {
				return
			}
		}
		if l.Fail != "" && stop == "" {
			yield(harness.Piece{}, fmt.Errorf("%w: %s", llm.ErrCrashed, l.Fail))
			return
		}
		yield(harness.Piece{Done: &llm.Done{Stop: llm.StopEnd, StopAt: stop, Usage: llm.Usage{Prompt: n, Output: len(answer+stop) / 4}}}, nil)
	}
}

// behind returns the part of say that comes after prefill. A prompt that goes
// on behind a stop string has the beginning of say at the end of its prefill.
func behind(say, prefill string) string {
	for i := range len(prefill) {
		if rest, ok := strings.CutPrefix(say, prefill[i:]); ok {
			return rest
		}
	}
	return say
}

func (c completer) line(p harness.Prompt) (Line, error) {
	b, err := os.ReadFile(c.Path)
	if err != nil {
		return Line{}, fmt.Errorf("read script: %w", err)
	}
	var lines []Line
	if err := json.Unmarshal(b, &lines); err != nil {
		return Line{}, fmt.Errorf("read script %s: %w", c.Path, err)
	}
	if len(p.Messages) == 0 {
		return Line{}, errors.New("script: empty prompt")
	}
	last := p.Messages[len(p.Messages)-1].Content
	for _, l := range lines {
		if strings.Contains(last, l.When) {
			return l, nil
		}
	}
	return Line{}, fmt.Errorf("script %s has no line for %q", c.Path, last)
}
