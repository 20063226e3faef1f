// Package llm defines what a language model is to the rest of the program: a
// request goes in, a stream of deltas comes out. It imports no sibling
// package; every provider below it implements [Model].
package llm

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
)

// A Role says who speaks in a [Message].
type Role string

// The roles that every chat template knows, and the one for tool results.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool"
)

// A Message is one turn as a model sees it.
type Message struct {
	Role   Role       `json:"role"`
	Text   string     `json:"text,omitempty"`
	Calls  []ToolCall `json:"calls,omitempty"`  // Assistant only
	CallID string     `json:"callId,omitempty"` // ToolRole only: the call it answers
}

// A Tool is what the model is told it may call.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"` // JSON Schema; key order is kept, models see it
}

// A ToolCall is what the model asked for, before anybody agreed to it.
type ToolCall struct {
	ID   string          `json:"id"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

// A Request is everything one generation depends on.
type Request struct {
	Messages  []Message
	Tools     []Tool // in the order the model is told about them: prompts must not shuffle
	Sampling  Sampling
	MaxTokens int // most tokens to generate; 0: the provider's default
	// RequireCall asks for a tool call as the first thing the model does.
	RequireCall bool
}

// Sampling holds decoding parameters; nil means the model's own default.
type Sampling struct {
	Temperature *float64 // 0 is greedy
	TopP        *float64 // nucleus mass, (0,1]
	TopK        *int     // candidates kept, 0 keeps all
	MinP        *float64 // least probability relative to the best
	Seed        *uint32  // same seed, same text (on the same machine and settings)
	Stop        []string // generation ends before any of these
}

// A Delta is one step of a stream. Exactly one field is set.
type Delta struct {
	Text string    // prose for the person
	Code string    // source text of a call still being written, for display only
	Call *ToolCall // complete, never partial
	Load *Load     // the model is being loaded or is reading the prompt
	Done *Done     // last delta of a successful stream
}

// Load tells what happens before the first token.
type Load struct {
	Phase string  // "load" or "prompt"
	Done  float64 // fraction, 0 to 1
}

// Done closes a stream.
type Done struct {
	Stop   Stop
	StopAt string // the stop string that was met; empty: none was
	Usage  Usage
}

// Stop says why generation ended.
type Stop string

// The reasons for which generation ends.
const (
	StopEnd    Stop = "end"    // the model was done, or a stop string was met
	StopCalls  Stop = "calls"  // the model asked for tool calls
	StopLength Stop = "length" // MaxTokens or the end of the context was reached
)

// Usage counts tokens, and the time they took.
type Usage struct {
	Prompt   int   `json:"prompt"`   // tokens of the whole prompt
	Cached   int   `json:"cached"`   // of these, tokens that were not evaluated again
	Output   int   `json:"output"`   // tokens generated
	PromptNS int64 `json:"promptNs"` // nanoseconds spent reading the prompt
	OutputNS int64 `json:"outputNs"` // nanoseconds spent generating
}

// Add returns the sum of u and v.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.Prompt + v.Prompt, u.Cached + v.Cached, u.Output + v.Output, u.PromptNS + v.PromptNS, u.OutputNS + v.OutputNS}
}

// A Stream yields deltas until Done or an error. Leaving the range early or
// cancelling the context stops the model within 300 ms. A Stream is used once.
type Stream func(yield func(Delta, error) bool)

// Collect drains s into a message. On error the message holds what came before.
func (s Stream) Collect() (m Message, done Done, err error) {
	var text strings.Builder
	m.Role = Assistant
	defer func() { m.Text = text.String() }()
	for d, err := range s {
		if err != nil {
			return m, done, err
		}
		text.WriteString(d.Text)
		if d.Call != nil {
			m.Calls = append(m.Calls, *d.Call)
		}
		if d.Done != nil {
			done = *d.Done
		}
	}
	return m, done, nil
}

// A Model answers requests. Implementations are safe for concurrent use and
// report failures as the errors below, wrapped.
type Model interface {
	// Info describes the model. Fields known only after loading (Context) are
	// zero before the first Generate or Load.
	Info() Info
	// Generate starts when the stream is ranged over.
	Generate(ctx context.Context, req *Request) Stream
	// Count returns how many prompt tokens req takes.
	Count(ctx context.Context, req *Request) (int, error)
}

// A Loader is a Model that occupies memory until released.
type Loader interface {
	// Load makes the model ready; progress gets fractions from 0 to 1.
	Load(ctx context.Context, progress func(done float64)) error
	// Unload frees the memory. The next Generate loads again.
	Unload() error
}

// Info describes a model well enough to choose it and to show what it is.
type Info struct {
	Ref          Ref    `json:"ref"`
	Name         string `json:"name"`         // for people
	Context      int    `json:"context"`      // tokens it can read now
	ContextTrain int    `json:"contextTrain"` // tokens it was trained for
	Local        bool   `json:"local"`        // nothing leaves this machine
	Size         int64  `json:"size"`         // bytes of the model file
	Device       string `json:"device"`       // what computes, e.g. "CPU (haswell)"
	Harness      string `json:"harness"`      // dialect in use
	// What a harness is chosen by; zero before loading, and with other
	// people's servers.
	ChatTemplate string `json:"-"` // source of the model's own chat template
	Parameters   int64  `json:"-"` // weights
}

// A Ref names a model: provider, slash, name; "local/qwen2.5-coder-1.5b".
type Ref string

// Split returns the provider and the provider's own name.
func (r Ref) Split() (provider, name string) {
	provider, name, _ = strings.Cut(string(r), "/")
	return provider, name
}

// A Provider offers models.
type Provider interface {
	// ID is the part of a [Ref] before the slash.
	ID() string
	// Models lists what can be opened now.
	Models(ctx context.Context) ([]Info, error)
	// Open returns the model with the provider's own name, without loading it.
	// It returns ErrUnknownModel when there is none.
	Open(ctx context.Context, name string) (Model, error)
}

// What can go wrong, for errors.Is. The wrapping error says what and where.
var (
	ErrUnknownModel = errors.New("unknown model")
	ErrBadModel     = errors.New("model file cannot be used")
	ErrContextFull  = errors.New("request exceeds the context window")
	ErrNoMemory     = errors.New("not enough memory for the model")
	ErrCrashed      = errors.New("model process ended unexpectedly")
	ErrEngine       = errors.New("inference engine is missing or does not fit")
	ErrMalformed    = errors.New("model output does not follow its protocol")
)
