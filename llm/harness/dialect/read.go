package dialect

import (
	"regexp"
	"strings"

	"atoll/llm/harness"
	"atoll/llm/harness/block"
)

// readLine reads a line of a block.
func (p *Parser) readLine(end bool) bool {
	line, rest, whole := strings.Cut(p.buf[p.from:], "\n")
	if !whole && !end {
		return false
	}
	eol, lf := len(p.buf)-len(rest), ""
	if whole {
		lf = "\n"
	}
	m, ok := block.MarkIn(block.Trim(line))
	closed := ok && m.Closes(p.fence)
	switch p.state {
	case code:
		shown, ended := p.program.Line(line, lf)
		p.out.Code(shown)
		p.skip(eol)
		if ended {
			p.endCode()
		}
	case quote:
		if closed {
			p.say(len(block.Trim(line)))
			p.skip(len(line) - len(block.Trim(line)))
			p.say(len(lf))
			p.enter(text)
		} else {
			p.say(eol)
		}
	case held:
		start := strings.IndexByte(p.buf, '\n') + 1
		first := strings.TrimSpace(p.buf[start:eol])
		switch {
		case closed:
			p.judge(p.buf[start:p.from], eol, false)
		case first != "" && first[0] != '{' && first[0] != '[' && first[0] != '$':
			p.say(eol) // it is shown as it comes
			p.enter(quote)
		case !whole:
			p.judge(p.buf[start:], eol, true)
		default:
			p.from = eol
		}
	}
	return true
}

// judge decides about a block that was held, all of which is n bytes of buf.
// last says that no fence closed it.
func (p *Parser) judge(body string, n int, last bool) {
	cs, why, is := p.heldCalls(body)
	switch {
	case is && why == "":
		p.skip(n)
		p.before = ""
		p.made(cs, true)
	case is && (last || why != unreadable):
		p.fail(why)
	case is:
		p.from = n // the fence may stand in a string of the call
	default:
		p.say(n)
		p.enter(text)
		p.before = ""
	}
}

// unreadable is the one fault that more of the output might mend.
const unreadable = "the call is not valid JSON"

// heldCalls reads a block of JSON, or a session of a shell.
func (p *Parser) heldCalls(body string) (cs []harness.CodeCall, why string, is bool) {
	bare := strings.TrimSpace(body)
	if p.label == "console" || p.label == "shell-session" || p.label == "terminal" {
		src, ok := session(body)
		if !ok {
			return nil, "", false
		}
		cs, why = p.s.one(p.s.made("shell", src))
		return cs, why, true
	}
	if bare == "" || bare[0] != '{' && bare[0] != '[' {
		return nil, "", false
	}
	v, n, st := readJSON(bare, p.s.Repair, true)
	if st == whole && strings.Trim(bare[n:], "]} \t\r\n") == "" {
		if _, ok := v.get("commands"); ok && p.s.Dialect == Terminus {
			cs, said, why := p.s.terminal(v)
			p.out.Text(said)
			return cs, why, true
		}
		return p.s.calls(v)
	}
	return nil, unreadable, meant.MatchString(bare)
}

// session takes the commands from what a terminal would show. One that shows
// results as well is no program: they are what the model expects.
func session(body string) (src string, ok bool) {
	more := false
	for line := range strings.SplitSeq(strings.TrimSpace(body), "\n") {
		line = strings.TrimRight(line, "\r")
		cmd, prompt := strings.CutPrefix(line, "$ ")
		if !prompt && more {
			cmd, _ = strings.CutPrefix(line, "> ")
		} else if !prompt {
			return "", false
		}
		src += cmd + "\n"
		more = strings.HasSuffix(cmd, `\`)
	}
	return src, true
}

// readThought drops a thought up to its end.
func (p *Parser) readThought(end bool) bool {
	at, n := strings.Index(p.buf, p.closer), len(p.closer)
	if p.closer == harmonyEnd {
		at, n = harmonyStop(p.buf)
	}
	if at < 0 {
		return false // it may also go on to the end of the output
	}
	if p.closer != harmonyEnd { // with the space behind it
		after := strings.TrimLeft(p.buf[at+n:], " \t\r\n")
		if after == "" && !end {
			return false
		}
		n = len(p.buf) - at - len(after)
	}
	p.skip(at + n)
	p.enter(text)
	p.before = ""
	return true
}

// nearby is how many bytes behind a fault are looked at.
const nearby = 256

// readObject reads an object that may be a call.
func (p *Parser) readObject(end bool) bool {
	if !end && !strings.ContainsAny(p.buf[p.from:], "]}") {
		p.from = len(p.buf)
		return false
	}
	v, n, st := readJSON(p.buf, p.s.Repair, end)
	// What is wrong stays wrong. Near that place it is seen whether a call was
	// meant; if one was, a token at the end of the output may explain it.
	near := min(len(p.buf), n+nearby)
	if st == bad && n+nearby <= len(p.buf) && !meant.MatchString(p.buf[:near]) && p.s.Dialect != Terminus {
		p.enter(text)
		p.say(1)
		return true
	}
	if st != whole && !end {
		p.from = len(p.buf)
		return false
	}
	var cs []harness.CodeCall
	why, is := "", false
	_, typed := v.get("commands")
	switch {
	case st != whole:
		why, is = unreadable, meant.MatchString(p.buf[:near]) || p.s.Dialect == Terminus
		if body := block.Trim(p.buf); is && len(body) < len(p.buf) { // a token at the end
			if w, _, st := readJSON(body, p.s.Repair, true); st == whole {
				if cs, why, is = p.s.calls(w); is && why == "" {
					n = len(p.buf)
				}
			}
		}
	case typed && p.s.Dialect == Terminus:
		var said string
		if cs, said, why = p.s.terminal(v); why == "" {
			p.out.Text(said)
		}
		is = true
	case len(v.list) == 0:
		if strings.TrimSpace(p.buf[n:]) != "" || !end {
			return p.emptyObject(n, end)
		}
		why, is = "the call is empty", true
	default:
		cs, why, is = p.s.calls(v)
	}
	switch {
	case !is: // the brace is text, and so may be the rest
		p.enter(text)
		if st == whole {
			p.say(n)
		} else {
			p.say(1)
		}
	case why != "":
		p.fail(why)
	default:
		p.skip(n)
		p.made(cs, true)
		p.swallow()
	}
	return true
}

// emptyObject waits whether an empty object is the whole answer.
func (p *Parser) emptyObject(n int, end bool) bool {
	if !end && strings.TrimSpace(p.buf[n:]) == "" {
		return false
	}
	p.enter(text)
	p.say(n)
	return true
}

// swallow has the next closing bracket or semicolon dropped: models end lists
// that they did not begin, and put semicolons between calls.
func (p *Parser) swallow() {
	if p.state == text {
		p.enter(tail)
	}
}

// readTail drops what may stand directly behind an object that was a call.
func (p *Parser) readTail(end bool) bool {
	rest := strings.TrimLeft(p.buf, " \t\r\n")
	if rest == "" && !end {
		return false
	}
	if rest != "" && strings.IndexByte("];}", rest[0]) >= 0 {
		p.skip(len(p.buf) - len(rest) + 1)
		return true
	}
	p.enter(text)
	return p.buf != ""
}

// harmonyEnd names the ends of a message of harmony.
const harmonyEnd = "<|end|>"

var harmonyEnds = regexp.MustCompile(`<\|(?:end|return|call)\|>|<\|(?:start|channel)\|>`)

// harmonyStop finds the end of a message and the token that ends it; the
// beginning of the next message is left to be read.
func harmonyStop(s string) (at, n int) {
	m := harmonyEnds.FindStringIndex(s)
	if m == nil {
		return -1, 0
	}
	if strings.HasPrefix(s[m[0]:], "<|start|>") || strings.HasPrefix(s[m[0]:], "<|channel|>") {
		return m[0], 0
	}
	return m[0], m[1] - m[0]
}
