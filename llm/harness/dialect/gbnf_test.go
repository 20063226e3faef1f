package dialect_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A generator writes random texts of a grammar, as a model that is locked by
// it might. It reads what package gbnf and the dialects write, not all of GBNF.
type generator struct {
	rules map[string]*node
	rnd   *rand.Rand
	left  int // steps until only the shortest ways are taken
}

// node is a part of a rule.
type node struct {
	kind     byte // '|' alternatives, ' ' sequence, '"' text, '[' class, 'r' rule, '*' repetition
	list     []*node
	text     string
	not      bool
	ranges   [][2]rune
	min, max int
	cost     int // characters of the shortest text
}

const endless = 1 << 20

func newGenerator(grammar string, rnd *rand.Rand) (*generator, error) {
	g := &generator{rules: map[string]*node{}, rnd: rnd}
	for line := range strings.SplitSeq(strings.TrimSpace(grammar), "\n") {
		name, body, ok := strings.Cut(line, " ::= ")
		if _, twice := g.rules[name]; !ok || twice {
			return nil, fmt.Errorf("rule %q", line)
		}
		r := &reader{s: body}
		n := r.choice()
		if r.err != nil || r.i != len(body) {
			return nil, fmt.Errorf("rule %q at %d: %v", line, r.i, r.err)
		}
		g.rules[name] = n
	}
	for range len(g.rules) + 20 { // until nothing changes
		for _, n := range g.rules {
			g.weigh(n)
		}
	}
	if g.rules["root"] == nil || g.rules["root"].cost >= endless {
		return nil, fmt.Errorf("the grammar has no finite text")
	}
	return g, nil
}

func (g *generator) weigh(n *node) int {
	cost := 0
	switch n.kind {
	case '"':
		cost = utf8.RuneCountInString(n.text)
	case '[':
		cost = 1
	case 'r':
		cost = endless
		if to := g.rules[n.text]; to != nil && to.cost > 0 {
			cost = to.cost
		}
	case '*':
		cost = n.min * g.weigh(n.list[0])
		n.cost = cost
		return min(cost, endless)
	case ' ':
		for _, e := range n.list {
			cost += g.weigh(e)
		}
	case '|':
		cost = endless
		for _, e := range n.list {
			cost = min(cost, g.weigh(e))
		}
	}
	n.cost = min(cost, endless)
	return n.cost
}

func (g *generator) text() string {
	var b strings.Builder
	g.left = 20 + g.rnd.IntN(400)
	g.write(&b, g.rules["root"])
	return b.String()
}

func (g *generator) write(b *strings.Builder, n *node) {
	g.left--
	switch n.kind {
	case '"':
		b.WriteString(n.text)
	case '[':
		b.WriteRune(g.char(n))
	case 'r':
		g.write(b, g.rules[n.text])
	case ' ':
		for _, e := range n.list {
			g.write(b, e)
		}
	case '*':
		times := n.min
		for times < n.max && g.left > 0 && g.rnd.IntN(12) > 0 {
			times++
		}
		for range times {
			g.write(b, n.list[0])
		}
	case '|':
		pick := n.list[g.rnd.IntN(len(n.list))]
		if g.left < 0 {
			for _, e := range n.list {
				if e.cost < pick.cost {
					pick = e
				}
			}
		}
		g.write(b, pick)
	}
}

// pool holds the characters that make trouble more often than others.
var pool = []rune("\n\n\n``````'''\"\"\"\\\\{}[]<>/|#$:;,()  \té😀｜▁$*-abcdnrtux0123\r")

func (g *generator) char(n *node) rune {
	for {
		r := pool[g.rnd.IntN(len(pool))]
		if g.rnd.IntN(3) == 0 {
			r = rune(' ' + g.rnd.IntN(95))
		}
		in := false
		for _, x := range n.ranges {
			in = in || x[0] <= r && r <= x[1]
		}
		if in != n.not {
			return r
		}
	}
}

// reader reads a rule.
type reader struct {
	s   string
	i   int
	err error
}

func (r *reader) space() {
	for r.i < len(r.s) && r.s[r.i] == ' ' {
		r.i++
	}
}

func (r *reader) choice() *node {
	n := &node{kind: '|', list: []*node{r.sequence()}}
	for r.i < len(r.s) && r.s[r.i] == '|' {
		r.i++
		n.list = append(n.list, r.sequence())
	}
	return n
}

func (r *reader) sequence() *node {
	n := &node{kind: ' '}
	for r.space(); r.i < len(r.s) && r.s[r.i] != '|' && r.s[r.i] != ')' && r.err == nil; r.space() {
		var e *node
		switch c := r.s[r.i]; {
		case c == '"':
			e = &node{kind: '"'}
			for r.i++; r.i < len(r.s) && r.s[r.i] != '"'; {
				e.text += string(r.char())
			}
			r.i++
		case c == '[':
			e = r.class()
		case c == '(':
			r.i++
			e = r.choice()
			r.i++
		default:
			from := r.i
			for r.i < len(r.s) && strings.IndexByte(" )|?*+{", r.s[r.i]) < 0 {
				r.i++
			}
			e = &node{kind: 'r', text: r.s[from:r.i]}
			if from == r.i {
				r.err = fmt.Errorf("what is %q", r.s[r.i:])
			}
		}
		n.list = append(n.list, r.repeated(e))
	}
	return n
}

func (r *reader) repeated(e *node) *node {
	if r.i >= len(r.s) {
		return e
	}
	n := &node{kind: '*', list: []*node{e}, max: 40}
	switch r.s[r.i] {
	case '?':
		n.max = 1
	case '+':
		n.min = 1
	case '*':
	case '{':
		end := strings.IndexByte(r.s[r.i:], '}')
		low, high, _ := strings.Cut(r.s[r.i+1:r.i+end], ",")
		n.min, _ = strconv.Atoi(low)
		n.max, _ = strconv.Atoi(high)
		r.i += end
	default:
		return e
	}
	r.i++
	return n
}

func (r *reader) class() *node {
	n := &node{kind: '['}
	r.i++
	if r.s[r.i] == '^' {
		n.not = true
		r.i++
	}
	for r.i < len(r.s) && r.s[r.i] != ']' {
		from := r.char()
		to := from
		if r.s[r.i] == '-' && r.s[r.i+1] != ']' {
			r.i++
			to = r.char()
		}
		n.ranges = append(n.ranges, [2]rune{from, to})
	}
	r.i++
	return n
}

// char reads a character, with the escapes that the library knows.
func (r *reader) char() rune {
	c, n := utf8.DecodeRuneInString(r.s[r.i:])
	r.i += n
	if c != '\\' {
		return c
	}
	c, n = utf8.DecodeRuneInString(r.s[r.i:])
	r.i += n
	switch c {
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'x':
		u, err := strconv.ParseUint(r.s[r.i:r.i+2], 16, 32)
		r.i += 2
		r.err = err
		return rune(u)
	case '"', '\\', '[', ']':
		return c
	}
	r.err = fmt.Errorf("the library knows no \\%c", c)
	return c
}
