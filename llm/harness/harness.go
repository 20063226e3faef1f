// Package harness speaks the dialects of model families: how a request is
// written for a model, and how calls are read out of its raw output. It does
// no I/O.
package harness

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"atoll/llm"
)

// A Prompt is what an engine needs to continue text. The engine renders
// Messages with the model's own chat template and appends Prefill.
type Prompt struct {
	Messages []Turn       `json:"messages"`
	Tools    []llm.Tool   `json:"tools,omitempty"`    // offered by the chat template in its own words, which must have some
	Prefill  string       `json:"prefill,omitempty"`  // the answer starts with this text; it is not repeated in the output
	Stop     []string     `json:"stop,omitempty"`     // generation ends before any of these
	Arm      []string     `json:"arm,omitempty"`      // Stop counts only after one of these has been generated; empty: at once
	Grammar  string       `json:"grammar,omitempty"`  // GBNF that constrains the output; rule "root"
	Lazy     []string     `json:"lazy,omitempty"`     // Grammar constrains only what follows the first of these; empty: all of the output
	Thinking bool         `json:"thinking,omitempty"` // the output begins inside a thought, where none of Lazy counts
	Sampling llm.Sampling `json:"sampling"`
	Max      int          `json:"max"` // most tokens to generate; 0: as many as fit
}

// A Turn is one message as a chat template sees it.
type Turn struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// A Harness knows one dialect.
type Harness interface {
	// Name is what --harness and the chat header show.
	Name() string
	// Render writes req in the dialect.
	Render(req *llm.Request) (Prompt, error)
	// Parser returns a fresh parser for the output of one rendered prompt.
	Parser(req *llm.Request) Parser
}

// A Parser turns raw output into deltas as it arrives. However the output is
// cut into pieces, the concatenated result is the same.
type Parser interface {
	Push(piece string) []llm.Delta
	// Close flushes what was held back. truncated says that the output ended
	// at the token limit: an unfinished call is then not a call.
	Close(truncated bool) ([]llm.Delta, error)
}

// A Resumer is a [Parser] whose language decides where a stop string ends the
// output: in a string of a program it is text like any other.
type Resumer interface {
	Parser
	// Stopped takes, in place of Push, the stop string of [Prompt.Stop] at
	// which generation ended. over reports that it ended the answer; if not,
	// generation goes on behind it.
	Stopped(stop string) (ds []llm.Delta, over bool)
}

// A Piece is one step of a completion. Exactly one field is set.
type Piece struct {
	Text string
	Load *llm.Load
	Done *llm.Done // last piece of a successful completion; says which stop string was met
}

// A Completer continues prompts: an engine, before any dialect.
type Completer interface {
	Info() llm.Info
	Complete(ctx context.Context, p Prompt) iter.Seq2[Piece, error]
	Count(ctx context.Context, p Prompt) (int, error)
}

// CodeCall is the name and the arguments of the one tool every code harness
// offers: run source text in a language's kernel.
type CodeCall struct {
	Language string `json:"language"` // canonical: "python"
	Code     string `json:"code"`
}

// RunCode is the name of the tool whose arguments are a [CodeCall].
const RunCode = "run_code"

// NewCodeCall returns a call of [RunCode].
func NewCodeCall(id, language, code string) *llm.ToolCall {
	args, err := json.Marshal(CodeCall{language, code})
	if err != nil { // two strings always marshal
		panic(err)
	}
	return &llm.ToolCall{ID: id, Name: RunCode, Args: args}
}

// ReadCodeCall returns the arguments of a [RunCode] call. It returns
// [llm.ErrMalformed] for other calls and for broken arguments.
func ReadCodeCall(c llm.ToolCall) (CodeCall, error) {
	if c.Name != RunCode {
		return CodeCall{}, fmt.Errorf("%w: there is no tool %q", llm.ErrMalformed, c.Name)
	}
	var code CodeCall
	if err := json.Unmarshal(c.Args, &code); err != nil {
		return CodeCall{}, fmt.Errorf("%w: arguments of %s: %w", llm.ErrMalformed, c.Name, err)
	}
	return code, nil
}
