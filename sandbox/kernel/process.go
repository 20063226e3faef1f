package kernel

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"atoll/sandbox"
)

// A run is one execution, as the process sees it.
type run struct {
	token string
	sink  *sink
	done  chan struct{} // closed when result is valid
	// result is the "done" event, or nil if the interpreter went down.
	result *event
}

// A process is one living interpreter. Its pump goroutine owns the order of
// all output and ends when the process tree is gone; gone is closed then.
type process struct {
	proc   sandbox.Process
	cancel context.CancelFunc
	req    *os.File
	begin  chan *run
	ready  chan string // gets the version once
	gone   chan struct{}
	exit   sandbox.Exit      // valid when gone is closed
	plans  []json.RawMessage // what its load() knows; for the session's use

	late     strings.Builder // output between runs; owned by pump
	startErr strings.Builder // what was said before it was ready; owned by pump
}

type message struct {
	stream int // 0, 1: raw streams; 2: events
	item   item
	event  event
	end    bool
}

// why says in a sentence how a start ended.
func (p *process) why() string {
	s := describe(p.exit)
	if t := strings.TrimSpace(p.startErr.String()); t != "" {
		s += ": " + clip(t, 500)
	}
	return s
}

// kill ends the tree and waits for it.
func (p *process) kill() {
	p.proc.Kill()
	p.cancel()
	p.req.Close()
	<-p.gone
}

// pump reads all that comes out of the interpreter, in order, and hands it to
// the run that goes on.
func (p *process) pump(events *os.File, secret string) {
	var (
		msgs   = make(chan message, 4) // few: an event may be large
		quit   = make(chan struct{})
		exited = make(chan struct{})
		wg     sync.WaitGroup
	)
	put := func(m message) bool {
		select {
		case msgs <- m:
			return true
		case <-quit:
			return false
		}
	}
	head := append(append([]byte{0}, secret...), ':')
	for i, r := range [2]io.Reader{p.proc.Stdout(), p.proc.Stderr()} {
		wg.Go(func() {
			readRaw(r, head, func(it item) bool { return put(message{stream: i, item: it}) })
			put(message{stream: i, end: true})
		})
	}
	wg.Go(func() {
		readEvents(events, func(e event) bool { return put(message{stream: 2, event: e}) })
		put(message{stream: 2, end: true})
	})
	wg.Go(func() {
		p.exit = p.proc.Wait()
		close(exited)
	})

	cur := p.drain(msgs, exited)

	close(quit)
	events.Close()
	for _, r := range [2]io.Reader{p.proc.Stdout(), p.proc.Stderr()} {
		if c, ok := r.(io.Closer); ok {
			c.Close() // a reader that still waits ends now
		}
	}
	wg.Wait()
	if cur != nil {
		close(cur.done)
	}
	close(p.gone)
}

// drain is pump's loop. It returns the run that the end of the interpreter cut
// off, if any.
func (p *process) drain(msgs <-chan message, exited chan struct{}) *run {
	var (
		m     merger
		cur   *run
		open  = 3
		ends  = exited
		stuck = time.NewTimer(time.Hour)
		last  <-chan time.Time // everything is over then
		cut   <-chan time.Time // the connection is closed, the process must end
	)
	defer stuck.Stop()
	for open > 0 || ends != nil {
		select {
		case r := <-p.begin:
			cur = r
			if p.late.Len() > 0 {
				cur.sink.add("stdout", "[output of an earlier run]\n"+p.late.String()+"\n[output of this run]\n")
				p.late.Reset()
			}
		case msg := <-msgs:
			switch {
			case msg.end:
				open--
				if msg.stream < 2 {
					m.ended[msg.stream] = true
				} else if ends != nil {
					cut = time.After(500 * time.Millisecond)
				}
			case msg.stream < 2:
				m.addRaw(msg.stream, msg.item)
			default:
				m.addEvent(msg.event)
			}
		case <-ends:
			ends, last = nil, time.After(time.Second)
		case <-cut:
			p.proc.Kill() // it has closed its connection: nothing can be run in it any more
		case <-last:
			open = 0
		case <-stuck.C:
			m.force()
		}
		cur = p.deliver(&m, cur)
		if m.waiting() {
			stuck.Reset(200 * time.Millisecond)
		} else {
			stuck.Stop()
		}
	}
	for m.waiting() {
		m.force()
		cur = p.deliver(&m, cur)
	}
	return cur
}

func (p *process) deliver(m *merger, cur *run) *run {
	for {
		stream, data, e, ok := m.next()
		switch {
		case !ok:
			return cur
		case e == nil && cur != nil:
			cur.sink.raw(stream, data)
		case e == nil:
			p.keep(string(data))
		case e.Kind == "ready":
			select {
			case p.ready <- e.Python:
			default:
			}
		case e.Kind == "out" && cur != nil:
			cur.sink.add(e.Stream, e.Text)
		case e.Kind == "out":
			p.keep(e.Text)
		case e.Kind == "show" && cur != nil:
			cur.sink.show(e.Data)
		case e.Kind == "done" && cur != nil && e.Token == cur.token:
			cur.result = e
			close(cur.done)
			cur = nil
		}
	}
}

// keep holds output for which no run is there.
func (p *process) keep(text string) {
	if p.startErr.Len() < 4096 {
		p.startErr.WriteString(clip(text, 4096))
	}
	if room := maxLate - p.late.Len(); room > 0 {
		p.late.WriteString(clip(text, room))
	}
}
