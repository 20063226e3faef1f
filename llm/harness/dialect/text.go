package dialect

import (
	"strings"

	"atoll/llm/harness/block"
)

// answer is what an attempt to read the start of buf came to.
type answer int

const (
	no answer = iota
	yes
	unsure // more of the output is needed
)

// readText decides about the start of prose.
func (p *Parser) readText(end bool) bool {
	n := 0
	if strings.TrimSpace(p.before) == "" {
		n = len(p.buf) - len(strings.TrimLeft(p.buf, " \t"))
	}
	if n == len(p.buf) {
		if end {
			p.say(n)
		}
		return false
	}
	a := no
	switch p.buf[n] {
	case '`', '~':
		a = p.openFence(n, end)
	case '<', '[', '{', 0xE2:
		if n > 0 {
			p.say(n)
			return true
		}
		a = p.open(end)
	}
	switch a {
	case yes:
		return true
	case unsure:
		return false
	}
	row := 1 // a row of ticks is judged as one
	if c := p.buf[n]; c == '`' || c == '~' {
		row = len(p.buf[n:]) - len(strings.TrimLeft(p.buf[n:], string(c)))
	}
	n += row
	for n < len(p.buf) && p.buf[n-1] != '\n' && strings.IndexByte("<[{`~\xE2", p.buf[n]) < 0 {
		n++
	}
	p.say(n)
	return true
}

// open tries to open something at the start of buf with a token or brace.
func (p *Parser) open(end bool) answer {
	if p.buf[0] == '{' || p.buf[0] == '[' {
		if a := p.beginsObject(end); a != no {
			if a == yes {
				p.enter(object)
			}
			return a
		}
	}
	best := opener{}
	for _, o := range openers {
		if o.line && strings.TrimSpace(p.before) != "" {
			continue
		}
		if strings.HasPrefix(p.buf, o.token) {
			if len(o.token) > len(best.token) {
				best = o
			}
		} else if !end && strings.HasPrefix(o.token, p.buf) {
			return unsure
		}
	}
	switch {
	case best.token == "":
		return p.debris(end)
	case best.drop:
		if best.token == "</think>" && p.calls > 0 {
			p.fail("the call stands in the middle of thinking")
			return yes
		}
		p.skip(len(best.token))
		return yes
	}
	if !best.keep {
		p.skip(len(best.token))
	}
	p.enter(best.what)
	p.form, p.closer, p.header = best.form, best.end, ""
	return yes
}

// debris drops tokens of templates from the start of buf, if nothing else
// follows them in the line.
func (p *Parser) debris(end bool) answer {
	rest, some := p.buf, false
	for {
		found := ""
		for _, t := range block.Tokens() {
			if strings.HasPrefix(rest, t) && len(t) > len(found) {
				found = t
			} else if !end && strings.HasPrefix(t, rest) && (rest != "" || some) {
				return unsure
			}
		}
		if found == "" {
			break
		}
		some = true
		rest = strings.TrimLeft(rest[len(found):], " \t\r")
	}
	if !some || rest != "" && rest[0] != '\n' {
		return no
	}
	p.skip(len(p.buf) - len(rest))
	return yes
}

// beginsObject tells a brace that may begin a call from one of prose.
func (p *Parser) beginsObject(end bool) answer {
	keys := firstKeys
	if p.s.Dialect == Terminus {
		keys = append(keys[:len(keys):len(keys)], terminusKeys...)
	}
	partial := unsure
	if end {
		partial = no
	}
	s := strings.TrimLeft(p.buf[1:], " \t\r\n")
	if p.buf[0] == '[' {
		if s == "" {
			return partial
		}
		if s[0] != '{' {
			return no
		}
		s = strings.TrimLeft(s[1:], " \t\r\n")
	} else if strings.HasPrefix(s, "}") && !p.said && p.calls == 0 {
		return yes // an answer that is an empty object
	}
	if s == "" {
		return partial
	}
	if s[0] != '"' && s[0] != '\'' {
		return no
	}
	quote := s[:1]
	s = s[1:]
	for _, k := range keys {
		want := k + quote
		if strings.HasPrefix(s, want) {
			s = strings.TrimLeft(s[len(want):], " \t\r\n")
			if s == "" {
				return partial
			}
			if s[0] == ':' {
				return yes
			}
			return no
		}
		if strings.HasPrefix(want, s) {
			return partial
		}
	}
	return no
}

// openFence tries to open a block with the row of ticks or tildes at buf[n].
func (p *Parser) openFence(n int, end bool) answer {
	c := p.buf[n]
	row := p.buf[n:][:len(p.buf[n:])-len(strings.TrimLeft(p.buf[n:], string(c)))]
	switch {
	case n+len(row) == len(p.buf) && !end:
		return unsure
	case len(row) < 3 || c == '~' && strings.TrimSpace(p.before) != "":
		return no
	}
	line, rest, whole := strings.Cut(p.buf, "\n")
	if !whole && !end {
		return unsure
	}
	if strings.IndexByte(line[n+len(row):], '`') >= 0 && c == '`' {
		return no // code in a line
	}
	m, ok := block.MarkIn(block.Trim(p.before + line))
	if !ok {
		return no
	}
	language, label := m.Opens(), block.Label(m.Info)
	if label == "tool_code" {
		language = "python"
	}
	runs := language != "" && p.s.speaks(language) && (p.s.fenced() || label == "tool_code")
	if !runs && !m.First() {
		return no
	}
	p.label, p.fence = label, m
	eol := len(p.buf) - len(rest)
	switch {
	case runs:
		p.skip(eol)
		p.enter(code)
		p.program = block.NewProgram(language, m)
	case p.holds(label):
		p.enter(held) // from behind the fence's line
		p.from = eol
	default:
		p.say(eol)
		p.enter(quote)
	}
	return yes
}

// holds reports whether a block with this label is read to its end before it
// is known what it is.
func (p *Parser) holds(label string) bool {
	switch label {
	case "", "json", "tool_call", "tool":
		return true
	case "console", "shell-session", "terminal":
		return p.s.fenced() && p.s.speaks("shell")
	}
	return false
}
