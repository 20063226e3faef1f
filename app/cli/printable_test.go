package cli

import (
	"bytes"
	"strings"
	"testing"
)

func TestFilter(t *testing.T) {
	const in = "10 %\r20 %\nКиев 中文\t\x1b]0;title\x07\u009b31m\x00end\n"
	want := strings.NewReplacer("\x1b", "\ufffd", "\x07", "\ufffd", "\u009b", "\ufffd", "\x00", "\ufffd").Replace(in)
	for size := 1; size < len(in); size++ {
		var out bytes.Buffer
		f := &filter{w: &out}
		for s := []byte(in); len(s) > 0; {
			n := min(size, len(s))
			if _, err := f.Write(s[:n]); err != nil {
				t.Fatal(err)
			}
			s = s[n:]
		}
		if out.String() != want {
			t.Fatalf("in pieces of %d: %q, want %q", size, out.String(), want)
		}
	}
}
