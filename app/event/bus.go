package event

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"atoll/storage"
)

// A Backlog yields every entry after seq; *storage.Store is one.
type Backlog interface {
	Since(ctx context.Context, seq uint64) iter.Seq2[storage.Entry, error]
}

// lagMax bounds what waits for a slow watcher, in bytes. One that lags further
// is cut off; it comes back with its last Seq and misses only passing events.
const lagMax = 8 << 20

// ErrSlow means a watcher was cut off because it lagged too far behind.
var ErrSlow = errors.New("watcher too slow")

// A Bus delivers events to watchers in order. It never waits for one.
type Bus struct {
	log Backlog

	mu       sync.Mutex
	watchers map[*watcher]struct{}
}

// watcher is one call of Watch. Bus.mu guards all but wake.
type watcher struct {
	pending []Event
	size    int           // bytes of pending, roughly
	slow    bool          // was cut off
	wake    chan struct{} // capacity 1: there is something to do
}

// NewBus returns a bus whose watchers catch up from log.
func NewBus(log Backlog) *Bus { return &Bus{log: log, watchers: map[*watcher]struct{}{}} }

// Publish delivers e to all watchers. Durable events must be published in the
// order of their Seq by one caller at a time.
func (b *Bus) Publish(e Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for w := range b.watchers {
		w.add(e)
		if w.size > lagMax {
			w.slow, w.pending = true, nil
			delete(b.watchers, w)
		}
		select {
		case w.wake <- struct{}{}:
		default:
		}
	}
}

// add puts e behind what waits. Text that continues what waits is joined to
// it, so that a fast stream makes few events for a slow watcher.
func (w *watcher) add(e Event) {
	w.size += 256
	if e.Entry != nil {
		w.size += len(e.Entry.Body)
	}
	if d := e.Delta; d != nil {
		w.size += len(d.Text)
		if n := len(w.pending); n > 0 && d.Output == nil {
			if l := w.pending[n-1].Delta; l != nil && l.Output == nil && l.Chat == d.Chat && l.Turn == d.Turn && l.Call == d.Call && l.Kind == d.Kind {
				joined := *l // others may hold it too
				joined.Text += d.Text
				w.pending[n-1].Delta = &joined
				w.size -= 256
				return
			}
		}
	}
	w.pending = append(w.pending, e)
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
	w := &watcher{wake: make(chan struct{}, 1)}
	b.mu.Lock()
	b.watchers[w] = struct{}{}
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		delete(b.watchers, w)
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
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-w.wake:
		}
		b.mu.Lock()
		news, slow := w.pending, w.slow
		w.pending, w.size = nil, 0
		b.mu.Unlock()
		if slow {
			return ErrSlow
		}
		for _, e := range news {
			if e.Seq == 0 || e.Seq > last { // else the backlog had it
				last = max(last, e.Seq)
				batch = append(batch, e)
			}
		}
	}
}
