package engine_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"atoll/llm"
	"atoll/llm/engine"
	"atoll/llm/engine/tiny"
	"atoll/llm/harness"
)

func TestBadFiles(t *testing.T) {
	good := tiny.Bytes()
	replace := func(old, new string) []byte {
		if len(old) != len(new) {
			t.Fatal("lengths differ")
		}
		return []byte(strings.Replace(string(good), old, new, 1))
	}
	dir := t.TempDir()
	for name, c := range map[string]struct {
		content []byte
		want    string
	}{
		"nothing":             {nil, "is empty"},
		"page":                {[]byte("<!DOCTYPE html><html><body>404</body></html>"), "is a web page"},
		"random":              {[]byte(strings.Repeat("\x8f\x01random", 1000)), "is not a GGUF file"},
		"cut at 60 %":         {good[:len(good)*6/10], "is incomplete"},
		"cut in the metadata": {good[:3000], "damaged"},
		"only the header":     {good[:24], "damaged"},
		"unknown kind":        {replace("\x05\x00\x00\x00\x00\x00\x00\x00llama\x0c", "\x05\x00\x00\x00\x00\x00\x00\x00lmaal\x0c"), "a kind (lmaal)"},
		"no chat template":    {replace("tokenizer.chat_template", "tokenizer.chat_temqlate"), "no chat template"},
		"bad chat template":   {replace("{% for m in messages %}", "{% fur m in messages %}"), "chat template that cannot be used"},
		"zeros for numbers":   {append(append(good[:4:4], make([]byte, 20)...), good[24:]...), "byte order"},
		"huge counts":         {append(append(good[:8:8], "\xff\xff\xff\xff\xff\xff\xff\x7f\xff\xff\xff\xff\xff\xff\xff\x7f"...), good[24:]...), ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, strings.ReplaceAll(name, " ", "-")+".gguf")
			if err := os.WriteFile(path, c.content, 0o644); err != nil {
				t.Fatal(err)
			}
			e := newEngine(t, path)
			_, _, err := collect(t.Context(), e, ask("x", 2))
			if !errors.Is(err, llm.ErrBadModel) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %v with %q", err, llm.ErrBadModel, c.want)
			}
			t.Log(err)
		})
	}
	e := newEngine(t, filepath.Join(dir, "gone.gguf"))
	if _, err := e.Count(t.Context(), ask("x", 2)); !errors.Is(err, llm.ErrBadModel) || !strings.Contains(err.Error(), "moved or deleted") {
		t.Errorf("a missing file: %v", err)
	}
	// The control: the same bytes undamaged load.
	if text, _ := complete(t, newEngine(t, tinyModel(t)), ask("x", 2)); text == "" {
		t.Error("the good file gave nothing")
	}
}

// A header that makes llama.cpp abort: number of layers 0. The worker dies,
// the host says so with the library's own words, and lives.
func TestAbortInTheLibrary(t *testing.T) {
	good := string(tiny.Bytes())
	key := "llama.block_count\x04\x00\x00\x00"
	i := strings.Index(good, key)
	if i < 0 {
		t.Fatal("no block_count")
	}
	bad := []byte(good)
	bad[i+len(key)] = 0
	path := filepath.Join(t.TempDir(), "abort.gguf")
	if err := os.WriteFile(path, bad, 0o644); err != nil {
		t.Fatal(err)
	}
	e := newEngine(t, path)
	for range 2 {
		_, _, err := collect(t.Context(), e, ask("x", 2))
		if !errors.Is(err, llm.ErrCrashed) || !strings.Contains(err.Error(), "GGML_ASSERT") {
			t.Errorf("got %v", err)
		}
		t.Log(err)
	}
}

// A template that grows without end costs the worker its life, and the host
// an error. This one ends by itself at 1 GiB, so that the test is harmless
// where the limit does not hold.
func TestRunawayTemplate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "grows.gguf")
	grow := "{% set ns = namespace(s='x') %}{% for i in range(30) %}{% set ns.s = ns.s + ns.s %}{% endfor %}{{ ns.s | length }}"
	if err := os.WriteFile(path, tiny.WithTemplate(grow), 0o644); err != nil {
		t.Fatal(err)
	}
	var k keeper
	e := newEngine(t, path, func(o *engine.Options) { o.Launch = k.wrap(o.Launch) })
	for n := range 2 {
		_, err := e.Count(t.Context(), ask("x", 1))
		if err == nil || !strings.Contains(err.Error(), "does not come to an end") {
			t.Errorf("got %v", err)
		}
		if e.Loaded() || k.count() != n+1 {
			t.Fatalf("request %d: loaded %v, %d workers", n, e.Loaded(), k.count())
		}
	}
}

// A template may refuse a conversation; that is an error of the request.
func TestTemplateRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "refuses.gguf")
	source := "{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}" + tiny.Template
	if err := os.WriteFile(path, tiny.WithTemplate(source), 0o644); err != nil {
		t.Fatal(err)
	}
	e := newEngine(t, path)
	p := ask("x", 1)
	p.Messages = append([]harness.Turn{{Role: "system", Content: "y"}}, p.Messages...)
	if _, err := e.Count(t.Context(), p); err == nil || !strings.Contains(err.Error(), "System role not supported") {
		t.Errorf("got %v", err)
	}
	if text, _ := complete(t, e, ask("x", 3)); text == "" {
		t.Error("nothing came for a conversation without a system message")
	}
}

// Whatever is wrong in a header, the host gets an error of this package's or
// an answer, and the next engine works. The mutations are the same each time.
func TestMutatedHeaders(t *testing.T) {
	good := tiny.Bytes()
	header := strings.Index(string(good), "token_embd.weight") // about the end of the metadata
	r := rand.New(rand.NewPCG(7, 7))
	path := filepath.Join(t.TempDir(), "mutated.gguf")
	outcomes := map[string]int{}
	for range 40 {
		bad := slices.Clone(good)
		for range 1 + r.IntN(4) {
			bad[4+r.IntN(header-4)] = byte(r.IntN(256))
		}
		if err := os.WriteFile(path, bad, 0o644); err != nil {
			t.Fatal(err)
		}
		e := newEngine(t, path, func(o *engine.Options) { o.Memory = func() int64 { return 1 << 30 } })
		_, _, err := collect(t.Context(), e, ask("x", 3))
		switch {
		case err == nil:
			outcomes["ran"]++
		case errors.Is(err, llm.ErrBadModel):
			outcomes["refused"]++
		case errors.Is(err, llm.ErrCrashed):
			outcomes["crashed"]++
		default:
			outcomes["other"]++
			t.Logf("other: %v", err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Log(outcomes)
	if outcomes["ran"] == 0 || outcomes["refused"] == 0 {
		t.Errorf("the mutations are no test: %v", outcomes)
	}
	if text, _ := complete(t, newEngine(t, tinyModel(t)), ask("x", 3)); text == "" {
		t.Error("nothing works afterwards")
	}
}
