package event_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"

	"atoll/app/event"
	"atoll/storage"
)

// backlog is a log of n entries that grows by one while it is read.
type backlog struct {
	n      uint64
	during func()
}

func (b backlog) Since(_ context.Context, seq uint64) iter.Seq2[storage.Entry, error] {
	return func(yield func(storage.Entry, error) bool) {
		for i := seq + 1; i <= b.n; i++ {
			if !yield(storage.Entry{Seq: i}, nil) {
				return
			}
			if i == b.n && b.during != nil {
				b.during()
			}
		}
	}
}

func TestWatchHasNoGaps(t *testing.T) {
	var bus *event.Bus
	publish := func(seq uint64) { bus.Publish(event.Event{Seq: seq, Entry: &storage.Entry{Seq: seq}}) }
	bus = event.NewBus(backlog{n: 5, during: func() {
		publish(5) // is in the backlog already
		publish(6) // arrived while the backlog was read
	}})
	enough := errors.New("enough")
	var got []uint64
	err := bus.Watch(t.Context(), 2, func(batch []event.Event) error {
		for _, e := range batch {
			got = append(got, e.Seq)
		}
		if len(got) == 4 {
			publish(7)
			bus.Publish(event.Event{Gone: "chat"})
		}
		if len(got) == 6 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) || fmt.Sprint(got) != "[3 4 5 6 7 0]" {
		t.Errorf("watched %v, %v", got, err)
	}
	if bus.Watchers() != 0 {
		t.Errorf("%d watchers are left", bus.Watchers())
	}
}

// TestFastStream: text that comes faster than it is read arrives whole.
func TestFastStream(t *testing.T) {
	bus := event.NewBus(backlog{n: 1})
	enough := errors.New("enough")
	text, events := "", 0
	err := bus.Watch(t.Context(), 0, func(batch []event.Event) error {
		for _, e := range batch {
			events++
			switch {
			case e.Seq == 1:
				for i := range 10_000 {
					bus.Publish(event.Event{Delta: &event.Delta{Chat: "c", Kind: "text", Text: fmt.Sprint(i % 10)}})
				}
				bus.Publish(event.Event{Delta: &event.Delta{Chat: "c", Kind: "code", Text: "x"}})
				bus.Publish(event.Event{Gone: "end"})
			case e.Gone != "":
				return enough
			case e.Delta.Kind == "text":
				text += e.Delta.Text
			}
		}
		return nil
	})
	if !errors.Is(err, enough) || len(text) != 10_000 || text[:12] != "012345678901" {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	if events > 10 {
		t.Errorf("%d events for one stream", events)
	}
}

func TestSlowWatcherIsCutOff(t *testing.T) {
	bus := event.NewBus(backlog{n: 1})
	err := bus.Watch(t.Context(), 0, func([]event.Event) error {
		for range 100_000 {
			bus.Publish(event.Event{Gone: "x"})
		}
		return nil
	})
	if !errors.Is(err, event.ErrSlow) || bus.Watchers() != 0 {
		t.Errorf("a watcher that never reads got %v", err)
	}
}
