package worker

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// A cutter turns the bytes of generated tokens into text that may be shown:
// whole characters only, and never a part of a stop string.
type cutter struct {
	stops []string
	held  []byte // not shown yet: may be the start of a stop string or of a character
}

// newCutter returns a cutter that stops before any of stops. Empty strings are
// ignored: they would stop before the first character.
func newCutter(stops ...[]string) *cutter {
	c := &cutter{}
	for _, list := range stops {
		for _, s := range list {
			if s != "" {
				c.stops = append(c.stops, s)
			}
		}
	}
	return c
}

// push takes the bytes of one token and returns the text that can be shown
// now. stopped reports that a stop string was met; it and all after it is
// dropped.
func (c *cutter) push(piece []byte) (text string, stopped bool) {
	c.held = append(c.held, piece...)
	// The stop string that is complete first counts: then the result does not
	// depend on how the text was cut into tokens.
	start, end := -1, -1
	for _, s := range c.stops {
		i := bytes.Index(c.held, []byte(s))
		if i >= 0 && (end < 0 || i+len(s) < end || i+len(s) == end && i < start) {
			start, end = i, i+len(s)
		}
	}
	if start >= 0 {
		text = string(c.held[:start])
		c.held = nil
		return strings.ToValidUTF8(text, "\uFFFD"), true
	}
	keep := len(c.held) - max(c.stopTail(), runeTail(c.held))
	text = string(c.held[:keep])
	c.held = append(c.held[:0], c.held[keep:]...)
	return strings.ToValidUTF8(text, "\uFFFD"), false
}

// flush returns what was held back, at the end of generation. A character cut
// in the middle is dropped.
func (c *cutter) flush() string {
	text := c.held[:len(c.held)-runeTail(c.held)]
	c.held = nil
	return strings.ToValidUTF8(string(text), "\uFFFD")
}

// stopTail returns how many bytes at the end could be the start of a stop
// string.
func (c *cutter) stopTail() int {
	longest := 0
	for _, s := range c.stops {
		for n := min(len(s)-1, len(c.held)); n > longest; n-- {
			if bytes.HasSuffix(c.held, []byte(s[:n])) {
				longest = n
			}
		}
	}
	return longest
}

// runeTail returns how many bytes at the end of b are the start of a
// character whose rest is missing.
func runeTail(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if tail := b[len(b)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}
