package engine_test

import (
	"strings"
	"testing"

	"atoll/llm"
	"atoll/llm/engine/tiny"
	"atoll/llm/harness/dialect"
)

// A lazy grammar begins exactly behind the text that triggers it, also where
// that ends in the middle of a token.
func TestLazyGrammar(t *testing.T) {
	e := newEngine(t, tinyModel(t))
	p := ask("hello", 400)
	p.Sampling.Temperature = ptr(2.0)
	p.Sampling.TopK, p.Sampling.TopP, p.Sampling.MinP = ptr(0), ptr(1.0), ptr(0.0)
	token, free := "<|im_start|>", ""
	for seed := uint32(1); !strings.Contains(free, token); seed++ {
		if seed == 40 {
			t.Fatal("the model never wrote a long token")
		}
		p.Sampling.Seed = &seed
		free, _ = complete(t, e, p)
	}
	begin := free[:strings.Index(free, token)]
	for _, word := range []string{"<|im", token} {
		p.Grammar, p.Lazy = `root ::= "!" [o] "k"`, []string{"no model writes this", word}
		for range 2 { // a fresh cache, and one that holds the answer
			if text, done := complete(t, e, p); text != begin+word+"!ok" {
				t.Errorf("got %q, %+v, want %q", text, done, begin+word+"!ok")
			}
		}
	}
	p.Grammar, p.Lazy = "root ::= (", []string{"never"}
	if _, _, err := collect(t.Context(), e, p); err == nil || !strings.Contains(err.Error(), "grammar") {
		t.Errorf("a bad grammar that is not reached: %v", err)
	}
}

// The library takes the grammar of every dialect, and whatever a model writes
// under it to its end is a call. What the token limit cuts is none.
func TestDialectGrammars(t *testing.T) {
	e := newEngine(t, tinyModel(t))
	whole := 0
	for _, d := range dialect.All {
		for seed := range uint32(4) {
			s := dialect.Settings{Dialect: d, Languages: []string{"python", "shell"}, Repair: dialect.AllRepairs, Locked: true, One: true, Require: true}
			if d == dialect.MiniSWE || d == dialect.Terminus {
				s.Languages = []string{"shell"}
			}
			p := ask("hello", 500)
			p.Grammar, p.Lazy = s.Grammar(seed%2 == 0)
			p.Sampling.Temperature, p.Sampling.Seed = ptr(1.0), &seed
			if len(p.Lazy) > 0 {
				p.Prefill, p.Lazy = p.Lazy[0], nil // a model of nonsense would not get to it
				if d == dialect.Harmony {
					p.Prefill = "<|channel|>commentary " + p.Prefill
				}
			}
			text, done := complete(t, e, p)
			parser := dialect.NewParser(s)
			parser.Push(p.Prefill)
			parser.Push(text)
			_, err := parser.Close(done.Stop == llm.StopLength)
			if done.Stop == llm.StopLength {
				continue
			}
			if whole++; err != nil {
				t.Errorf("%s: %v in %q", d, err, p.Prefill+text)
			}
		}
	}
	t.Logf("%d answers came to their end", whole)
	if whole < 5 {
		t.Errorf("only %d answers came to their end", whole)
	}
}

func TestInfoTellsTemplateAndWeights(t *testing.T) {
	e := newEngine(t, tinyModel(t))
	if err := e.Load(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if i := e.Info(); i.ChatTemplate != tiny.Template || i.Parameters < 50_000 || i.Parameters > 1_000_000 {
		t.Errorf("%q, %d weights", i.ChatTemplate, i.Parameters)
	}
}
