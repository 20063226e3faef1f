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
	ModeAuto  = "auto"  // code whose effects stay inside the workspace runs at once; others are asked about
	ModeNever = "never" // code is never run
)

// Stages of a question.
const (
	StageBefore = "before" // the code has not run
	StageAfter  = "after"  // it ran in a layer, and its effects wait
)

// Valid reports whether mode is one of the three.
func Valid(mode string) bool { return mode == ModeAsk || mode == ModeAuto || mode == ModeNever }

// An Answer is what was decided.
type Answer struct {
	Allow bool
	By    string // "person" or "policy"
	Note  string // goes back to the model on refusal
	Code  string // the person's edited version, "" if not edited
	Stage string // of the question
	Needs []string
}

var (
	// ErrNoAsk means there is no open question with that id.
	ErrNoAsk = errors.New("this question is not open any more")
	// ErrNoPreview means that the effects of this code cannot be tried out.
	ErrNoPreview = errors.New("the effects of this code cannot be shown beforehand")
)

// A Question is what a person is asked.
type Question struct {
	event.Ask
	Mode   string // of the chat
	Policy storage.ChatPolicy
	// Preview runs the code in a layer and returns its effects; nil where that
	// cannot be done. It is called at most once.
	Preview func(context.Context) (event.Effects, error)
}

// A Gate holds the open questions.
type Gate struct {
	bus    *event.Bus
	Grants *Grants

	mu   sync.Mutex
	open map[string]*pending
}

type pending struct {
	Question
	answer chan Answer // capacity 1

	trying sync.Mutex // one preview; an answer waits for it
	over   bool       // guarded by trying: an answer was given, nothing is tried any more
}

// NewGate returns a gate that publishes its questions on bus and asks nothing
// that grants cover.
func NewGate(bus *event.Bus, grants *Grants) *Gate {
	return &Gate{bus: bus, Grants: grants, open: map[string]*pending{}}
}

// Ask decides about a question: at once when the mode forbids, or when nothing
// is left of its needs that was not allowed earlier; else when a person did. It
// returns ctx's error when the turn was stopped meanwhile.
func (g *Gate) Ask(ctx context.Context, q Question) (Answer, error) {
	if q.Mode == ModeNever {
		return Answer{By: "policy", Note: "this chat never runs code", Stage: q.Stage}, nil
	}
	q.Needs = g.Grants.Open(q.Chat, q.Policy, q.Needs)
	if len(q.Needs) == 0 {
		return Answer{Allow: true, By: "policy", Stage: q.Stage}, nil
	}
	q.ID, q.Open, q.CanPreview = uuid.NewString(), true, q.Preview != nil
	p := &pending{Question: q, answer: make(chan Answer, 1)}
	g.mu.Lock()
	g.open[q.ID] = p
	ask := p.Ask
	g.mu.Unlock()
	g.bus.Publish(event.Event{Ask: &ask})
	defer func() {
		g.mu.Lock()
		delete(g.open, q.ID)
		closed := p.Ask
		g.mu.Unlock()
		closed.Open = false
		g.bus.Publish(event.Event{Ask: &closed})
		p.trying.Lock() // whoever asked ends the trial; it must be over by then
		p.over = true
		p.trying.Unlock()
	}()
	select {
	case a := <-p.answer:
		return a, nil
	case <-ctx.Done():
		return Answer{}, ctx.Err()
	}
}

// Preview tries out the code of an open question and publishes the question
// anew, with the effects. Errors: ErrNoAsk, ErrNoPreview, and why the code could
// not be run.
func (g *Gate) Preview(ctx context.Context, id string) error {
	g.mu.Lock()
	p, ok := g.open[id]
	g.mu.Unlock()
	if !ok {
		return ErrNoAsk
	}
	if p.Question.Preview == nil {
		return ErrNoPreview
	}
	p.trying.Lock()
	defer p.trying.Unlock()
	g.mu.Lock()
	done := p.Previewed
	g.mu.Unlock()
	if p.over {
		return ErrNoAsk
	}
	if done {
		return nil
	}
	effects, err := p.Question.Preview(ctx)
	if err != nil {
		return err
	}
	g.mu.Lock()
	p.Effects, p.Previewed = &effects, true
	ask := p.Ask
	_, open := g.open[id]
	g.mu.Unlock()
	if open {
		g.bus.Publish(event.Event{Ask: &ask})
	}
	return nil
}

// Answer answers an open question, once, and remembers the answer if r is set.
// It returns the chat it belongs to.
func (g *Gate) Answer(ctx context.Context, id string, a Answer, r *Remember) (chat string, err error) {
	g.mu.Lock()
	p, ok := g.open[id]
	var needs []event.Need
	if ok {
		needs = p.Needs
		if p.Effects != nil {
			needs = append(append([]event.Need{}, needs...), p.Effects.Needs...)
		}
		delete(g.open, id)
	}
	g.mu.Unlock()
	if !ok {
		return "", ErrNoAsk
	}
	if a.Allow && r != nil {
		// The answer itself counts even when it cannot be remembered.
		err = g.Grants.Add(ctx, *r, p.Chat, p.Policy, needs)
	}
	a.By, a.Stage, a.Needs = "person", p.Stage, Sentences(needs)
	p.answer <- a
	return p.Chat, err
}

// Open returns the open questions of a chat.
func (g *Gate) Open(chat string) []event.Ask {
	g.mu.Lock()
	defer g.mu.Unlock()
	asks := []event.Ask{}
	for _, p := range g.open {
		if p.Chat == chat {
			asks = append(asks, p.Ask)
		}
	}
	return asks
}

// Decision is the entry body that records a.
func (a Answer) Decision(call string) storage.Decision {
	return storage.Decision{Call: call, Allow: a.Allow, By: a.By, Note: a.Note, Code: a.Code, Stage: a.Stage, Needs: a.Needs}
}
