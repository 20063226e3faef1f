package fenced

import "strings"

// source follows Python source text line by line, as far as it takes to know
// whether a line begins inside a string: a fence there is text of the program.
// String prefixes do not matter to that, for a backslash keeps a quote from
// ending even a raw string. Source:
// https://docs.python.org/3/reference/lexical_analysis.html
type source struct {
	quote string // what ends the open string; empty: none is open
}

// inString reports whether the next line begins inside a string.
func (s *source) inString() bool { return s.quote != "" }

// line reads one line, without its end. plain reports that the line ends
// neither in a string nor in a comment.
func (s *source) line(text string) (plain bool) {
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
