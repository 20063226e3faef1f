package local_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"atoll/llm"
	"atoll/llm/engine"
	"atoll/llm/engine/tiny"
	"atoll/llm/engine/worker"
	"atoll/llm/harness"
	"atoll/llm/local"

	"github.com/google/go-cmp/cmp"
)

// The test binary is its own worker, as the program is.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "worker" && os.Args[2] == "model" {
		os.Exit(worker.Main())
	}
	os.Exit(m.Run())
}

func libDir(t *testing.T) string {
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
		t.Skipf("SKIPPED, LOCAL MODELS ARE NOT TESTED: no inference libraries in %s; set ATOLL_ENGINE_DIR", dir)
	}
	return dir
}

// A shelf of fixed files.
type shelf []local.File

func (s shelf) List() ([]local.File, error) { return s, nil }

func (s shelf) Find(name string) (local.File, error) {
	for _, f := range s {
		if f.Name == name {
			return f, nil
		}
	}
	return local.File{}, errors.New("the shelf has a and b")
}

// plain is a dialect that passes text through.
type plain struct{}

func (plain) Name() string { return "plain" }

func (plain) Render(req *llm.Request) (harness.Prompt, error) {
	p := harness.Prompt{Sampling: req.Sampling, Max: req.MaxTokens}
	for _, m := range req.Messages {
		p.Messages = append(p.Messages, harness.Turn{Role: string(m.Role), Content: m.Text})
	}
	return p, nil
}

func (plain) Parser(*llm.Request) harness.Parser { return plainParser{} }

type plainParser struct{}

func (plainParser) Push(s string) []llm.Delta       { return []llm.Delta{{Text: s}} }
func (plainParser) Close(bool) ([]llm.Delta, error) { return nil, nil }

// newProvider returns a provider of two tiny models, a and b, and a broken
// entry, and the workers it starts.
func newProvider(t *testing.T, lib string) (*local.Provider, *[]engine.Process) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var files shelf
	for _, name := range []string{"a", "b"} {
		path := filepath.Join(dir, name+".gguf")
		if err := tiny.Write(path); err != nil {
			t.Fatal(err)
		}
		files = append(files, local.File{Name: name, Title: "Model " + name, Path: path, Size: 7, Context: 99})
	}
	files = append(files, local.File{Name: "broken", Problem: "incomplete (60 %)"})
	var mu sync.Mutex
	var started []engine.Process
	launch := engine.Exec(self)
	p := local.New(local.Options{
		Shelf: files,
		Engine: engine.Options{LibDir: lib, Threads: 1, Launch: func(ctx context.Context, w engine.Worker) (engine.Process, error) {
			mu.Lock()
			defer mu.Unlock()
			proc, err := launch(ctx, w)
			if err == nil {
				started = append(started, proc)
			}
			return proc, err
		}},
		Pick: func(llm.Info) harness.Harness { return plain{} },
	})
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p, &started
}

func request(limit int) *llm.Request {
	greedy := 0.0
	return &llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "hello"}}, Sampling: llm.Sampling{Temperature: &greedy}, MaxTokens: limit}
}

func open(t *testing.T, p *local.Provider, name string) llm.Model {
	t.Helper()
	m, err := p.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestModelsAndOpen(t *testing.T) {
	p, _ := newProvider(t, "nowhere")
	infos, err := p.Models(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []llm.Info{
		{Ref: "local/a", Name: "Model a", ContextTrain: 99, Local: true, Size: 7},
		{Ref: "local/b", Name: "Model b", ContextTrain: 99, Local: true, Size: 7},
	}
	if d := cmp.Diff(want, infos); d != "" {
		t.Error(d)
	}
	if i := open(t, p, "a").Info(); i.Ref != "local/a" || i.Harness != "plain" || i.Name != "Model a" || i.ContextTrain != 99 || i.Context != 0 {
		t.Errorf("Info: %+v", i)
	}
	for name, is := range map[string]error{
		"c": llm.ErrUnknownModel, "broken": llm.ErrBadModel, "": llm.ErrUnknownModel,
		filepath.Join(t.TempDir(), "gone.gguf"): llm.ErrUnknownModel,
	} {
		if _, err := p.Open(t.Context(), name); !errors.Is(err, is) {
			t.Errorf("Open(%q): %v, want %v", name, err, is)
		}
	}
	if _, err := p.Open(t.Context(), "c"); !strings.Contains(err.Error(), "the shelf has a and b") {
		t.Errorf("the shelf's advice is lost: %v", err)
	}
	path := filepath.Join(t.TempDir(), "модель.gguf")
	if err := tiny.Write(path); err != nil {
		t.Fatal(err)
	}
	if i := open(t, p, path).Info(); i.Ref != llm.Ref("local/"+path) || i.Name != "модель" || i.Size == 0 {
		t.Errorf("Info of a path: %+v", i)
	}
	if _, name := llm.Ref("local/" + path).Split(); name != path {
		t.Errorf("the reference leads to %q", name)
	}
}

func TestOneModelInMemory(t *testing.T) {
	p, started := newProvider(t, libDir(t))
	a, b := open(t, p, "a"), open(t, p, "b")
	if _, ok := p.Loaded(); ok {
		t.Error("loaded before anything")
	}
	first, done, err := a.Generate(t.Context(), request(20)).Collect()
	if err != nil || len(first.Text) != 20 || done.Usage.Output != 20 {
		t.Fatalf("%+v, %+v, %v", first, done, err)
	}
	if i, ok := p.Loaded(); !ok || i.Ref != "local/a" || i.Context == 0 {
		t.Errorf("loaded: %+v", i)
	}
	second, _, err := b.Generate(t.Context(), request(20)).Collect()
	if err != nil || second.Text != first.Text {
		t.Errorf("%+v, %v", second, err)
	}
	if i, ok := p.Loaded(); !ok || i.Ref != "local/b" {
		t.Errorf("loaded: %+v", i)
	}
	if len(*started) != 2 {
		t.Errorf("%d workers", len(*started))
	}
	if n, err := open(t, p, "b").Count(t.Context(), request(0)); err != nil || n < 10 || len(*started) != 2 {
		t.Errorf("the same model opened again: %d tokens, %v, %d workers", n, err, len(*started))
	}
	if err := b.(llm.Loader).Unload(); err != nil {
		t.Error(err)
	}
	if i, ok := p.Loaded(); ok {
		t.Errorf("after Unload: %+v", i)
	}
	loads := 0
	if err := a.(llm.Loader).Load(t.Context(), func(float64) { loads++ }); err != nil || loads == 0 {
		t.Errorf("Load: %v, %d steps", err, loads)
	}
	if i := a.Info(); i.Context != tiny.Context || i.Harness != "plain" || i.Name != "Model a" {
		t.Errorf("Info after loading: %+v", i)
	}
}

// Another model waits for the end of a running generation, then takes over.
func TestLoadingAnotherWaits(t *testing.T) {
	p, _ := newProvider(t, libDir(t))
	a, b := open(t, p, "a"), open(t, p, "b")
	other := make(chan error, 1)
	text, asked := 0, false
	for d, err := range a.Generate(t.Context(), request(200)) {
		if err != nil {
			t.Fatal(err)
		}
		text += len(d.Text)
		if d.Text != "" && !asked {
			asked = true
			go func() {
				_, _, err := b.Generate(context.Background(), request(3)).Collect()
				other <- err
			}()
		}
		if i, ok := p.Loaded(); asked && (!ok || i.Ref != "local/a") {
			t.Fatalf("in the middle of a's answer %+v is loaded", i)
		}
	}
	if text != 200 {
		t.Errorf("a's answer has %d bytes of 200", text)
	}
	if err := <-other; err != nil {
		t.Error(err)
	}
	if i, _ := p.Loaded(); i.Ref != "local/b" {
		t.Errorf("loaded at the end: %+v", i)
	}
}

func TestCrashIsSurvived(t *testing.T) {
	p, started := newProvider(t, libDir(t))
	a := open(t, p, "a")
	var last error
	for d, err := range a.Generate(t.Context(), request(1900)) {
		last = err
		if d.Text != "" {
			if err := (*started)[0].Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
				t.Fatal(err)
			}
		}
	}
	if !errors.Is(last, llm.ErrCrashed) {
		t.Fatalf("got %v", last)
	}
	if m, _, err := a.Generate(t.Context(), request(5)).Collect(); err != nil || len(m.Text) != 5 || len(*started) != 2 {
		t.Errorf("after the crash: %+v, %v, %d workers", m, err, len(*started))
	}
}

// The dialect is picked by what the loaded model tells, before the first
// request is written.
func TestPickKnowsTheModel(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "a.gguf")
	if err := tiny.Write(path); err != nil {
		t.Fatal(err)
	}
	var wrote []llm.Info
	p := local.New(local.Options{
		Shelf:  shelf{{Name: "a", Path: path}},
		Engine: engine.Options{LibDir: libDir(t), Threads: 1, Launch: engine.Exec(self)},
		Pick:   func(i llm.Info) harness.Harness { return noting{&wrote, i} },
	})
	defer p.Close()
	m := open(t, p, "a")
	if h := m.Info().Harness; h != "unknown" {
		t.Errorf("before loading: %s", h)
	}
	phases := ""
	for d, err := range m.Generate(t.Context(), request(3)) {
		if err != nil {
			t.Fatal(err)
		}
		if d.Load != nil && !strings.HasSuffix(phases, d.Load.Phase) {
			phases += " " + d.Load.Phase
		}
	}
	if phases != " load prompt" {
		t.Errorf("phases:%s", phases)
	}
	if len(wrote) != 1 || wrote[0].ChatTemplate != tiny.Template || wrote[0].Parameters == 0 || m.Info().Harness != "known" {
		t.Errorf("written for %+v", wrote)
	}
	if err := m.(llm.Loader).Unload(); err != nil {
		t.Fatal(err)
	}
	for range m.Generate(t.Context(), request(3)) {
		break // leaving while it loads ends the stream
	}
	if _, _, err := m.Generate(t.Context(), request(3)).Collect(); err != nil {
		t.Errorf("after leaving early: %v", err)
	}
}

// noting is a dialect that notes for which model it writes.
type noting struct {
	wrote *[]llm.Info
	info  llm.Info
}

func (n noting) Name() string {
	if n.info.ChatTemplate == "" {
		return "unknown"
	}
	return "known"
}

func (n noting) Render(req *llm.Request) (harness.Prompt, error) {
	*n.wrote = append(*n.wrote, n.info)
	return plain{}.Render(req)
}

func (noting) Parser(*llm.Request) harness.Parser { return plainParser{} }

func TestClosed(t *testing.T) {
	p, _ := newProvider(t, "nowhere")
	a := open(t, p, "a")
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Open(t.Context(), "b"); !errors.Is(err, engine.ErrClosed) {
		t.Errorf("Open: %v", err)
	}
	if _, _, err := a.Generate(t.Context(), request(1)).Collect(); !errors.Is(err, engine.ErrClosed) {
		t.Errorf("Generate: %v", err)
	}
}
