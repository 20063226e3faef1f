package block

import (
	"regexp"
	"strings"
)

// shell follows a POSIX shell: quotes go on over lines, and the lines of a
// here-document are text.
type shell struct {
	quote byte
	docs  []document // here-documents that are open or begin in the next line
}

// document is a here-document: its last line, and whether tabs may stand
// before that.
type document struct {
	end  string
	tabs bool
}

// heredoc finds the beginning of a here-document; the here-string <<< is none.
var heredoc = regexp.MustCompile(`^<<(-?)[ \t]*(?:'([^']+)'|"([^"]+)"|\\?([A-Za-z0-9_.!+-]+))`)

func (s *shell) inString() bool { return s.quote != 0 || len(s.docs) > 0 }

func (s *shell) clone() source {
	c := *s
	c.docs = append([]document(nil), s.docs...)
	return &c
}

func (s *shell) line(text string) (plain bool) {
	if len(s.docs) > 0 && s.quote == 0 {
		d, bare := s.docs[0], text
		if d.tabs {
			bare = strings.TrimLeft(text, "\t")
		}
		if bare == d.end {
			s.docs = s.docs[1:]
		}
		return false
	}
	for i := 0; i < len(text); i++ {
		rest := text[i:]
		switch {
		case s.quote == '\'':
			if rest[0] == '\'' {
				s.quote = 0
			}
		case rest[0] == '\\':
			i++
		case s.quote == '"':
			if rest[0] == '"' {
				s.quote = 0
			}
		case rest[0] == '"' || rest[0] == '\'':
			s.quote = rest[0]
		case rest[0] == '#' && (i == 0 || strings.IndexByte(" \t;&|(", text[i-1]) >= 0):
			return false
		case strings.HasPrefix(rest, "<<<"):
			i += 2
		case strings.HasPrefix(rest, "<<"):
			if m := heredoc.FindStringSubmatch(rest); m != nil {
				s.docs = append(s.docs, document{end: m[2] + m[3] + m[4], tabs: m[1] != ""})
				i += len(m[0]) - 1
			}
		}
	}
	return !s.inString()
}
