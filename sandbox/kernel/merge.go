package kernel

import (
	"bytes"
	"io"
	"strconv"
)

// Three pipes come out of an interpreter: what it says in events, and what C
// code and child processes write to descriptors 1 and 2. Before event n the
// driver writes mark n to both of the others, which tells what came first:
//
//	stdout   aaa |1| bbb |2| ...
//	stderr       |1|     |2| ...
//	events        1       2  ...        aaa, event 1, bbb, event 2

// An item is a part of a raw stream: some bytes, or a mark if mark > 0.
type item struct {
	data []byte
	mark int64
}

// maxHeld bounds what waits for its turn, in bytes: one event of any size, and
// some. A program that forges marks or events only spoils its own order.
const maxHeld = maxLine + 1<<20

// A merger puts the three streams in order.
type merger struct {
	events []event
	raw    [2][]item
	mark   [2]int64 // last mark passed in each raw stream
	seen   int64    // last event handed out
	ended  [2]bool  // no marks come any more
	held   int      // bytes that wait
}

func (m *merger) addEvent(e event) {
	m.events = append(m.events, e)
	m.held += e.size()
}

func (m *merger) addRaw(stream int, it item) {
	m.raw[stream] = append(m.raw[stream], it)
	m.held += len(it.data)
}

// waiting reports whether something is held back.
func (m *merger) waiting() bool {
	return len(m.events) > 0 || len(m.raw[0]) > 0 || len(m.raw[1]) > 0
}

// force lets at least one thing go that waits: its mark or event is late or lost.
func (m *merger) force() {
	if len(m.events) > 0 {
		for i := range m.mark {
			m.mark[i] = max(m.mark[i], m.events[0].Seq)
		}
	}
	m.seen = max(m.seen, m.mark[0], m.mark[1])
}

// next returns what is to be shown next: bytes of stream 0 or 1, or an event.
func (m *merger) next() (stream int, data []byte, e *event, ok bool) {
	if m.held > maxHeld {
		m.force()
	}
	for i := range m.raw {
		for len(m.raw[i]) > 0 && m.mark[i] <= m.seen {
			it := m.raw[i][0]
			m.raw[i] = m.raw[i][1:]
			if it.mark == 0 {
				m.held -= len(it.data)
				return i, it.data, nil, true
			}
			m.mark[i] = it.mark
		}
	}
	if len(m.events) == 0 {
		return 0, nil, nil, false
	}
	ev := m.events[0]
	for i := range m.mark {
		if m.mark[i] < ev.Seq && !m.ended[i] {
			return 0, nil, nil, false
		}
	}
	m.events = m.events[1:]
	m.held -= ev.size()
	m.seen = max(m.seen, ev.Seq)
	return 0, nil, &ev, true
}

// readRaw calls put with the bytes and marks of r until r ends or put refuses.
// head is what a mark starts with; it ends with a zero byte.
func readRaw(r io.Reader, head []byte, put func(item) bool) {
	var rest []byte
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		rest = append(rest, buf[:n]...)
		for {
			at := bytes.Index(rest, head)
			if at < 0 {
				break
			}
			end := bytes.IndexByte(rest[at+len(head):], 0)
			if end < 0 && len(rest)-at-len(head) < 20 {
				break // the rest of the mark is to come
			}
			mark, perr := int64(0), error(nil)
			if end >= 0 {
				mark, perr = strconv.ParseInt(string(rest[at+len(head):at+len(head)+end]), 10, 64)
			}
			if end < 0 || perr != nil || mark <= 0 { // not one of ours
				if !put(item{data: bytes.Clone(rest[:at+len(head)])}) {
					return
				}
				rest = rest[at+len(head):]
				continue
			}
			if at > 0 && !put(item{data: bytes.Clone(rest[:at])}) {
				return
			}
			if !put(item{mark: mark}) {
				return
			}
			rest = rest[at+len(head)+end+1:]
		}
		keep := partial(rest, head)
		if err != nil {
			keep = 0
		}
		if out := rest[:len(rest)-keep]; len(out) > 0 && !put(item{data: bytes.Clone(out)}) {
			return
		}
		rest = append([]byte(nil), rest[len(rest)-keep:]...)
		if err != nil {
			return
		}
	}
}

// partial returns how many bytes at the end of b may be the start of a mark.
func partial(b, head []byte) int {
	if at := bytes.LastIndex(b, head); at >= 0 && len(b)-at < len(head)+20 && bytes.IndexByte(b[at+len(head):], 0) < 0 {
		return len(b) - at
	}
	for n := min(len(b), len(head)-1); n > 0; n-- {
		if bytes.HasSuffix(b, head[:n]) {
			return n
		}
	}
	return 0
}
