package fenced

import (
	"regexp"
	"strings"
)

// A mark is a line that can open or close a fenced block. Source:
// https://spec.commonmark.org/0.31.2/#fenced-code-blocks
type mark struct {
	before string // what stands before it in the line, without tokens at its end
	char   byte   // '`' or '~'
	n      int    // how many of them
	info   string // what stands behind it, without spaces around it
}

// markIn finds the fence of a line: a row of ticks or tildes with its label.
// A row of ticks is also found behind text, where a label of Python makes it
// an opening; a row with a tick behind it is code in a line.
func markIn(line string) (mark, bool) {
	trimmed := strings.TrimLeft(line, " \t")
	char, at := byte('~'), len(line)-len(trimmed)
	if !strings.HasPrefix(trimmed, "~~~") {
		end := strings.LastIndexByte(line, '`') + 1
		at = len(strings.TrimRight(line[:end], "`"))
		char = '`'
		if end-at < 3 {
			return mark{}, false
		}
	}
	rest := strings.TrimLeft(line[at:], string(char))
	return mark{before: trim(line[:at]), char: char, n: len(line) - at - len(rest), info: strings.TrimSpace(rest)}, true
}

// first reports that nothing but space stands before the mark.
func (m mark) first() bool { return strings.TrimSpace(m.before) == "" }

// closes reports whether m ends a block that open began.
func (m mark) closes(open mark) bool {
	return m.first() && m.info == "" && m.char == open.char && m.n >= open.n
}

// opensPython reports whether m begins a block of Python. Behind text only a
// bare label counts: there is prose about fences, too.
func (m mark) opensPython() bool {
	return isPython(m.info) && (m.first() || marker.MatchString(m.before) || !strings.ContainsAny(m.info, " \t"))
}

// marker is a list item's number or bullet: its block is indented behind it.
var marker = regexp.MustCompile(`^\s*(?:[-*+]|\d{1,9}[.)])[ \t]+$`)

// indent returns how many columns a block's lines may be indented by.
func (m mark) indent() int {
	if m.first() || marker.MatchString(m.before) {
		return len(m.before)
	}
	return 0
}

// label finds the language in an info string: `python title="x"`,
// `{.python .x}`, `python,linenos`, `python:main.py`, `python{1,3}`.
var label = regexp.MustCompile(`^\{?\s*\.?([A-Za-z0-9_+#.-]*)`)

// isPython reports whether a fence's label means Python. No label does not:
// what it holds would be a guess. Neither does pycon, a session with prompts.
func isPython(info string) bool {
	switch language(info) {
	case "python", "py", "python3", "py3", "ipython", "ipython3":
		return true
	}
	return false
}

// language returns the language that an info string names, in lower case.
func language(info string) string {
	return strings.ToLower(label.FindStringSubmatch(info)[1])
}

// unindent removes up to n columns of space from the start of line.
func unindent(line string, n int) string {
	for n > 0 && line != "" && (line[0] == ' ' || line[0] == '\t') {
		line = line[1:]
		n--
	}
	return line
}
