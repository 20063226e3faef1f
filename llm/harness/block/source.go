package block

import "strings"

// source follows source text line by line, as far as it takes to know whether
// a line begins inside a string or comment: a fence there is text of the
// program.
type source interface {
	// line reads one line, without its end. plain reports that the line ends
	// neither in a string nor in a comment.
	line(text string) (plain bool)
	// inString reports whether the next line begins inside a string.
	inString() bool
	// clone returns a copy that can be led astray.
	clone() source
}

func sourceOf(language string) source {
	switch language {
	case "javascript":
		return &script{}
	case "sql":
		return &query{}
	case "shell":
		return &shell{}
	}
	return &python{}
}

// python follows Python. String prefixes do not matter, for a backslash keeps
// a quote from ending even a raw string. Source:
// https://docs.python.org/3/reference/lexical_analysis.html
type python struct {
	quote string // what ends the open string; empty: none is open
}

func (s *python) inString() bool { return s.quote != "" }
func (s *python) clone() source  { c := *s; return &c }

func (s *python) line(text string) (plain bool) {
	for i := 0; i < len(text); i++ {
		rest := text[i:]
		switch {
		case s.quote != "" && rest[0] == '\\':
			if len(rest) == 1 {
				return false // the string goes on in the next line
			}
			i++
		case s.quote != "" && strings.HasPrefix(rest, s.quote):
			i += len(s.quote) - 1
			s.quote = ""
		case s.quote != "":
		case rest[0] == '#':
			return false
		case rest[0] == '"' || rest[0] == '\'':
			s.quote = rest[:1]
			if triple := strings.Repeat(s.quote, 3); strings.HasPrefix(rest, triple) {
				s.quote = triple
				i += 2
			}
		}
	}
	if len(s.quote) == 1 { // an error of the program, but the string ends here
		s.quote = ""
		return false
	}
	return s.quote == ""
}

// query follows SQL: quotes are doubled, not escaped, and strings go on over
// lines.
type query struct {
	quote string // what ends the open string or comment
}

func (s *query) inString() bool { return s.quote != "" }
func (s *query) clone() source  { c := *s; return &c }

func (s *query) line(text string) (plain bool) {
	for i := 0; i < len(text); i++ {
		rest := text[i:]
		switch {
		case s.quote != "":
			if strings.HasPrefix(rest, s.quote) { // of a doubled one, the second opens again
				i += len(s.quote) - 1
				s.quote = ""
			}
		case strings.HasPrefix(rest, "--"):
			return false
		case strings.HasPrefix(rest, "/*"):
			s.quote = "*/"
			i++
		case strings.HasPrefix(rest, "$$"):
			s.quote = "$$"
			i++
		case rest[0] == '"' || rest[0] == '\'':
			s.quote = rest[:1]
		}
	}
	return s.quote == ""
}

// script follows JavaScript only into comments: a fence of back-ticks cannot
// stand in a template string, where each would have to be escaped.
type script struct {
	comment bool
}

func (s *script) inString() bool { return s.comment }
func (s *script) clone() source  { c := *s; return &c }

func (s *script) line(text string) (plain bool) {
	quote := byte(0)
	for i := 0; i < len(text); i++ {
		rest := text[i:]
		switch {
		case s.comment:
			if strings.HasPrefix(rest, "*/") {
				s.comment = false
				i++
			}
		case quote != 0:
			if rest[0] == '\\' {
				i++
			} else if rest[0] == quote {
				quote = 0
			}
		case strings.HasPrefix(rest, "//"):
			return false
		case strings.HasPrefix(rest, "/*"):
			s.comment = true
			i++
		case rest[0] == '"' || rest[0] == '\'':
			quote = rest[0]
		}
	}
	return !s.comment && quote == 0
}
