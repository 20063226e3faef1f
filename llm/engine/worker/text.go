package worker

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"atoll/llm/harness"
)

// A cutter turns the bytes of generated tokens into text that may be shown:
// whole characters only, and never a part of a stop string. What it cuts is
// what [harness.Prompt.Cut] says, however the text comes in pieces.
type cutter struct {
	stops []string // count anywhere
	late  []string // count from from on, once armed
	arms  []string
	armed bool
	from  int    // where in held the late ones begin to count
	seen  []byte // while not armed: the end of the text, may be the start of an arm
	held  []byte // not shown yet: may be the start of a stop string or of a character
}

// newCutter returns a cutter for the stop strings of p. Empty strings are
// ignored: they would stop before the first character.
func newCutter(p harness.Prompt) *cutter {
	empty := func(s string) bool { return s == "" }
	return &cutter{
		stops: slices.DeleteFunc(slices.Clone(p.Sampling.Stop), empty),
		late:  slices.DeleteFunc(slices.Clone(p.Stop), empty),
		arms:  p.Arm,
		armed: len(p.Arm) == 0,
	}
}

// push takes the bytes of one token and returns the text that can be shown
// now, and the stop string that was met; it and all after it is dropped.
func (c *cutter) push(piece []byte) (text, met string) {
	c.held = append(c.held, piece...)
	c.arm(piece)
	// The stop string that is complete first counts: then the result does not
	// depend on how the text was cut into tokens.
	start, end := -1, -1
	find := func(stops []string, from int) {
		for _, s := range stops {
			i := bytes.Index(c.held[from:], []byte(s))
			if i < 0 {
				continue
			}
			i += from
			if e := i + len(s); end < 0 || e < end || e == end && i < start {
				start, end, met = i, e, s
			}
		}
	}
	if c.armed {
		find(c.late, c.from)
	}
	find(c.stops, 0)
	if start >= 0 {
		text = string(c.held[:start])
		c.held = nil
		return strings.ToValidUTF8(text, "\uFFFD"), met
	}
	keep := len(c.held) - max(c.stopTail(), runeTail(c.held))
	text = string(c.held[:keep])
	c.held = append(c.held[:0], c.held[keep:]...)
	c.from = max(0, c.from-keep)
	return strings.ToValidUTF8(text, "\uFFFD"), ""
}

// arm looks for the arming string that is complete first; piece has just been
// added to held.
func (c *cutter) arm(piece []byte) {
	if c.armed {
		return
	}
	c.seen = append(c.seen, piece...)
	end, longest := -1, 0
	for _, a := range c.arms {
		longest = max(longest, len(a))
		if i := bytes.Index(c.seen, []byte(a)); i >= 0 && (end < 0 || i+len(a) < end) {
			end = i + len(a)
		}
	}
	if end >= 0 {
		c.armed, c.from = true, len(c.held)-(len(c.seen)-end)
		c.seen = nil
		return
	}
	c.seen = append(c.seen[:0], c.seen[max(0, len(c.seen)-longest+1):]...)
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
	look := func(stops []string, from int) {
		for _, s := range stops {
			for n := min(len(s)-1, len(c.held)-from); n > longest; n-- {
				if bytes.HasSuffix(c.held, []byte(s[:n])) {
					longest = n
				}
			}
		}
	}
	look(c.stops, 0)
	if c.armed {
		look(c.late, c.from)
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
