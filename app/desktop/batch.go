package desktop

import (
	"encoding/json"
	"time"

	"atoll/app/event"
)

// Limits of a batch: the webview takes one message of this size as fast as
// forty small ones, and a page draws no more often than every 16 ms.
const (
	batchBytes = 64 << 10
	batchTime  = 16 * time.Millisecond
)

// batches passes on the events of in, in order and without loss, as batches:
// a batch leaves batchTime after its first event, or earlier when another
// event would make it larger than batchBytes. An event larger than that goes
// alone. It returns when in is closed and everything has left.
func batches(in <-chan event.Event, emit func([]json.RawMessage)) {
	var (
		batch []json.RawMessage
		size  int
		due   <-chan time.Time
	)
	flush := func() {
		if len(batch) > 0 {
			emit(batch)
		}
		batch, size, due = nil, 0, nil
	}
	for {
		select {
		case e, ok := <-in:
			if !ok {
				flush()
				return
			}
			b, err := json.Marshal(e)
			if err != nil {
				continue // cannot be: it was JSON a moment ago
			}
			if size+len(b) > batchBytes {
				flush()
			}
			if due == nil {
				due = time.After(batchTime)
			}
			batch, size = append(batch, b), size+len(b)
		case <-due:
			flush()
		}
	}
}
