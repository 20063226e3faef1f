package kernel

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestDigest(t *testing.T) {
	many := func(n int, f string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, f+"\n", i)
		}
		return b.String()
	}
	for _, c := range []struct {
		name, in, want string
		lim            DigestLimits
	}{
		{"short", "a\nb\n", "a\nb\n", DigestLimits{}},
		{"no end of line", "a\nb", "a\nb\n", DigestLimits{}},
		{"empty", "", "", DigestLimits{}},
		{"equal lines", strings.Repeat("x\n", 500) + "y\n", "x\n[the same line 499 more times]\ny\n", DigestLimits{}},
		{"empty lines stay", "a\n\n\nb\n", "a\n\n\nb\n", DigestLimits{}},
		{"progress bar", " 1%\r 50%\r100%\ndone\n", "100%\ndone\n", DigestLimits{}},
		{"Windows line ends", "a\r\nb\r\n", "a\nb\n", DigestLimits{}},
		{"middle is cut", many(100, "line %d"), "line 0\nline 1\n[... 96 lines, 760 bytes left out ...]\nline 98\nline 99\n", DigestLimits{Head: 15, Tail: 17}},
		{"errors are kept", many(20, "line %d") + "ValueError: bad\n" + many(20, "more %d"),
			"line 0\nline 1\n[... 37 lines, 286 bytes left out ...]\n[lines among them that look like errors:]\nValueError: bad\n[... the end:]\nmore 18\nmore 19\n", DigestLimits{Head: 15, Tail: 17}},
		{"one long line", strings.Repeat("z", 30), "zzzzzzzzzz…\n…zzz\n", DigestLimits{Head: 10, Tail: 4}},
	} {
		d := NewDigest(c.lim)
		d.Add(Output{Stream: "stdout", Text: c.in})
		if got := d.Text(); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

func TestDigestObjects(t *testing.T) {
	d := NewDigest(DigestLimits{})
	d.Add(Output{Text: "no end"})
	d.Add(Output{Data: map[string][]byte{"text/plain": []byte("42")}})
	d.Add(Output{Data: map[string][]byte{"text/plain": []byte("<Figure>"), "image/png": {1}}})
	if got, want := d.Text(), "no end\n42\n[shown to the user as a picture: <Figure>]\n"; got != want {
		t.Errorf("got %q", got)
	}
}

// TestDigestChunks: the pieces in which output comes do not matter, nor does
// asking in between, and the size is bounded.
func TestDigestChunks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"a", "ü", "\n", "\r", "Error", "longer words", "\r\n"})).Draw(t, "text"), "")
		lim := DigestLimits{Head: rapid.IntRange(1, 40).Draw(t, "head"), Tail: rapid.IntRange(1, 40).Draw(t, "tail"), Errors: 30}
		whole := NewDigest(lim)
		whole.Add(Output{Text: text})
		parts := NewDigest(lim)
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			for n < len(rest) && !utf8.RuneStart(rest[n]) {
				n++
			}
			parts.Add(Output{Text: rest[:n]})
			parts.Text()
			rest = rest[n:]
		}
		got := parts.Text()
		if want := whole.Text(); got != want {
			t.Fatalf("in pieces\n%q\nwhole\n%q", got, want)
		}
		if len(got) > lim.Head+lim.Tail+30+450 || !utf8.ValidString(got) {
			t.Fatalf("%d bytes: %q", len(got), got)
		}
	})
}
