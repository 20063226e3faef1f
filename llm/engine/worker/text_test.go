package worker

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestCutter(t *testing.T) {
	for name, c := range map[string]struct {
		stops  []string
		pieces []string
		shown  []string // after each piece, then what flush gives
	}{
		"plain":                    {nil, []string{"a", "bc"}, []string{"a", "bc", ""}},
		"character across pieces":  {nil, []string{"\xf0\x9f", "\x98", "\x80!"}, []string{"", "", "😀!", ""}},
		"character never finished": {nil, []string{"a\xf0\x9f"}, []string{"a", ""}},
		"broken character":         {nil, []string{"\xf0\x9fx", "\xff"}, []string{"\uFFFDx", "\uFFFD", ""}},
		"stop across pieces":       {[]string{"```"}, []string{"x`", "`", "`y"}, []string{"x", "", ""}},
		"not a stop after all":     {[]string{"```"}, []string{"x``", "y"}, []string{"x", "``y", ""}},
		"held at the end":          {[]string{"```"}, []string{"x``"}, []string{"x", "``"}},
		"stop inside a piece":      {[]string{"END"}, []string{"aENDb"}, []string{"a"}},
		"stop at the start":        {[]string{"END"}, []string{"END"}, []string{""}},
		"first complete counts":    {[]string{"ab", "xabc"}, []string{"xabc"}, []string{"x"}},
		"longer of two":            {[]string{"b", "ab"}, []string{"ab"}, []string{""}},
		"empty stop is ignored":    {[]string{""}, []string{"a"}, []string{"a", ""}},
		"stop of many bytes":       {[]string{"é"}, []string{"\xc3", "\xa9"}, []string{"", ""}},
		"repeated start":           {[]string{"aab"}, []string{"a", "a", "a", "b"}, []string{"", "", "a", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			cut := newCutter(c.stops)
			for i, p := range c.pieces {
				text, stopped := cut.push([]byte(p))
				if text != c.shown[i] {
					t.Errorf("piece %d: %q, want %q", i, text, c.shown[i])
				}
				if last := i == len(c.pieces)-1 && len(c.shown) == len(c.pieces); stopped != last {
					t.Errorf("piece %d: stopped = %v", i, stopped)
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

// However bytes are cut into tokens, the same text is shown, it is valid, and
// no stop string is in it.
func TestCutterIsIndependentOfCutting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.SampledFrom([]string{"a", "b", "`", "é", "😀", "\n", "\xf0", "\x9f"})
		word := rapid.Custom(func(t *rapid.T) string {
			return strings.Join(rapid.SliceOfN(letters, 1, 3).Draw(t, "letters"), "")
		})
		stops := rapid.SliceOfN(word, 0, 3).Draw(t, "stops")
		text := strings.Join(rapid.SliceOfN(letters, 0, 30).Draw(t, "text"), "")
		run := func(pieces [][]byte) (shown string, stopped bool) {
			cut := newCutter(stops)
			for _, p := range pieces {
				s, stop := cut.push(p)
				if !utf8.ValidString(s) {
					t.Fatalf("showed %q", s)
				}
				shown += s
				if stop {
					return shown, true
				}
			}
			return shown + cut.flush(), false
		}
		var bytewise, random [][]byte
		for i := range len(text) {
			bytewise = append(bytewise, []byte{text[i]})
		}
		for rest := []byte(text); len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "cut")
			random, rest = append(random, rest[:n]), rest[n:]
		}
		a, sa := run(bytewise)
		b, sb := run(random)
		if sa != sb {
			t.Fatalf("stopped %v and %v", sa, sb)
		}
		// Where bytes are no text the number of replacement characters may differ.
		squeeze := func(s string) string { return strings.ReplaceAll(s, "\uFFFD", "") }
		if squeeze(a) != squeeze(b) {
			t.Fatalf("%q and %q", a, b)
		}
		for _, s := range stops {
			if utf8.ValidString(s) && strings.Contains(b, s) {
				t.Fatalf("stop %q was shown in %q", s, b)
			}
		}
	})
}
