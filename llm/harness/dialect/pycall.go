package dialect

import (
	"regexp"
	"strings"

	"atoll/llm/harness"
)

// pyCall finds a call of a tool in Python: print(default_api.run_code(
var pyCall = regexp.MustCompile(`^(?:print\(\s*)?(default_api\.)?([A-Za-z_]\w*)\(\s*(?:code|language)\s*=`)

// unwrap reads a block of Gemini's: a program, or a call of a tool that is
// written in Python.
func (s *Settings) unwrap(program string) (c harness.CodeCall, why string) {
	text := strings.TrimSpace(program)
	m := pyCall.FindStringSubmatchIndex(text)
	if m == nil {
		if strings.Contains(text, "default_api.") {
			return c, "the call has other arguments than language and code"
		}
		return s.made("python", program)
	}
	name := text[m[4]:m[5]]
	t, known := tools[name]
	switch {
	case !known && m[2] < 0:
		return s.made("python", program) // a function of its own
	case !known:
		return c, "there is no tool " + quoted(name)
	}
	rest := text[m[5]+1:]
	fields := map[string]string{}
	for {
		rest = strings.TrimLeft(rest, " \t\r\n,")
		if strings.HasPrefix(rest, ")") {
			break
		}
		key, after, ok := strings.Cut(rest, "=")
		if !ok {
			return c, "the call cannot be read"
		}
		value, n, ok := pyString(strings.TrimLeft(after, " \t\r\n"))
		if !ok {
			return c, "an argument is not a plain string"
		}
		fields[strings.TrimSpace(key)] = value
		rest = strings.TrimLeft(after, " \t\r\n")[n:]
	}
	if strings.Trim(rest, ") \t\r\n") != "" {
		return c, "something follows the call"
	}
	return s.fields(t, fields)
}

// pyString reads a string literal at the start of s; n is its length. What
// only Python can decode is not read.
func pyString(s string) (text string, n int, ok bool) {
	i := 0
	raw := strings.HasPrefix(s, "r") || strings.HasPrefix(s, "R")
	if raw {
		i++
	}
	if i >= len(s) || s[i] != '"' && s[i] != '\'' {
		return "", 0, false
	}
	quote := s[i : i+1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(s[i:], triple) {
		quote = triple
	}
	i += len(quote)
	var b strings.Builder
	for i < len(s) {
		switch {
		case strings.HasPrefix(s[i:], quote):
			return b.String(), i + len(quote), true
		case s[i] == '\n' && len(quote) == 1:
			return "", 0, false
		case s[i] == '\\' && i+1 < len(s):
			c := s[i+1]
			switch at := strings.IndexByte("ntr\\'\"", c); {
			case raw:
				b.WriteString(s[i : i+2])
			case at >= 0:
				b.WriteByte("\n\t\r\\'\""[at])
			case c == '\n':
			case strings.IndexByte("abfvxuUN01234567", c) >= 0:
				return "", 0, false
			default:
				b.WriteString(s[i : i+2])
			}
			i += 2
		default:
			b.WriteByte(s[i])
			i++
		}
	}
	return "", 0, false
}
