package worker

import (
	"strings"
	"unicode/utf8"

	"atoll/llm/harness"
)

// Control tokens end turns and change speakers. The template may write them,
// the text of a message may not: a pasted "<|im_end|>" is text. The tokenizer
// finds control tokens by their spelling, so a spelling that comes from a
// message is cut in two, and the two halves are tokenized apart. The cut is a
// character that occurs nowhere else; the template carries it along as part of
// the text. No spelling ever spans a cut, so no control token ever comes out
// of a message, as long as the template passes on messages or parts of them.
//
// Texts without such spellings, nearly all, are tokenized in one go and give
// exactly the tokens that the model's makers would get.

// A writer makes prompts of one model.
type writer struct {
	template *template
	control  []string // spellings of control tokens
	breaker  *strings.Replacer
	mark     rune
}

// Marks are taken from a private use area of Unicode that no tokenizer treats
// specially and hardly any text contains.
const (
	firstMark = '\U000F0000'
	lastMark  = '\U000FFFFD'
)

// newWriter returns a writer for a model with the control tokens spelled
// control.
func newWriter(t *template, source string, control []string) *writer {
	w := &writer{template: t, mark: firstMark}
	for w.mark < lastMark && strings.ContainsRune(source, w.mark) {
		w.mark++
	}
	var pairs []string
	for _, s := range control {
		_, n := utf8.DecodeRuneInString(s)
		switch {
		case s == "":
			continue
		case n == len(s): // one character cannot be cut
			pairs = append(pairs, s, "\uFFFD")
		default:
			pairs = append(pairs, s, s[:n]+string(w.mark)+s[n:])
		}
		w.control = append(w.control, s)
	}
	w.breaker = strings.NewReplacer(pairs...)
	return w
}

// write renders p and returns its text in the pieces that have to be
// tokenized apart, control tokens included.
func (w *writer) write(p harness.Prompt) ([]string, error) {
	turns := make([]harness.Turn, len(p.Messages))
	for i, t := range p.Messages {
		turns[i] = harness.Turn{Role: t.Role, Content: w.disarm(t.Content)}
	}
	text, err := w.template.render(turns, p.Tools...)
	if err != nil {
		return nil, err
	}
	// The harness wrote Prefill; it may hold control tokens of its dialect.
	text = clean(text + p.Prefill)
	var pieces []string
	for piece := range strings.SplitSeq(text, string(w.mark)) {
		if piece != "" {
			pieces = append(pieces, piece)
		}
	}
	return pieces, nil
}

// disarm returns s with every spelling of a control token cut, also those
// that would only come to be by what a template writes before or after s.
func (w *writer) disarm(s string) string {
	s = strings.ReplaceAll(clean(s), string(w.mark), "\uFFFD")
	// Spellings can overlap: cutting one may leave another that began in it.
	for {
		cut := w.breaker.Replace(s)
		if cut == s {
			break
		}
		s = cut
	}
	begins, ends := false, false
	for _, c := range w.control {
		ends = ends || endsInside(s, c)
		begins = begins || beginsInside(s, c)
	}
	if ends {
		s += string(w.mark)
	}
	if begins {
		s = string(w.mark) + s
	}
	return s
}

// straddle is the least number of characters of a spelling that have to stand
// at the edge of a text to call for a cut there. A lone "<" or ">" is common
// at the edge of ordinary text, and no template ends in a control token that
// lacks just its last character.
const straddle = 2

func endsInside(s, control string) bool {
	for n := straddle; n < len(control); n++ {
		if strings.HasSuffix(s, control[:n]) {
			return true
		}
	}
	return false
}

func beginsInside(s, control string) bool {
	for n := straddle; n < len(control); n++ {
		if strings.HasPrefix(s, control[len(control)-n:]) {
			return true
		}
	}
	return false
}

// clean replaces what no tokenizer takes: zero bytes, which end strings in C,
// and bytes that are not UTF-8.
func clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}
