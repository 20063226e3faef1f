package kernel

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestMergeOrder writes a made-up history of three streams the way the driver
// does and lets the merger see them in any interleaving: what is written to
// one stream before an event comes out before it, what is written after it
// comes out after it.
func TestMergeOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want strings.Builder
		var raw [2][]item
		var events []event
		seq := int64(0)
		for i := range rapid.IntRange(0, 20).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "event") {
				seq++
				for s := range raw {
					raw[s] = append(raw[s], item{mark: seq})
				}
				events = append(events, event{Kind: "out", Seq: seq, Text: fmt.Sprintf("e%d ", i)})
				fmt.Fprintf(&want, "e%d ", i)
				continue
			}
			// Only one raw stream between two events: their order is not known.
			s := int(seq % 2)
			raw[s] = append(raw[s], item{data: fmt.Appendf(nil, "r%d ", i)})
			fmt.Fprintf(&want, "r%d ", i)
		}
		var m merger
		var got strings.Builder
		for len(raw[0])+len(raw[1])+len(events) > 0 {
			switch s := rapid.IntRange(0, 2).Draw(t, "source"); {
			case s == 2 && len(events) > 0:
				m.addEvent(events[0])
				events = events[1:]
			case s < 2 && len(raw[s]) > 0:
				m.addRaw(s, raw[s][0])
				raw[s] = raw[s][1:]
			}
			for {
				_, data, e, ok := m.next()
				if !ok {
					break
				}
				if e != nil {
					data = []byte(e.Text)
				}
				got.Write(data)
			}
		}
		if got.String() != want.String() || m.waiting() {
			t.Fatalf("got  %q\nwant %q", got.String(), want.String())
		}
	})
}

// TestMergeForged: marks that never come and marks that are too high hold
// nothing back for good.
func TestMergeForged(t *testing.T) {
	var m merger
	m.addRaw(0, item{mark: 1 << 60})
	m.addRaw(0, item{data: []byte("held")})
	m.addEvent(event{Seq: 7})
	drain := func() (n int) {
		for {
			if _, _, _, ok := m.next(); !ok {
				return n
			}
			n++
		}
	}
	if n := drain(); n != 0 {
		t.Fatalf("%d came before their time", n)
	}
	for range 3 {
		m.force()
		drain()
	}
	if m.waiting() {
		t.Error("something is held for good")
	}
	for i := range 100 {
		m.addRaw(1, item{mark: 1<<61 + int64(i)})
		m.addRaw(1, item{data: make([]byte, 1<<20)})
		m.addEvent(event{Kind: "out", Seq: 1<<62 + int64(i), Text: strings.Repeat("x", 1<<20)})
		drain()
		if m.held > maxHeld {
			t.Fatalf("%d bytes are held", m.held)
		}
	}
}

// slow returns its bytes in pieces of the given sizes.
type slow struct {
	b     []byte
	sizes []int
}

func (s *slow) Read(p []byte) (int, error) {
	if len(s.b) == 0 {
		return 0, io.EOF
	}
	n := len(s.b)
	if len(s.sizes) > 0 {
		n, s.sizes = min(n, s.sizes[0]), s.sizes[1:]
	}
	n = copy(p, s.b[:n])
	s.b = s.b[n:]
	return n, nil
}

func TestReadRaw(t *testing.T) {
	head := []byte("\x00secret:")
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.SampledFrom([]string{"text", "\x00", "\x00sec", "\x00secret:x\x00", "ü", "\n", "M"})).Draw(t, "parts")
		var b, want bytes.Buffer
		marks := 0
		for _, p := range parts {
			if p != "M" {
				b.WriteString(p)
				want.WriteString(p)
				continue
			}
			marks++
			fmt.Fprintf(&b, "\x00secret:%d\x00", marks)
			fmt.Fprintf(&want, "<%d>", marks)
		}
		var got bytes.Buffer
		readRaw(&slow{b.Bytes(), rapid.SliceOf(rapid.IntRange(1, 9)).Draw(t, "sizes")}, head, func(it item) bool {
			if it.mark > 0 {
				fmt.Fprintf(&got, "<%d>", it.mark)
			}
			got.Write(it.data)
			return true
		})
		if got.String() != want.String() {
			t.Fatalf("got %q, want %q", got.String(), want.String())
		}
	})
}
