package worker

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"atoll/llm"
	"atoll/llm/harness"
)

func TestCutter(t *testing.T) {
	for name, c := range map[string]struct {
		arm    []string
		stops  []string
		pieces []string
		shown  []string // after each piece, then what flush gives
	}{
		"plain":                    {nil, nil, []string{"a", "bc"}, []string{"a", "bc", ""}},
		"character across pieces":  {nil, nil, []string{"\xf0\x9f", "\x98", "\x80!"}, []string{"", "", "😀!", ""}},
		"character never finished": {nil, nil, []string{"a\xf0\x9f"}, []string{"a", ""}},
		"broken character":         {nil, nil, []string{"\xf0\x9fx", "\xff"}, []string{"\uFFFDx", "\uFFFD", ""}},
		"stop across pieces":       {nil, []string{"```"}, []string{"x`", "`", "`y"}, []string{"x", "", ""}},
		"not a stop after all":     {nil, []string{"```"}, []string{"x``", "y"}, []string{"x", "``y", ""}},
		"held at the end":          {nil, []string{"```"}, []string{"x``"}, []string{"x", "``"}},
		"stop inside a piece":      {nil, []string{"END"}, []string{"aENDb"}, []string{"a"}},
		"stop at the start":        {nil, []string{"END"}, []string{"END"}, []string{""}},
		"first complete counts":    {nil, []string{"ab", "xabc"}, []string{"xabc"}, []string{"x"}},
		"longer of two":            {nil, []string{"b", "ab"}, []string{"ab"}, []string{""}},
		"empty stop is ignored":    {nil, []string{""}, []string{"a"}, []string{"a", ""}},
		"stop of many bytes":       {nil, []string{"é"}, []string{"\xc3", "\xa9"}, []string{"", ""}},
		"not armed":                {[]string{"py"}, []string{"END"}, []string{"aE", "NDb"}, []string{"aE", "NDb", ""}},
		"armed across pieces":      {[]string{"py"}, []string{"END"}, []string{"ENDp", "yE", "ND"}, []string{"ENDp", "y", ""}},
		"armed and met in a piece": {[]string{"py"}, []string{"END"}, []string{"ENDpyxENDpy"}, []string{"ENDpyx"}},
		"stop begins before":       {[]string{"ab"}, []string{"bc"}, []string{"a", "b", "c", "bc"}, []string{"a", "b", "c", ""}},
		"any of two arms":          {[]string{"longer", "ng"}, []string{"e"}, []string{"elonger"}, []string{"elong"}},
		"repeated start":           {nil, []string{"aab"}, []string{"a", "a", "a", "b"}, []string{"", "", "a", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			cut := newCutter(harness.Prompt{Stop: c.stops, Arm: c.arm})
			for i, p := range c.pieces {
				text, met := cut.push([]byte(p))
				if text != c.shown[i] {
					t.Errorf("piece %d: %q, want %q", i, text, c.shown[i])
				}
				if last := i == len(c.pieces)-1 && len(c.shown) == len(c.pieces); (met != "") != last {
					t.Errorf("piece %d: stopped at %q", i, met)
				}
			}
			if len(c.shown) > len(c.pieces) {
				if text := cut.flush(); text != c.shown[len(c.pieces)] {
					t.Errorf("flush: %q, want %q", text, c.shown[len(c.pieces)])
				}
			}
		})
	}
}

// However bytes are cut into tokens, what is shown is what Prompt.Cut says of
// the whole text, and it is valid.
func TestCutterIsIndependentOfCutting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole := []string{"a", "b", "`", "é", "😀", "\n"}
		letters := rapid.SampledFrom(append([]string{"\xf0", "\x9f"}, whole...))
		word := rapid.Custom(func(t *rapid.T) string { // stop strings travel as JSON, they are valid
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(whole), 1, 3).Draw(t, "letters"), "")
		})
		p := harness.Prompt{
			Stop:     rapid.SliceOfN(word, 0, 3).Draw(t, "stops"),
			Arm:      rapid.SliceOfN(word, 0, 3).Draw(t, "arms"),
			Sampling: llm.Sampling{Stop: rapid.SliceOfN(word, 0, 1).Draw(t, "person's stops")},
		}
		text := strings.Join(rapid.SliceOfN(letters, 0, 30).Draw(t, "text"), "")
		run := func(pieces [][]byte) (shown, met string) {
			cut := newCutter(p)
			for _, p := range pieces {
				s, met := cut.push(p)
				if !utf8.ValidString(s) {
					t.Fatalf("showed %q", s)
				}
				shown += s
				if met != "" {
					return shown, met
				}
			}
			return shown + cut.flush(), ""
		}
		var bytewise, random [][]byte
		for i := range len(text) {
			bytewise = append(bytewise, []byte{text[i]})
		}
		for rest := []byte(text); len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "cut")
			random, rest = append(random, rest[:n]), rest[n:]
		}
		want, wantMet := p.Cut(text)
		if wantMet == "" { // a character cut in the middle is dropped
			want = want[:len(want)-runeTail([]byte(want))]
		}
		// Where bytes are no text the number of replacement characters may differ.
		squeeze := func(s string) string {
			return strings.ReplaceAll(strings.ToValidUTF8(s, ""), "\uFFFD", "")
		}
		for _, pieces := range [][][]byte{bytewise, random} {
			shown, met := run(pieces)
			if squeeze(shown) != squeeze(want) || met != wantMet {
				t.Fatalf("%q: shown %q to %q, want %q to %q", pieces, shown, met, want, wantMet)
			}
		}
	})
}
