package cli

import (
	"io"
	"strings"
	"unicode/utf8"
)

// printable keeps text from steering the terminal: control characters other
// than line ends and tabs become a mark.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		switch {
		case r < 0x20, r >= 0x7f && r < 0xa0, // controls
			r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069: // text that reads otherwise than it is
			return utf8.RuneError
		}
		return r
	}, s)
}

// safely returns w, or where w is a terminal a writer that passes only
// printable text on: code prints what a file tells it to.
func safely(w io.Writer) io.Writer {
	if !isTerminal(w) {
		return w
	}
	return &filter{w: w}
}

type filter struct {
	w    io.Writer
	rest []byte // beginning of a character whose end is still to come
}

func (f *filter) Write(b []byte) (int, error) {
	text := append(f.rest, b...)
	n := len(text)
	for i := 1; i < utf8.UTFMax && i <= len(text); i++ {
		if tail := text[len(text)-i:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				n -= i
			}
			break
		}
	}
	f.rest = append([]byte(nil), text[n:]...)
	// A carriage return rewrites the line; progress bars need that.
	lines := strings.Split(string(text[:n]), "\r")
	for i := range lines {
		lines[i] = printable(lines[i])
	}
	if _, err := io.WriteString(f.w, strings.Join(lines, "\r")); err != nil {
		return 0, err
	}
	return len(b), nil
}
