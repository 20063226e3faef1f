package engine

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"time"

	"atoll/llm"
	"atoll/llm/engine/wire"
)

// patience is how long a worker may take to answer a cancellation before it
// is killed. It normally takes well under 300 ms.
const patience = 2 * time.Second

// A session is one worker process from start to end. run is called by one
// goroutine at a time; over, kill and close by any.
type session struct {
	p      Process
	out    *wire.Writer
	events chan wire.Event // closed when the worker's output ends
	quit   chan struct{}   // closed by close: nobody takes events any more
	ended  chan struct{}   // closed when the process is gone; then exit is set
	exit   error
	stderr tail
	wg     sync.WaitGroup
	once   sync.Once
}

// start starts a worker for o and the goroutines that listen to it. They end
// with the process; close awaits them.
func start(o Options) (*session, error) {
	p, err := o.Launch(context.Background(), worker(o))
	if err != nil {
		return nil, err
	}
	s := &session{
		p: p, out: wire.NewWriter(p.Stdin()),
		events: make(chan wire.Event, 64), quit: make(chan struct{}), ended: make(chan struct{}),
	}
	var readers sync.WaitGroup
	readers.Go(s.readEvents)
	readers.Go(func() { s.stderr.read(p.Stderr()) })
	s.wg.Go(func() {
		readers.Wait() // before Wait, which closes the pipes
		s.exit = p.Wait()
		close(s.ended)
	})
	return s, nil
}

func (s *session) readEvents() {
	defer close(s.events)
	r := bufio.NewReader(s.p.Stdout())
	for {
		var e wire.Event
		if err := wire.Read(r, &e); err != nil {
			if !errors.Is(err, io.EOF) {
				s.kill() // it speaks no frames: nothing more can be had from it
			}
			return
		}
		select {
		case s.events <- e:
		case <-s.quit:
			return
		}
	}
}

// over reports whether the process is gone.
func (s *session) over() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

func (s *session) kill() { _ = s.p.Kill() } // it may be gone already

// close ends the process and waits for it and for the readers.
func (s *session) close() {
	s.once.Do(func() {
		close(s.quit)
		s.kill()
		_ = s.p.Stdin().Close() // the process is gone
	})
	s.wg.Wait()
}

// run sends c and passes its events to on until the last. When on returns
// false or ctx ends the worker is told to stop, and run returns once it did.
func (s *session) run(ctx context.Context, c wire.Command, on func(wire.Event) bool) error {
	if err := s.out.Write(c); err != nil {
		if s.waitEnd() {
			return s.crashed()
		}
		return err // too large a request; the worker is well
	}
	for {
		select {
		case e, ok := <-s.events:
			switch {
			case !ok:
				s.kill()
				<-s.ended
				return s.crashed()
			case e.ID != c.ID: // the end of a command that was given up
				continue
			case e.Fault != nil:
				if e.Fault.Final {
					s.kill()
					<-s.ended
				}
				return faultError(e.Fault)
			}
			if !on(e) {
				if e.Last() {
					return nil
				}
				return s.stop(c.ID, nil)
			}
			if e.Last() {
				return nil
			}
		case <-ctx.Done():
			return s.stop(c.ID, ctx.Err())
		}
	}
}

// stop cancels the command id and waits until the worker has stopped. It
// returns why, or that the worker crashed.
func (s *session) stop(id int64, why error) error {
	if err := s.out.Write(wire.Command{ID: id, Cancel: true}); err != nil {
		s.kill()
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		select {
		case e, ok := <-s.events:
			if !ok {
				s.kill()
				<-s.ended
				return why
			}
			if e.ID == id && e.Last() {
				return why
			}
		case <-late.C:
			s.kill() // the next command starts a new worker
		}
	}
}

// waitEnd reports whether the process ends soon: a pipe breaks a moment
// before its process is gone.
func (s *session) waitEnd() bool {
	soon := time.NewTimer(patience)
	defer soon.Stop()
	select {
	case <-s.ended:
		return true
	case <-soon.C:
		return false
	}
}

// crashed describes the end of the process; it has ended.
func (s *session) crashed() error {
	how := "without a word"
	if s.exit != nil {
		how = s.exit.Error()
	}
	if words := s.stderr.lines(); len(words) > 0 {
		how += "; its last words: " + strings.Join(words, " | ")
	}
	return fmt.Errorf("%w (%s); it is started again at the next request; if it happens again, choose another model or a smaller context", llm.ErrCrashed, how)
}

// faultError turns what the worker reports into an error of package llm.
func faultError(f *wire.Fault) error {
	var is error
	switch f.Kind {
	case wire.KindEngine:
		is = llm.ErrEngine
	case wire.KindModel:
		is = llm.ErrBadModel
	case wire.KindMemory:
		is = llm.ErrNoMemory
	case wire.KindContext:
		is = llm.ErrContextFull
	case wire.KindCancelled:
		is = context.Canceled
	default:
		return errors.New(f.Text)
	}
	return fmt.Errorf("%w: %s", is, f.Text)
}

// tail keeps the last lines of a worker's standard error. They are the
// library's words, never the person's or the model's.
type tail struct {
	mu   sync.Mutex
	last []string
}

const tailLines, lineBytes = 12, 400

// The Go runtime of the worker reports a signal or panic in one of these
// lines, and then prints stacks and registers that would push out what the
// library said before.
var dump = regexp.MustCompile(`^(SIG[A-Z]+: |fatal error: |panic: |unexpected fault address)`)

func (t *tail) read(r io.Reader) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	dumping := false
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if line == "" || dumping {
			continue
		}
		dumping = dump.MatchString(line)
		t.mu.Lock()
		if len(t.last) == tailLines {
			t.last = t.last[1:]
		}
		t.last = append(t.last, line[:min(len(line), lineBytes)])
		t.mu.Unlock()
	}
	_, _ = io.Copy(io.Discard, r) // after a line too long: a full pipe would stop the worker
}

func (t *tail) lines() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]string(nil), t.last...)
}
