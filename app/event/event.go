// Package event carries what happens to whoever watches.
package event

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"atoll/storage"
)

// An Event is either durable (Entry, in the store already) or passing (the
// rest: lost ones do no harm, the entry that follows replaces them). Exactly
// one field beside Seq is set.
type Event struct {
	Seq   uint64         `json:"seq,omitempty"` // set with Entry
	Entry *storage.Entry `json:"entry,omitempty"`
	Delta *Delta         `json:"delta,omitempty"`
	Turn  *Turn          `json:"turn,omitempty"`
	Ask   *Ask           `json:"ask,omitempty"`
	Task  *Task          `json:"task,omitempty"`
	Chat  *storage.Chat  `json:"chat,omitempty"` // a chat is new or its head changed
	Gone  string         `json:"gone,omitempty"` // a chat was deleted
}

// Delta is content still being produced.
type Delta struct {
	Chat   string          `json:"chat"`
	Turn   string          `json:"turn"`
	Call   string          `json:"call,omitempty"`                              // set: output of that running call
	Kind   string          `json:"kind" enum:"text,code,stdout,stderr,display"` // "text", "code", "stdout", "stderr", "display"
	Text   string          `json:"text,omitempty"`
	Output *storage.Output `json:"output,omitempty"` // with "display"
}

// Phase says what a turn is doing.
type Phase string

// The phases of a turn, in the order in which they can come.
const (
	Queued    Phase = "queued"
	Loading   Phase = "load"    // Done tells how far
	Reading   Phase = "prompt"  // Done tells how far
	Answering Phase = "answer"  // text or code is coming
	Approving Phase = "approve" // waits for a person
	Running   Phase = "run"     // code is running
	Ended     Phase = "done"
)

// Turn is the state of a running turn.
type Turn struct {
	Chat    string  `json:"chat"`
	Turn    string  `json:"turn"`
	Phase   Phase   `json:"phase" enum:"queued,load,prompt,answer,approve,run,done"`
	Done    float64 `json:"done,omitempty"` // 0 to 1
	Model   string  `json:"model,omitempty"`
	Context int     `json:"context,omitempty"` // tokens the model can read
	Used    int     `json:"used,omitempty"`    // tokens of the last prompt and its answer
	// Fault says, at the end, why there is no answer when not even that could be
	// kept: the disk is full.
	Fault *storage.Fault `json:"fault,omitempty"`
}

// Ask is an approval waiting for a person; Open false withdraws it.
type Ask struct {
	ID      string       `json:"id"`
	Chat    string       `json:"chat"`
	Turn    string       `json:"turn"`
	Call    storage.Call `json:"call"`
	Reasons []string     `json:"reasons"`
	Open    bool         `json:"open"`
}

// Task is progress of something long: a download, a set-up step.
type Task struct {
	ID    string         `json:"id"`
	Label string         `json:"label"`
	Done  int64          `json:"done"`
	Total int64          `json:"total"`
	Unit  string         `json:"unit" enum:"bytes,steps"`
	State string         `json:"state" enum:"running,done,failed"`
	Error *storage.Fault `json:"error,omitempty"`
}

// A Backlog yields every entry after seq; *storage.Store is one.
type Backlog interface {
	Since(ctx context.Context, seq uint64) iter.Seq2[storage.Entry, error]
}

// queueLen bounds what a watcher may lag behind before it is cut off; it
// comes back with its last Seq and misses only passing events.
const queueLen = 4096

// A Bus delivers events to watchers in order. It never waits for one.
type Bus struct {
	log Backlog

	mu       sync.Mutex
	watchers map[*watcher]struct{}
}

type watcher struct {
	ch  chan Event
	off bool // closed; guarded by Bus.mu
}

// NewBus returns a bus whose watchers catch up from log.
func NewBus(log Backlog) *Bus { return &Bus{log: log, watchers: map[*watcher]struct{}{}} }

// Publish delivers e to all watchers. Durable events must be published in the
// order of their Seq by one caller at a time.
func (b *Bus) Publish(e Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for w := range b.watchers {
		select {
		case w.ch <- e:
		default:
			b.drop(w)
		}
	}
}

// drop needs b.mu.
func (b *Bus) drop(w *watcher) {
	if !w.off {
		w.off = true
		close(w.ch)
		delete(b.watchers, w)
	}
}

// Watchers returns how many watch now.
func (b *Bus) Watchers() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.watchers)
}

// Watch calls f with everything durable after since, then with live events, in
// order and without gaps in Seq, in batches of what is there. It returns when
// ctx ends, f returns an error, or the watcher was too slow (ErrSlow).
func (b *Bus) Watch(ctx context.Context, since uint64, f func([]Event) error) error {
	w := &watcher{ch: make(chan Event, queueLen)}
	b.mu.Lock()
	b.watchers[w] = struct{}{}
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		b.drop(w)
		b.mu.Unlock()
	}()
	last := since
	var batch []Event
	for e, err := range b.log.Since(ctx, since) {
		if err != nil {
			return fmt.Errorf("read entries after %d: %w", since, err)
		}
		last = e.Seq
		batch = append(batch, Event{Seq: e.Seq, Entry: &e})
	}
	for {
		if len(batch) > 0 {
			if err := f(batch); err != nil {
				return err
			}
			batch = nil
		}
		take := func(e Event, ok bool) error {
			if !ok {
				return ErrSlow
			}
			if e.Seq == 0 || e.Seq > last {
				last = max(last, e.Seq)
				batch = append(batch, e)
			}
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case e, ok := <-w.ch:
			if err := take(e, ok); err != nil {
				return err
			}
		}
		for more := true; more && len(batch) < 256; {
			select {
			case e, ok := <-w.ch:
				if err := take(e, ok); err != nil {
					return err
				}
			default:
				more = false
			}
		}
	}
}

// ErrSlow means a watcher was cut off because it lagged too far behind.
var ErrSlow = fmt.Errorf("watcher too slow")
