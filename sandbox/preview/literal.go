package preview

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// literal writes s as a Python string literal. It is exact, and it is the one
// way in which anything of a file gets into a prompt: besides quotes, control
// and invisible characters it escapes what could be taken for a code fence or
// for a token of a chat template (every "<", every back-tick, "[" before a
// capital or a slash), which Python reads back unchanged. Bytes that are not
// UTF-8 become the surrogates that Python's file functions use for them.
func literal(s string) string {
	var b strings.Builder
	b.Grow(len(s) + 2)
	b.WriteByte('"')
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\udc%02x`, s[i])
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '<' || r == '`' || r == '[' && tokenLike(s[i+1:]):
			fmt.Fprintf(&b, `\x%02x`, r)
		case strconv.IsPrint(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
		i += n
	}
	b.WriteByte('"')
	return b.String()
}

// safe makes a line of our own words harmless. They hold content of the file
// only as literals, so this changes nothing, unless the child that made the
// card was taken over.
func safe(s string) string {
	l := literal(s)
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(l[1 : len(l)-1])
}

func tokenLike(rest string) bool {
	return rest != "" && (rest[0] == '/' || rest[0] >= 'A' && rest[0] <= 'Z')
}

// shown is literal for a value that may be cut to n characters.
func shown(s string, n int) string {
	if c := clip(s, n); c != s {
		return literal(c) + "…"
	}
	return literal(s)
}

// clip keeps the first n characters of s.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

func literals(ss []string) string {
	p := make([]string, len(ss))
	for i, s := range ss {
		p[i] = literal(s)
	}
	return "[" + strings.Join(p, ", ") + "]"
}
