package kernel

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"atoll/sandbox"
)

// A Python is a [Session] that runs Python. New makes it; its process starts
// with the first run or with Start.
type Python struct {
	o    Options
	turn chan struct{} // holds one token: whoever has it may use what follows
	p    *process      // nil: none is running
	n    int           // number of the last run
	lost string        // why the variables are gone, told with the next run
	// enter makes the next run enter its folder anew: what lies at its path has
	// changed (see [sandbox.Layerer]).
	enter bool

	mu     sync.Mutex
	closed bool
	quit   chan struct{}
}

// request is one cell for the driver.
type request struct {
	N     int    `json:"n"`
	Token string `json:"token"`
	Code  string `json:"code"`
	Enter bool   `json:"enter,omitempty"` // the working folder anew
	// Plans replaces what load() knows of the files; absent when it is the same.
	Plans []json.RawMessage `json:"plans,omitzero"`
}

// resend is the time after which a program that goes on is interrupted again:
// a bare "except" swallows an interrupt.
const resend = 300 * time.Millisecond

// New returns a session that runs nothing yet. It fails when the options do
// not fit together.
func New(o Options) (*Python, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	s := &Python{o: o, turn: make(chan struct{}, 1), quit: make(chan struct{})}
	s.turn <- struct{}{}
	return s, nil
}

var _ Session = (*Python)(nil)

func (o Options) maxText() int64 { return orDefault(o.MaxText, defaultText) }
func (o Options) maxLog() int64  { return orDefault(o.MaxLog, defaultLog) }

func orDefault(v, def int64) int64 {
	if v > 0 {
		return v
	}
	return def
}

// Start starts the interpreter if none is running, so that the first run need
// not wait. Errors: those of the runner, [ErrStart], [ErrClosed], or the
// context's.
func (s *Python) Start(ctx context.Context) error {
	if err := s.take(ctx); err != nil {
		return err
	}
	defer s.give()
	return s.ensure(ctx)
}

// take waits for the session to be free.
func (s *Python) take(ctx context.Context) error {
	select {
	case <-s.quit:
		return ErrClosed
	default:
	}
	select {
	case <-s.turn:
		return nil
	case <-s.quit:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Python) give() { s.turn <- struct{}{} }

// ensure has an interpreter running.
func (s *Python) ensure(ctx context.Context) error {
	if s.p != nil {
		select {
		case <-s.p.gone:
			s.drop("Python had ended between the runs (" + describe(s.p.exit) + ")")
		default:
			return nil
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		select {
		case <-s.quit:
			cancel()
		case <-stop:
		}
	})
	p, err := launch(ctx, s.o)
	close(stop)
	wg.Wait()
	if err != nil {
		select {
		case <-s.quit:
			return ErrClosed
		default:
			return err
		}
	}
	s.p = p
	return nil
}

// drop forgets an interpreter that is gone.
func (s *Python) drop(why string) {
	s.p.cancel()
	s.p.req.Close()
	s.p, s.lost = nil, why
}

// Run implements [Session]. When ctx ends before the code was started the
// status is Interrupted and the note says so.
func (s *Python) Run(ctx context.Context, code string, out func(Output)) (Result, error) {
	if err := s.take(ctx); err != nil {
		return notStarted(ctx, err)
	}
	defer s.give()
	return s.run(ctx, code, out, nil)
}

// run needs the token. With only, it runs in no other process than that one.
func (s *Python) run(ctx context.Context, code string, out func(Output), only sandbox.Process) (Result, error) {
	for attempt := 0; ; attempt++ {
		if err := s.ensure(ctx); err != nil {
			return notStarted(ctx, err)
		}
		if only != nil && s.p.proc != only {
			return Result{}, fmt.Errorf("%w: it ended just before the run", ErrStart)
		}
		s.n++
		r := &run{token: randomHex(), done: make(chan struct{})}
		logPath := ""
		if s.o.LogDir != "" {
			logPath = filepath.Join(s.o.LogDir, fmt.Sprintf("run-%s-%04d.log", time.Now().UTC().Format("20060102-150405"), s.n))
		}
		r.sink = newSink(out, s.o.maxText(), s.o.maxLog(), logPath)
		select {
		case s.p.begin <- r:
		case <-s.p.gone: // it ended just now
			if attempt == 0 {
				continue
			}
			return Result{}, fmt.Errorf("%w: %s", ErrStart, describe(s.p.exit))
		}
		return s.finish(ctx, r, code)
	}
}

func notStarted(ctx context.Context, err error) (Result, error) {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return Result{Status: Interrupted, Note: "The run was stopped before it began."}, nil
	}
	return Result{}, err
}

// finish sends the code and waits for its end.
func (s *Python) finish(ctx context.Context, r *run, code string) (Result, error) {
	begin := time.Now()
	note := ""
	if s.lost != "" {
		note = s.lost + ". Variables and imports of earlier runs are lost; Python was started anew."
		s.lost = ""
	}
	b, err := json.Marshal(request{N: s.n, Token: r.token, Code: code, Enter: s.enter, Plans: s.plans()})
	if err != nil {
		return Result{}, fmt.Errorf("run code: %w", err)
	}
	s.enter = false
	recorder, _ := s.p.proc.(sandbox.Recorder)
	before := recordOf(recorder)
	if s.p.send(append(b, '\n')) != nil {
		s.p.proc.Kill() // it takes no requests: what became of it is reported below
	}
	stopped := s.await(ctx, r)
	if stopped != OK && r.result != nil && !s.sweep() {
		r.result = nil // died says it
	}
	res := Result{Took: time.Since(begin), Note: note}
	if now := recordOf(recorder); now != nil {
		if before != nil {
			*now = now.Sub(*before)
		}
		res.Record = now
	}
	var driverCut int64
	if r.result != nil {
		driverCut = min(r.result.Cut, 1<<50) // it may say anything
	}
	res.Cut, res.Log = r.sink.close(driverCut)
	if r.result == nil {
		s.died(&res, stopped)
		return res, nil
	}
	fill(&res, r.result, code, s.n, stopped, s.o)
	return res, nil
}

// recordOf returns what r has seen so far, nil when it says nothing: a run is
// not failed for that.
func recordOf(r sandbox.Recorder) *sandbox.Record {
	if r == nil {
		return nil
	}
	now, err := r.Record()
	if err != nil {
		return nil
	}
	return &now
}

// plans is how to load the attached files, when the interpreter does not know
// it yet.
func (s *Python) plans() []json.RawMessage {
	if s.o.Plans == nil {
		return nil
	}
	now := s.o.Plans()
	if slices.EqualFunc(now, s.p.plans, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }) {
		return nil
	}
	s.p.plans = now
	if now == nil {
		return []json.RawMessage{}
	}
	return now
}

// await waits until the run is done. When it has to be stopped before, it
// returns how: Interrupted or TimedOut, else OK.
func (s *Python) await(ctx context.Context, r *run) Status {
	over, release := s.overtime(ctx)
	defer release()
	stopped := OK
	select {
	case <-r.done:
		return OK
	case <-ctx.Done():
		stopped = Interrupted
	case <-s.quit:
		s.p.proc.Kill()
		<-r.done
		return Interrupted
	case <-over:
		stopped = TimedOut
	}
	release() // nobody is asked any more
	end := time.NewTimer(sandbox.Grace)
	defer end.Stop()
	again := time.NewTicker(resend)
	defer again.Stop()
	for {
		s.p.proc.Interrupt() // if that fails the kill below does not
		select {
		case <-r.done:
			return stopped
		case <-again.C:
			continue
		case <-s.quit:
		case <-end.C:
		}
		s.p.proc.Kill()
		<-r.done // the process is gone within two seconds
		return stopped
	}
}

// overtime returns a channel that is closed when the time of a run is up and it
// is given no more. release ends that, and returns when nobody is asked any
// more.
func (s *Python) overtime(ctx context.Context) (over <-chan struct{}, release func()) {
	if s.o.Timeout <= 0 {
		return nil, func() {}
	}
	up := make(chan struct{})
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		begin := time.Now()
		for wait(ctx, s.o.Timeout) {
			if s.o.Overtime == nil || !s.more(ctx, time.Since(begin)) {
				if ctx.Err() == nil { // else it is stopped for another reason
					close(up)
				}
				return
			}
		}
	})
	return up, func() { cancel(); wg.Wait() }
}

// more asks for more time, for as long as that would be.
func (s *Python) more(ctx context.Context, ran time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, s.o.Timeout)
	defer cancel()
	return s.o.Overtime(ctx, ran) && ctx.Err() == nil
}

// wait reports whether d went by before ctx ended.
func wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// sweep ends what a run that was stopped has started: what has left the
// interpreter's process group, or ignores signals, was not interrupted. It
// returns false when only the end of the interpreter could do that. A run that
// ended by itself is not swept up after: what it left in the background is
// meant to live on.
func (s *Python) sweep() bool {
	w, ok := s.p.proc.(sandbox.Sweeper)
	if !ok || w.Sweep() == nil {
		return true
	}
	s.p.proc.Kill()
	return false
}

// died reports the end of the interpreter.
func (s *Python) died(res *Result, stopped Status) {
	<-s.p.gone
	exit := s.p.exit
	res.Exit, res.Status = &exit, Died
	why := "Python ended (" + describe(exit) + ")"
	switch stopped {
	case TimedOut:
		res.Status = TimedOut
		why = fmt.Sprintf("The run took longer than %v, did not stop when asked, and was ended", given(s.o, res.Took))
	case Interrupted:
		why = "The run did not stop when asked and was ended"
	}
	if res.Note != "" {
		res.Note += " "
	}
	res.Note += why + ". All variables and imports are lost; the next run starts a new Python."
	s.drop(why)
}

// Close implements [Session]. A run that goes on is ended.
func (s *Python) Close() error {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.quit)
	}
	s.mu.Unlock()
	<-s.turn
	defer s.give()
	if s.p != nil {
		s.p.kill()
		s.p = nil
	}
	return nil
}
