// Package gbnf writes grammars in the form that llama.cpp's samplers take.
// Source: https://github.com/ggml-org/llama.cpp/blob/master/grammars/README.md
package gbnf

import (
	"fmt"
	"slices"
	"strings"
)

// A Grammar is a list of rules. The zero value is empty.
type Grammar struct{ rules []string }

// Rule adds a rule.
func (g *Grammar) Rule(name, body string) { g.rules = append(g.rules, name+" ::= "+body) }

// String returns the grammar, a rule a line.
func (g *Grammar) String() string { return strings.Join(g.rules, "\n") + "\n" }

// Text returns s as a literal.
func Text(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		b.WriteString(escape(r, `"\`))
	}
	b.WriteByte('"')
	return b.String()
}

// Any returns alternatives of literals.
func Any(texts ...string) string {
	quoted := make([]string, len(texts))
	for i, t := range texts {
		quoted[i] = Text(t)
	}
	return "( " + strings.Join(quoted, " | ") + " )"
}

// Until adds a rule for any text that ends with the first mark in it. There is
// a rule for each part of the mark that may have been written, because a
// grammar cannot say "not": each knows where the next character leads.
func (g *Grammar) Until(name, mark string) {
	m := []rune(mark)
	state := func(n int) string {
		if n == 0 {
			return name
		}
		return fmt.Sprintf("%s-%d", name, n)
	}
	var known []rune
	for _, r := range m {
		if !slices.Contains(known, r) {
			known = append(known, r)
		}
	}
	for n := range m {
		others := "[^"
		var ways []string
		for _, r := range known {
			others += escape(r, `]\^-`)
			next := follow(m, n, r)
			switch {
			case next == len(m):
				ways = append(ways, Text(string(r)))
			default:
				ways = append(ways, Text(string(r))+" "+state(next))
			}
		}
		g.Rule(state(n), others+"] "+name+" | "+strings.Join(ways, " | "))
	}
}

// follow returns how much of m is written when r follows its first n runes:
// the longest beginning of m at the end of the text.
func follow(m []rune, n int, r rune) int {
	text := append(slices.Clone(m[:n]), r)
	for k := len(text); k > 0; k-- {
		if k <= len(m) && slices.Equal(text[len(text)-k:], m[:k]) {
			return k
		}
	}
	return 0
}

// escape writes r, with a backslash if it is special.
func escape(r rune, special string) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r == '\t':
		return `\t`
	case r == '^' || r == '-': // the library knows no backslash before these
		if strings.ContainsRune(special, r) {
			return fmt.Sprintf(`\x%02X`, r)
		}
	case strings.ContainsRune(special, r):
		return `\` + string(r)
	}
	return string(r)
}
