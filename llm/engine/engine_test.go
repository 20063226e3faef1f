package engine_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atoll/llm"
	"atoll/llm/engine"
	"atoll/llm/engine/tiny"
	"atoll/llm/engine/worker"
	"atoll/llm/harness"
)

// The test binary is its own worker, as the program is.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "worker" && os.Args[2] == "model" {
		os.Exit(worker.Main())
	}
	os.Exit(m.Run())
}

// libDir returns the folder of the inference libraries, or skips the test.
func libDir(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("ATOLL_ENGINE_DIR")
	if dir == "" {
		dir = filepath.Join("..", "..", "bin", "engine")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "libllama.so")); err != nil {
		t.Skipf("SKIPPED, THE ENGINE IS NOT TESTED: no inference libraries in %s; set ATOLL_ENGINE_DIR", dir)
	}
	return dir
}

// tinyModel writes the tiny model under a name with letters beyond ASCII.
func tinyModel(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "модель 模型.gguf")
	if err := tiny.Write(path); err != nil {
		t.Fatal(err)
	}
	return path
}

func newEngine(t testing.TB, path string, change ...func(*engine.Options)) *engine.Engine {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o := engine.Options{Path: path, LibDir: libDir(t), Threads: 1, Launch: engine.Exec(self)}
	for _, c := range change {
		c(&o)
	}
	e := engine.New(o)
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func ptr[T any](v T) *T { return &v }

// ask is a prompt with greedy sampling.
func ask(text string, limit int) harness.Prompt {
	return harness.Prompt{
		Messages: []harness.Turn{{Role: "user", Content: text}},
		Sampling: llm.Sampling{Temperature: ptr(0.0)}, Max: limit,
	}
}

// collect runs p to its end.
func collect(ctx context.Context, e *engine.Engine, p harness.Prompt) (string, llm.Done, error) {
	var text strings.Builder
	var done llm.Done
	for piece, err := range e.Complete(ctx, p) {
		if err != nil {
			return text.String(), done, err
		}
		text.WriteString(piece.Text)
		if piece.Done != nil {
			done = *piece.Done
		}
	}
	return text.String(), done, nil
}

func complete(t *testing.T, e *engine.Engine, p harness.Prompt) (string, llm.Done) {
	t.Helper()
	text, done, err := collect(t.Context(), e, p)
	if err != nil {
		t.Fatal(err)
	}
	return text, done
}

func TestCompleteIsRepeatable(t *testing.T) {
	e := newEngine(t, tinyModel(t))
	a, done := complete(t, e, ask("hello", 40))
	if len(a) < 10 || done.Stop != llm.StopLength || done.Usage.Output != 40 || done.Usage.Cached != 0 {
		t.Fatalf("got %q, %+v", a, done)
	}
	b, done := complete(t, e, ask("hello", 40))
	if a != b {
		t.Errorf("greedy sampling twice: %q and %q", a, b)
	}
	if done.Usage.Cached != done.Usage.Prompt-1 {
		t.Errorf("the same prompt again reused %d of %d tokens, want all but the last", done.Usage.Cached, done.Usage.Prompt)
	}
	if c, _ := complete(t, newEngine(t, tinyModel(t)), ask("hello", 40)); c != a {
		t.Errorf("another worker: %q, want %q", c, a)
	}
	i := e.Info()
	if i.Context != tiny.Context || i.ContextTrain != tiny.Context || !i.Local || i.Size == 0 || i.Name != "модель 模型" || !strings.HasPrefix(i.Device, "CPU (") {
		t.Errorf("Info: %+v", i)
	}
}

func TestMissingLibrary(t *testing.T) {
	dir := t.TempDir()
	e := newEngine(t, tinyModel(t), func(o *engine.Options) { o.LibDir = dir })
	_, _, err := collect(t.Context(), e, ask("x", 1))
	if !errors.Is(err, llm.ErrEngine) || !strings.Contains(err.Error(), "missing") || !strings.Contains(err.Error(), dir) {
		t.Errorf("got %v", err)
	}
}

func TestMissingFiles(t *testing.T) {
	never := func(context.Context, engine.Worker) (engine.Process, error) {
		t.Error("a worker was started")
		return nil, errors.New("no")
	}
	gone := filepath.Join(t.TempDir(), "gone")
	for name, c := range map[string]struct {
		o    engine.Options
		is   error
		want string
	}{
		"model":     {engine.Options{Path: gone, LibDir: t.TempDir(), Launch: never}, llm.ErrBadModel, "moved or deleted"},
		"libraries": {engine.Options{Path: tinyModel(t), LibDir: gone, Launch: never}, llm.ErrEngine, "engine is missing"},
		"launcher":  {engine.Options{Path: tinyModel(t), LibDir: t.TempDir()}, llm.ErrEngine, "no launcher"},
	} {
		t.Run(name, func(t *testing.T) {
			e := engine.New(c.o)
			defer e.Close()
			_, _, err := collect(t.Context(), e, ask("x", 1))
			if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %v with %q", err, c.is, c.want)
			}
		})
	}
}
