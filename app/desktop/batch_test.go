package desktop

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"atoll/app/event"
)

// received is one batch and when it came.
type received struct {
	events []json.RawMessage
	at     time.Duration
}

// send runs batches in a bubble, where time is exact.
func send(t *testing.T, give func(chan<- event.Event)) (got []received) {
	synctest.Test(t, func(*testing.T) {
		begin := time.Now()
		in, done := make(chan event.Event), make(chan struct{})
		go func() {
			defer close(done)
			batches(in, func(b []json.RawMessage) { got = append(got, received{b, time.Since(begin)}) })
		}()
		give(in)
		close(in)
		<-done
	})
	return got
}

func text(s string) event.Event {
	return event.Event{Delta: &event.Delta{Chat: "c", Kind: "text", Text: s}}
}

func TestBatchesLeaveOneFrameAfterTheirFirstEvent(t *testing.T) {
	got := send(t, func(in chan<- event.Event) {
		for i := range 10 {
			in <- text(fmt.Sprint(i))
			time.Sleep(5 * time.Millisecond)
		}
	})
	var sizes []int
	var all strings.Builder
	for _, b := range got {
		sizes = append(sizes, len(b.events))
		for _, raw := range b.events {
			var e event.Event
			if err := json.Unmarshal(raw, &e); err != nil {
				t.Fatal(err)
			}
			all.WriteString(e.Delta.Text)
		}
	}
	if fmt.Sprint(sizes) != "[4 4 2]" {
		t.Errorf("batches of %v events; a batch takes what comes in %v", sizes, batchTime)
	}
	if got[0].at != batchTime {
		t.Errorf("the first batch left after %v", got[0].at)
	}
	if all.String() != "0123456789" {
		t.Errorf("events arrived as %q", all.String())
	}
}

func TestBatchesStayBelowTheirSize(t *testing.T) {
	const n = 500
	got := send(t, func(in chan<- event.Event) {
		for i := range n {
			in <- text(fmt.Sprintf("%d:%s", i, strings.Repeat("x", 1000)))
		}
		in <- text("large:" + strings.Repeat("x", 3*batchBytes))
		in <- text("last:")
	})
	next := 0
	for i, b := range got {
		size := 0
		for _, raw := range b.events {
			size += len(raw)
			var e event.Event
			if err := json.Unmarshal(raw, &e); err != nil {
				t.Fatal(err)
			}
			want := fmt.Sprint(next)
			if next >= n {
				want = []string{"large", "last"}[next-n]
			}
			if head, _, _ := strings.Cut(e.Delta.Text, ":"); head != want {
				t.Fatalf("event %s came where %s was due", head, want)
			}
			next++
		}
		if size > batchBytes && len(b.events) > 1 {
			t.Errorf("batch %d: %d events in %d bytes", i, len(b.events), size)
		}
	}
	if next != n+2 {
		t.Errorf("%d events of %d arrived", next, n+2)
	}
	if len(got) > 12 {
		t.Errorf("%d batches for 500 kB", len(got))
	}
}
