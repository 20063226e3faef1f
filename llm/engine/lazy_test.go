package engine_test

import (
	"strings"
	"testing"

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

// The library takes the grammar of every dialect, and what a model writes
// under it begins as a call.
func TestDialectGrammars(t *testing.T) {
	e := newEngine(t, tinyModel(t))
	for _, d := range dialect.All {
		for _, force := range []bool{false, true} {
			s := dialect.Settings{Dialect: d, Languages: []string{"python", "shell"}, Repair: dialect.AllRepairs, Locked: true, Require: force}
			p := ask("hello", 60)
			p.Grammar, p.Lazy = s.Grammar(force)
			p.Sampling.Temperature, p.Sampling.Seed = ptr(1.0), ptr(uint32(3))
			if text, done := complete(t, e, p); done.Usage.Output == 0 {
				t.Errorf("%s, forced %v: %q, %+v", d, force, text, done)
			}
		}
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
