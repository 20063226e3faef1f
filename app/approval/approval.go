// Package approval decides whether code may run: by the chat's policy, or by
// asking a person. It judges facts, never what the model says.
package approval

import (
	"context"
	"errors"
	"sync"

	"github.com/google/uuid"

	"atoll/app/event"
	"atoll/storage"
)

// The modes of a chat.
const (
	ModeAsk   = "ask"   // a person decides about every call
	ModeAuto  = "auto"  // code runs without asking, inside the sandbox only
	ModeNever = "never" // code is never run
)

// Valid reports whether mode is one of the three.
func Valid(mode string) bool { return mode == ModeAsk || mode == ModeAuto || mode == ModeNever }

// An Answer is what was decided.
type Answer struct {
	Allow bool
	By    string // "person" or "policy"
	Note  string // goes back to the model on refusal
	Code  string // the person's edited version, "" if not edited
}

// ErrNoAsk means there is no open question with that id.
var ErrNoAsk = errors.New("this question is not open any more")

// A Gate holds the open questions.
type Gate struct {
	bus *event.Bus

	mu   sync.Mutex
	open map[string]*pending
}

type pending struct {
	ask    event.Ask
	answer chan Answer // capacity 1
}

// NewGate returns a gate that publishes its questions on bus.
func NewGate(bus *event.Bus) *Gate { return &Gate{bus: bus, open: map[string]*pending{}} }

// Ask decides about a call under mode: at once if policy can, else when a
// person did. It returns ctx's error when the turn was stopped meanwhile.
func (g *Gate) Ask(ctx context.Context, mode string, ask event.Ask) (Answer, error) {
	switch mode {
	case ModeAuto:
		return Answer{Allow: true, By: "policy"}, nil
	case ModeNever:
		return Answer{By: "policy", Note: "this chat never runs code"}, nil
	}
	ask.ID, ask.Open = uuid.NewString(), true
	p := &pending{ask: ask, answer: make(chan Answer, 1)}
	g.mu.Lock()
	g.open[ask.ID] = p
	g.mu.Unlock()
	g.bus.Publish(event.Event{Ask: &ask})
	defer func() {
		g.mu.Lock()
		delete(g.open, ask.ID)
		g.mu.Unlock()
		closed := ask
		closed.Open = false
		g.bus.Publish(event.Event{Ask: &closed})
	}()
	select {
	case a := <-p.answer:
		return a, nil
	case <-ctx.Done():
		return Answer{}, ctx.Err()
	}
}

// Answer answers an open question, once. It returns the chat it belongs to.
func (g *Gate) Answer(id string, a Answer) (chat string, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p, ok := g.open[id]
	if !ok {
		return "", ErrNoAsk
	}
	a.By = "person"
	p.answer <- a
	delete(g.open, id)
	return p.ask.Chat, nil
}

// Open returns the open questions of a chat.
func (g *Gate) Open(chat string) []event.Ask {
	g.mu.Lock()
	defer g.mu.Unlock()
	asks := []event.Ask{}
	for _, p := range g.open {
		if p.ask.Chat == chat {
			asks = append(asks, p.ask)
		}
	}
	return asks
}

// Decision is the entry body that records a.
func (a Answer) Decision(call string) storage.Decision {
	return storage.Decision{Call: call, Allow: a.Allow, By: a.By, Note: a.Note, Code: a.Code}
}
