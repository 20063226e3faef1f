package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"atoll/llm"
	"atoll/llm/engine"
	"atoll/llm/engine/tiny"
	"atoll/llm/harness"
)

func TestSeed(t *testing.T) {
	e := newEngine(t, tinyModel(t))
	sample := func(seed *uint32) string {
		p := ask("hello", 30)
		p.Sampling = llm.Sampling{Temperature: ptr(1.0), TopP: ptr(1.0), TopK: ptr(0), MinP: ptr(0.0), Seed: seed}
		text, _ := complete(t, e, p)
		return text
	}
	a, b, c := sample(ptr(uint32(1))), sample(ptr(uint32(1))), sample(ptr(uint32(2)))
	if a != b {
		t.Errorf("the same seed gave %q and %q", a, b)
	}
	if a == c {
		t.Errorf("two seeds gave the same %q", a)
	}
	if x, y := sample(nil), sample(nil); x == y {
		t.Errorf("without a seed the same came twice: %q", x)
	}
	p := ask("hello", 30)
	p.Sampling = llm.Sampling{Temperature: ptr(1.0), TopK: ptr(1), Seed: ptr(uint32(3))}
	greedy, _ := complete(t, e, ask("hello", 30))
	if one, _ := complete(t, e, p); one != greedy {
		t.Errorf("one candidate gave %q, greedy %q", one, greedy)
	}
}

func TestStopStrings(t *testing.T) {
	e := newEngine(t, tinyModel(t))
	whole, _ := complete(t, e, ask("hello", 40))
	stop := whole[10:14]
	want := whole[:strings.Index(whole, stop)]
	for name, set := range map[string]func(*harness.Prompt){
		"of the harness": func(p *harness.Prompt) { p.Stop = []string{"never said", stop} },
		"of the person":  func(p *harness.Prompt) { p.Sampling.Stop = []string{stop} },
	} {
		p := ask("hello", 40)
		set(&p)
		text, done := complete(t, e, p)
		if text != want || done.Stop != llm.StopEnd {
			t.Errorf("%s: got %q (%s), want %q", name, text, done.Stop, want)
		}
	}
}

func TestPrefillIsContinuedAndNotRepeated(t *testing.T) {
	e := newEngine(t, tinyModel(t))
	whole, first := complete(t, e, ask("hello", 20))
	p := ask("hello", 14)
	p.Prefill = whole[:6]
	rest, done := complete(t, e, p)
	if rest != whole[6:20] {
		t.Errorf("after %q came %q, want %q", p.Prefill, rest, whole[6:20])
	}
	if done.Usage.Prompt != first.Usage.Prompt+6 {
		t.Errorf("the prompt takes %d tokens, without the prefill of 6 it takes %d", done.Usage.Prompt, first.Usage.Prompt)
	}
}

func TestPrefixIsReused(t *testing.T) {
	e := newEngine(t, tinyModel(t))
	p := ask(strings.Repeat("a long first message. ", 20), 8)
	answer, one := complete(t, e, p)
	p.Messages = append(p.Messages, harness.Turn{Role: "assistant", Content: answer}, harness.Turn{Role: "user", Content: "go on"})
	reused, two := complete(t, e, p)
	// All of the first prompt, and of the answer all but its last token, which
	// was never computed.
	if want := one.Usage.Prompt + one.Usage.Output - 1; two.Usage.Cached != want {
		t.Errorf("turn 2 reused %d of %d tokens, want %d", two.Usage.Cached, two.Usage.Prompt, want)
	}
	fresh, three := complete(t, newEngine(t, tinyModel(t)), p)
	if three.Usage.Cached != 0 || fresh != reused {
		t.Errorf("fresh: %q (%d cached), reused: %q", fresh, three.Usage.Cached, reused)
	}
	p.Messages[0].Content = "other"
	_, four := complete(t, e, p)
	if want := len("<user\n"); four.Usage.Cached != want { // the control token counts as one
		t.Errorf("a changed first message reused %d tokens, want %d", four.Usage.Cached, want)
	}
}

func TestContextFull(t *testing.T) {
	e := newEngine(t, tinyModel(t), func(o *engine.Options) { o.Context = 256 })
	text := strings.Repeat("x", 500)
	n, err := e.Count(t.Context(), ask(text, 0))
	if err != nil || n < 500 {
		t.Fatalf("%d, %v", n, err)
	}
	_, _, err = collect(t.Context(), e, ask(text, 1))
	if !errors.Is(err, llm.ErrContextFull) || !strings.Contains(err.Error(), fmt.Sprint(n)) || !strings.Contains(err.Error(), "256") {
		t.Errorf("got %v, want %v with %d and 256", err, llm.ErrContextFull, n)
	}
	room := 256 - (n - 500) // for text, when nothing is left for an answer
	if _, _, err := collect(t.Context(), e, ask(text[:room], 1)); !errors.Is(err, llm.ErrContextFull) {
		t.Errorf("a prompt as long as the context: %v", err)
	}
	got, done := complete(t, e, ask(text[:room-1], 0))
	if done.Usage.Prompt != 255 || done.Usage.Output != 1 || done.Stop != llm.StopLength || got == "" {
		t.Errorf("with room for one token: %q, %+v", got, done)
	}
	got, done = complete(t, e, ask(text[:room-100], 0))
	if done.Usage.Output != 100 || done.Stop != llm.StopLength || len(got) < 50 {
		t.Errorf("with room for 100 tokens: %q, %+v", got, done)
	}
}

func TestGrammar(t *testing.T) {
	e := newEngine(t, tinyModel(t))
	p := ask("hello", 40)
	p.Grammar = `root ::= "{\"n\": " [0-9] [0-9] "}"`
	text, done := complete(t, e, p)
	if len(text) != len(`{"n": 00}`) || !strings.HasPrefix(text, `{"n": `) || done.Stop != llm.StopEnd {
		t.Errorf("got %q, %+v", text, done)
	}
	p.Grammar = "root ::= ("
	if _, _, err := collect(t.Context(), e, p); err == nil || !strings.Contains(err.Error(), "grammar") {
		t.Errorf("a bad grammar: %v", err)
	}
	if _, done := complete(t, e, ask("hello", 4)); done.Usage.Output != 4 {
		t.Errorf("after the bad grammar: %+v", done)
	}
}

func TestMessageTextIsNoControlToken(t *testing.T) {
	e := newEngine(t, tinyModel(t))
	count := func(text string) int {
		t.Helper()
		n, err := e.Count(t.Context(), ask(text, 0))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	empty := count("")
	for _, text := range []string{"<|im_end|>", "<|im_start|>system", "</s>", "<|im_end|>\n<|im_start|>assistant\n"} {
		// The tiny model has a token per byte: text takes one each, a control
		// token one for all of its spelling.
		if got := count(text) - empty; got != len(text) {
			t.Errorf("%q takes %d tokens, want %d", text, got, len(text))
		}
	}
	// The control: the harness may write control tokens, and then they are.
	p := ask("", 0)
	p.Prefill = "<|im_end|>"
	if n, err := e.Count(t.Context(), p); err != nil || n != empty+1 {
		t.Errorf("a control token of the harness takes %d tokens (%v), want 1", n-empty, err)
	}
}

func TestProgress(t *testing.T) {
	e := newEngine(t, tinyModel(t))
	phases := map[string][]float64{}
	for piece, err := range e.Complete(t.Context(), ask(strings.Repeat("x", 1000), 1)) {
		if err != nil {
			t.Fatal(err)
		}
		if piece.Load != nil {
			phases[piece.Load.Phase] = append(phases[piece.Load.Phase], piece.Load.Done)
		}
	}
	for _, phase := range []string{"load", "prompt"} {
		f := phases[phase]
		if len(f) < 2 || f[0] != 0 || f[len(f)-1] != 1 {
			t.Fatalf("%s went %v, want from 0 to 1", phase, f)
		}
		for i := 1; i < len(f); i++ {
			if f[i] < f[i-1] {
				t.Errorf("%s went back: %v", phase, f)
			}
		}
	}
	if len(phases["prompt"]) < 4 {
		t.Errorf("1000 tokens were read in steps %v, want several", phases["prompt"])
	}
}

func TestCancel(t *testing.T) {
	e := newEngine(t, tinyModel(t))
	want, _ := complete(t, e, ask("hello", 20))
	t.Run("context", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		pieces := 0
		var last error
		for piece, err := range e.Complete(ctx, ask("hello", 1500)) {
			last = err
			if piece.Text != "" {
				if pieces++; pieces == 5 {
					cancel()
				}
			}
		}
		if !errors.Is(last, context.Canceled) || pieces > 200 {
			t.Errorf("%d pieces, then %v", pieces, last)
		}
	})
	t.Run("range left", func(t *testing.T) {
		for piece, err := range e.Complete(t.Context(), ask("hello", 1500)) {
			if err != nil {
				t.Fatal(err)
			}
			if piece.Text != "" {
				break
			}
		}
	})
	t.Run("before the start", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, _, err := collect(ctx, e, ask("hello", 5)); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("while waiting", func(t *testing.T) {
		for piece, err := range e.Complete(t.Context(), ask("hello", 1500)) {
			if err != nil {
				t.Fatal(err)
			}
			if piece.Text == "" {
				continue
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			if _, err := e.Count(ctx, ask("x", 0)); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("a second command in the middle of the first: %v", err)
			}
			cancel()
			break
		}
	})
	// The same worker goes on, and nothing of what was given up is left in it.
	if got, done := complete(t, e, ask("hello", 20)); got != want || done.Usage.Cached == 0 {
		t.Errorf("afterwards: %q (%d cached), want %q from the same worker", got, done.Usage.Cached, want)
	}
}

func TestCancelWhileReadingThePrompt(t *testing.T) {
	e := newEngine(t, tinyModel(t))
	long := ask(strings.Repeat("y", tiny.Context-100), 1)
	for piece, err := range e.Complete(t.Context(), long) {
		if err != nil {
			t.Fatal(err)
		}
		if piece.Load != nil && piece.Load.Phase == "prompt" && piece.Load.Done > 0 {
			break
		}
	}
	want, _ := complete(t, newEngine(t, tinyModel(t)), long)
	if got, _ := complete(t, e, long); got != want {
		t.Errorf("after a prompt given up half-way: %q, want %q", got, want)
	}
}

func TestConcurrentUse(t *testing.T) {
	e := newEngine(t, tinyModel(t))
	want, _ := complete(t, e, ask("same", 20))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 3 {
				text, _, err := collect(t.Context(), e, ask("same", 20))
				if err != nil || text != want {
					t.Errorf("got %q, %v, want %q", text, err, want)
				}
				if _, err := e.Count(t.Context(), ask("other", 0)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
