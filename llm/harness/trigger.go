package harness

import "strings"

// thoughts are the marks between which a model thinks. A call that it thinks
// about there is none.
var thoughts = [...][2]string{
	{"<think>", "</think>"},
	{"[THINK]", "[/THINK]"},
	{"<|channel|>analysis<|message|>", "<|end|>"},
}

// A Trigger watches output for the text behind which a lazy grammar begins.
type Trigger struct {
	words []string
	end   string // what ends the thought; empty: it is none
	text  string // output that may still hold the start of what is sought
	most  int    // bytes of the longest text that is sought
}

// Trigger returns the trigger of p, nil if its grammar is not lazy.
func (p Prompt) Trigger() *Trigger {
	if p.Grammar == "" || len(p.Lazy) == 0 {
		return nil
	}
	t := &Trigger{words: p.Lazy}
	if p.Thinking {
		t.end = thoughts[0][1]
	}
	for _, w := range p.Lazy {
		t.most = max(t.most, len(w))
	}
	for _, th := range thoughts {
		t.most = max(t.most, len(th[0]), len(th[1]))
	}
	return t
}

// Push adds output. met reports that one of the texts is complete, and over
// how many bytes of piece follow it. Of two, the one that is complete first
// counts, so that the result does not depend on the pieces.
func (t *Trigger) Push(piece string) (over int, met bool) {
	t.text += piece
	for {
		if t.end != "" {
			_, rest, ok := strings.Cut(t.text, t.end)
			if !ok {
				break
			}
			t.text, t.end = rest, ""
		}
		stop, end := -1, ""
		for _, w := range t.words {
			if i := strings.Index(t.text, w); i >= 0 && w != "" && (stop < 0 || i+len(w) < stop) {
				stop = i + len(w)
			}
		}
		met = stop >= 0
		for _, th := range thoughts {
			if i := strings.Index(t.text, th[0]); i >= 0 && (stop < 0 || i+len(th[0]) < stop) {
				stop, end, met = i+len(th[0]), th[1], false
			}
		}
		if stop < 0 {
			break
		}
		t.text, t.end = t.text[stop:], end
		if met {
			return len(t.text), true
		}
	}
	t.text = t.text[max(0, len(t.text)-t.most+1):]
	return 0, false
}
