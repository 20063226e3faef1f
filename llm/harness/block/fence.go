// Package block reads what all dialects with fenced code share: the fences,
// the languages they name, the programs between them, and the tokens of chat
// templates that models leave in their text.
package block

import (
	"regexp"
	"strings"
)

// A Mark is a line that can open or close a fenced block. Source:
// https://spec.commonmark.org/0.31.2/#fenced-code-blocks
type Mark struct {
	Before string // what stands before it in the line, without tokens at its end
	Char   byte   // '`' or '~'
	N      int    // how many of them
	Info   string // what stands behind it, without spaces around it
}

// MarkIn finds the fence of a line: a row of ticks or tildes with its label.
// A row of ticks is also found behind text, where a label of a
// language makes it an opening; a row with a tick behind it is code in a line.
func MarkIn(line string) (Mark, bool) {
	trimmed := strings.TrimLeft(line, " \t")
	char, at := byte('~'), len(line)-len(trimmed)
	if !strings.HasPrefix(trimmed, "~~~") {
		end := strings.LastIndexByte(line, '`') + 1
		at = len(strings.TrimRight(line[:end], "`"))
		char = '`'
		if end-at < 3 {
			return Mark{}, false
		}
	}
	rest := strings.TrimLeft(line[at:], string(char))
	return Mark{Before: Trim(line[:at]), Char: char, N: len(line) - at - len(rest), Info: strings.TrimSpace(rest)}, true
}

// First reports that nothing but space stands before the mark.
func (m Mark) First() bool { return strings.TrimSpace(m.Before) == "" }

// Closes reports whether m ends a block that open began.
func (m Mark) Closes(open Mark) bool {
	return m.First() && m.Info == "" && m.Char == open.Char && m.N >= open.N
}

// Opens returns the canonical language of the block that m begins, "" if it
// begins none that can run. Behind text only a bare label counts: there is
// prose about fences, too.
func (m Mark) Opens() string {
	if m.First() || marker.MatchString(m.Before) || !strings.ContainsAny(m.Info, " \t") {
		return Language(Label(m.Info))
	}
	return ""
}

// marker is a list item's number or bullet: its block is indented behind it.
var marker = regexp.MustCompile(`^\s*(?:[-*+]|\d{1,9}[.)])[ \t]+$`)

// indent returns how many columns a block's lines may be indented by.
func (m Mark) indent() int {
	if m.First() || marker.MatchString(m.Before) {
		return len(m.Before)
	}
	return 0
}

// label finds the language in an info string: `python title="x"`,
// `{.python .x}`, `python,linenos`, `python:main.py`, `python{1,3}`.
var label = regexp.MustCompile(`^\{?\s*\.?([A-Za-z0-9_+#.-]*)`)

// Label returns the language that an info string names, as written but in
// lower case.
func Label(info string) string {
	return strings.ToLower(label.FindStringSubmatch(info)[1])
}

// Language returns the canonical name of a language that can run, "" for all
// others. No label is none: what it holds would be a guess. Neither is pycon,
// a session with prompts.
func Language(name string) string {
	switch strings.ToLower(name) {
	case "python", "py", "python3", "py3", "ipython", "ipython3":
		return "python"
	case "javascript", "js", "node", "nodejs":
		return "javascript"
	case "sql", "duckdb", "sqlite":
		return "sql"
	case "shell", "bash", "sh", "zsh", "mswea_bash_command":
		return "shell"
	}
	return ""
}

// unindent removes up to n columns of space from the start of line.
func unindent(line string, n int) string {
	for n > 0 && line != "" && (line[0] == ' ' || line[0] == '\t') {
		line = line[1:]
		n--
	}
	return line
}
