package dialect

import (
	"strings"

	"atoll/llm"
	"atoll/llm/harness"
	"atoll/llm/harness/block"
)

// Parser reads the output of a model:
//
//	text ──fence of a language──▶ code ───its fence, not in a string──▶ call
//	text ──other fence──────────▶ quote ──its fence──▶ text (never run)
//	text ──fence of JSON────────▶ held ───its fence──▶ calls or text
//	text ──opening token────────▶ call ───closing token, at which it can be read──▶ calls
//	text ──{"name"──────────────▶ object ─its end────▶ calls or text
//	text ──<think>──────────────▶ think ──</think>───▶ text (never run)
//
// buf holds what is not decided. Each step looks only as far as it must to
// decide for good, whatever follows: that makes the result the same for every
// way in which the output is cut into pieces.
type Parser struct {
	s     Settings
	out   block.Deltas
	buf   string
	state state
	from  int // of buf was looked at in vain
	calls int
	err   error

	before  string // text: what the current line holds so far
	said    bool   // something was said
	program *block.Program
	fence   block.Mark // quote, held
	label   string     // held: the fence's language
	form    form       // call
	closer  string     // think: what ends it
	header  string     // call of harmony: the recipient
}

type state int

const (
	text state = iota
	code
	quote
	held
	call
	object
	think
	tail
	over
)

// NewParser returns a parser.
func NewParser(s Settings) *Parser {
	p := &Parser{s: s}
	if s.Thinking {
		p.state, p.closer = think, "</think>"
	}
	return p
}

// Push implements [harness.Parser].
func (p *Parser) Push(piece string) []llm.Delta {
	p.buf += piece
	p.run(false)
	return p.take()
}

func (p *Parser) take() []llm.Delta {
	ds := p.out
	p.out = nil
	return ds
}

func (p *Parser) run(end bool) {
	for p.step(end) {
	}
}

// step decides about the start of buf, and reports whether there may be more
// to decide.
func (p *Parser) step(end bool) bool {
	switch p.state {
	case text:
		return p.buf != "" && p.readText(end)
	case code, quote, held:
		return p.buf != "" && p.readLine(end)
	case call:
		return p.readCall(end)
	case object:
		return p.readObject(end)
	case tail:
		return p.readTail(end)
	case think:
		return p.readThought(end)
	}
	p.buf = ""
	return false
}

// say passes on n bytes of buf as prose.
func (p *Parser) say(n int) {
	s := p.buf[:n]
	p.out.Text(s)
	p.said = p.said || strings.TrimSpace(s) != ""
	if i := strings.LastIndexByte(s, '\n'); i >= 0 {
		p.before = s[i+1:]
	} else {
		p.before += s
	}
	p.skip(n)
}

// skip drops n bytes of buf.
func (p *Parser) skip(n int) { p.buf, p.from = p.buf[n:], 0 }

func (p *Parser) enter(s state) { p.state, p.from = s, 0 }

// fail ends the answer: nothing of it is run.
func (p *Parser) fail(why string) {
	if p.err == nil {
		p.err = &harness.Malformed{Dialect: string(p.s.Dialect), Why: why, Want: p.s.Want()}
	}
	p.state = over
}

// made passes on calls. show says that their code was not shown yet.
func (p *Parser) made(cs []harness.CodeCall, show bool) {
	p.enter(text)
	for _, c := range cs {
		if p.calls > 0 && p.s.Dialect == MiniSWE {
			p.fail("there is more than one block")
			return
		}
		if show {
			p.out.Code(c.Code)
		}
		p.calls++
		p.out = append(p.out, llm.Delta{Call: harness.NewCodeCall("", c.Language, c.Code)})
		if p.s.One && p.s.Dialect != MiniSWE {
			p.state = over
			return
		}
	}
}

// Close implements [harness.Parser]. What is not complete is no call when the
// output was cut off; when the model ended by itself, the end of the output
// stands for the end of a block or call.
func (p *Parser) Close(truncated bool) ([]llm.Delta, error) {
	if truncated {
		p.closeCut()
	} else {
		p.run(true)
		if p.state == code {
			p.closeCode()
		}
	}
	if p.s.Require && p.calls == 0 && p.err == nil {
		p.fail("there is no call")
	}
	return p.take(), p.err
}

// closeCut ends an output that was cut off.
func (p *Parser) closeCut() {
	switch p.state {
	case text, quote:
		p.out.Text(p.buf)
	case code:
		// Even a whole fence may be the start of more.
		if m, ok := block.MarkIn(block.Trim(p.buf)); !ok || !m.Closes(p.program.Fence()) {
			p.out.Code(p.program.Add(p.buf, ""))
		}
		p.fail("the program was cut off before its end")
	case held, object:
		if meant.MatchString(p.buf) || p.s.Dialect == Terminus {
			p.fail(cutOff)
		} else {
			p.out.Text(p.buf)
		}
	case call:
		p.fail(cutOff)
	}
	p.buf = ""
}

// closeCode ends a block that the end of the output closes.
func (p *Parser) closeCode() {
	switch cut, ok := p.program.Cut(); {
	case p.program.InString() && ok && p.s.Locked:
		p.enter(text)
		p.emit(p.program.Language(), cut)
	case p.program.InString():
		p.fail("the program ends inside a string")
	case p.program.Blank():
		p.fail("the program is empty")
	default:
		p.endCode()
	}
}

// endCode ends the program that is being read.
func (p *Parser) endCode() {
	src, shown := p.program.End()
	p.out.Code(shown)
	p.enter(text)
	p.before = ""
	if strings.TrimSpace(src) != "" {
		p.emit(p.program.Language(), src)
	}
}

// emit makes a call of a program in a fence.
func (p *Parser) emit(language, src string) {
	var cs []harness.CodeCall
	why, is := "", false
	bare := strings.TrimSpace(src)
	if strings.HasPrefix(bare, "{") { // a call that stands where a program should
		if v, n, st := readJSON(bare, p.s.Repair, true); st == whole && strings.TrimSpace(bare[n:]) == "" {
			cs, why, is = p.s.calls(v)
		} else if meant.MatchString(bare) {
			why, is = "the call is not valid JSON", true
		}
	}
	if !is {
		if p.label == "tool_code" {
			cs, why = p.s.one(p.s.unwrap(src))
		} else {
			cs, why = p.s.one(p.s.made(language, src))
		}
	}
	if why != "" {
		p.fail(why)
		return
	}
	p.made(cs, false)
}
