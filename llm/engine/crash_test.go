package engine_test

import (
	"context"
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"atoll/llm"
	"atoll/llm/engine"
)

// keeper remembers the processes that a launcher started.
type keeper struct {
	mu      sync.Mutex
	started []engine.Process
}

func (k *keeper) wrap(l engine.Launcher) engine.Launcher {
	return func(ctx context.Context, w engine.Worker) (engine.Process, error) {
		p, err := l(ctx, w)
		if err == nil {
			k.mu.Lock()
			k.started = append(k.started, p)
			k.mu.Unlock()
		}
		return p, err
	}
}

func (k *keeper) last() engine.Process {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.started[len(k.started)-1]
}

func (k *keeper) count() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.started)
}

func TestCrashAndReload(t *testing.T) {
	var k keeper
	e := newEngine(t, tinyModel(t), func(o *engine.Options) { o.Launch = k.wrap(o.Launch) })
	want, _ := complete(t, e, ask("hello", 20))

	pieces, last := 0, error(nil)
	for piece, err := range e.Complete(t.Context(), ask("hello", 1500)) {
		last = err
		if piece.Text != "" {
			if pieces++; pieces == 3 {
				if err := k.last().Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if pieces < 3 || !errors.Is(last, llm.ErrCrashed) || !strings.Contains(last.Error(), "killed") {
		t.Fatalf("%d pieces, then %v", pieces, last)
	}
	if got, done := complete(t, e, ask("hello", 20)); got != want || done.Usage.Cached != 0 {
		t.Errorf("after the crash: %q (%d cached), want %q from a new worker", got, done.Usage.Cached, want)
	}
	if k.count() != 2 {
		t.Errorf("%d workers were started, want 2", k.count())
	}
	// Between two requests as well.
	if err := k.last().Kill(); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the end may be seen at the next request or one later
		var got string
		got, _, err := collect(t.Context(), e, ask("hello", 20))
		if err == nil && got == want {
			return
		}
		if err != nil && !errors.Is(err, llm.ErrCrashed) {
			t.Fatal(err)
		}
	}
	t.Error("a worker that died between requests was not replaced")
}

func TestWorkerDiesWithItsHost(t *testing.T) {
	var k keeper
	e := newEngine(t, tinyModel(t), func(o *engine.Options) { o.Launch = k.wrap(o.Launch) })
	var last error
	closed := false
	for piece, err := range e.Complete(t.Context(), ask("hello", 1500)) {
		last = err
		if piece.Text != "" && !closed {
			closed = true
			if err := k.last().Stdin().Close(); err != nil { // what a dead host looks like
				t.Fatal(err)
			}
		}
	}
	// A worker that was faster has said all before it saw that nobody is there.
	if last != nil && !errors.Is(last, llm.ErrCrashed) {
		t.Errorf("without a host: %v", last)
	}
	for range 100 { // its end may be seen some requests later
		if _, _, err := collect(t.Context(), e, ask("hello", 5)); err != nil && !errors.Is(err, llm.ErrCrashed) {
			t.Fatal(err)
		}
		if k.count() == 2 {
			return
		}
	}
	t.Error("the worker went on without a host")
}

func TestUnloadAndClose(t *testing.T) {
	var k keeper
	e := newEngine(t, tinyModel(t), func(o *engine.Options) { o.Launch = k.wrap(o.Launch) })
	if e.Loaded() {
		t.Error("loaded before anything")
	}
	var steps []float64
	if err := e.Load(t.Context(), func(f float64) { steps = append(steps, f) }); err != nil {
		t.Fatal(err)
	}
	if !e.Loaded() || len(steps) < 2 || !slices.IsSorted(steps) || steps[len(steps)-1] != 1 {
		t.Errorf("loaded: %v in steps %v", e.Loaded(), steps)
	}
	if err := e.Load(t.Context(), nil); err != nil || k.count() != 1 {
		t.Errorf("a second Load: %v, %d workers", err, k.count())
	}
	if err := e.Unload(); err != nil || e.Loaded() {
		t.Errorf("Unload: %v, loaded %v", err, e.Loaded())
	}
	if text, _ := complete(t, e, ask("x", 3)); text == "" || k.count() != 2 {
		t.Errorf("after Unload: %q from worker %d", text, k.count())
	}
	ended := make(chan error, 1)
	begun := make(chan struct{})
	go func() {
		var last error
		first := true
		for piece, err := range e.Complete(context.Background(), ask("x", 1900)) {
			last = err
			if piece.Text != "" && first {
				first = false
				close(begun)
			}
		}
		ended <- last
	}()
	<-begun
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil && !errors.Is(err, engine.ErrClosed) { // nil: it was done first
		t.Errorf("a completion during Close ended with %v", err)
	}
	if _, _, err := collect(t.Context(), e, ask("x", 1)); !errors.Is(err, engine.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

func TestNotAWorker(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	here := t.TempDir()
	for name, c := range map[string]struct {
		script, want string
	}{
		"chatter":         {"echo hello, I am no worker", "end"},
		"ends at once":    {"echo last words >&2; exit 7", "last words"},
		"speaks no frame": {"cat >/dev/null & echo xxxxxxxxxxxxxxxx; wait", "end"},
	} {
		t.Run(name, func(t *testing.T) {
			e := engine.New(engine.Options{Path: here, LibDir: here, Launch: engine.Exec("/bin/sh", "-c", c.script)})
			defer e.Close()
			_, _, err := collect(t.Context(), e, ask("x", 1))
			if !errors.Is(err, llm.ErrCrashed) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v", err)
			}
		})
	}
	e := engine.New(engine.Options{Path: here, LibDir: here, Launch: func(context.Context, engine.Worker) (engine.Process, error) { return nil, io.ErrClosedPipe }})
	defer e.Close()
	if _, _, err := collect(t.Context(), e, ask("x", 1)); !errors.Is(err, llm.ErrEngine) || !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("a launcher that fails: %v", err)
	}
}

func TestNotEnoughMemory(t *testing.T) {
	free := int64(100 << 10)
	e := newEngine(t, tinyModel(t), func(o *engine.Options) { o.Memory = func() int64 { return free } })
	_, _, err := collect(t.Context(), e, ask("x", 1))
	if !errors.Is(err, llm.ErrNoMemory) || !strings.Contains(err.Error(), "is free") {
		t.Errorf("a file larger than memory: %v", err)
	}
	free = 10 << 20
	if _, _, err = collect(t.Context(), e, ask("x", 1)); !errors.Is(err, llm.ErrNoMemory) {
		t.Errorf("no room to compute: %v", err)
	}
	free = 1 << 30
	if _, _, err = collect(t.Context(), e, ask("x", 1)); err != nil {
		t.Errorf("enough memory: %v", err)
	}
}
