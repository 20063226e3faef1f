package fenced

import (
	"fmt"
	"strings"

	"atoll/llm"
	"atoll/llm/harness"
	"atoll/llm/harness/block"
)

// parser reads lines as they come:
//
//	prose ──fence of Python──▶ code ───its fence, not in a string──▶ call, over
//	prose ──other fence──────▶ quote ──its fence──▶ prose (never run)
//	prose ──{"name"──────────▶ object ─its end────▶ call or malformed, over
//	quote ──{"name", first in a fence of JSON─▶ object
//
// What comes when the answer is over is dropped: a model that goes on after
// its call invents the output. An empty block is no call, an object without
// arguments is prose.
//
// Prose is passed on at once, but for the end of a line that could still turn
// out to be a fence, an object or a template's token. Code is passed on by
// lines, objects not at all.
type parser struct {
	state  state
	forced bool       // the answer began inside a block
	line   string     // the current line
	sent   int        // bytes of it that were passed on
	fence  block.Mark // what opened the block
	called bool
	err    error

	program *block.Program // in code

	first string // quote, object: the lines of a block that may hold an object
	held  string // object: its lines
}

type state int

const (
	prose state = iota
	code
	quote
	object
	over
)

// Push implements [harness.Parser].
func (p *parser) Push(piece string) []llm.Delta {
	var out block.Deltas
	p.feed(&out, piece)
	return out
}

// Stopped implements [harness.Resumer].
func (p *parser) Stopped(stop string) (ds []llm.Delta, ended bool) {
	ds = p.Push(stop)
	return ds, p.state == over
}

func (p *parser) feed(out *block.Deltas, s string) {
	for s != "" {
		part, rest, whole := strings.Cut(s, "\n")
		p.line += part
		s = rest
		switch {
		case whole:
			p.endLine(out, "\n")
		case p.state == prose, p.state == quote && p.first == "":
			if safe := settled(p.line); safe > p.sent {
				out.Text(p.line[p.sent:safe])
				p.sent = safe
			}
		}
	}
}

// settled returns how much of the beginning of a line of prose stays prose
// whatever follows in the line.
func settled(line string) int {
	at := block.Debris(line, false, true)
	if i := strings.IndexByte(line, '{'); i >= 0 {
		at = min(at, len(block.Trim(line[:i])))
	}
	end := strings.LastIndexByte(line, '`') + 1
	row := len(strings.TrimRight(line[:end], "`"))
	if end-row >= 3 || end > 0 && end == len(line) {
		at = min(at, len(block.Trim(line[:row])))
	}
	text := strings.TrimLeft(line, " \t")
	if strings.HasPrefix(text, "~~~") || strings.HasPrefix("~~~", text) || strings.TrimSpace(line[:at]) == "" {
		return 0
	}
	return at
}

// endLine reads the current line, which ends in end: nothing at the end of
// the output.
func (p *parser) endLine(out *block.Deltas, end string) {
	line, sent := p.line, p.sent
	p.line, p.sent = "", 0
	switch p.state {
	case prose:
		p.proseLine(out, line, sent, end)
	case code:
		p.codeLine(out, line, end)
	case quote:
		p.quoteLine(out, line, sent, end)
	case object:
		p.held += line + end
		p.judge(out, false)
	}
}

func (p *parser) proseLine(out *block.Deltas, line string, sent int, end string) {
	clean := block.Trim(line)
	m, ok := block.MarkIn(clean)
	switch {
	case ok && m.Opens() == "python":
		if !m.First() {
			out.Text(m.Before[sent:] + end)
		}
		p.open(m)
		return
	case ok && m.First():
		p.state, p.fence = quote, m
		switch block.Label(m.Info) {
		case "", "json", "tool_call", "tool":
			p.first = clean + end
		default:
			out.Text(clean + end)
		}
		return
	}
	if at := begin.FindStringIndex(clean); at != nil {
		out.Text(block.Trim(clean[:at[0]])[sent:])
		p.state, p.held = object, clean[at[0]:]+end
		p.judge(out, false)
		return
	}
	if clean != line && strings.TrimSpace(clean) == "" {
		return // tokens and nothing else
	}
	out.Text(clean[sent:] + end)
}

func (p *parser) quoteLine(out *block.Deltas, line string, sent int, end string) {
	m, ok := block.MarkIn(block.Trim(line))
	closed := ok && m.Closes(p.fence)
	if closed || end == "" {
		line = block.Trim(line)
	}
	if p.first != "" {
		text := strings.TrimSpace(line)
		if text == "" && !closed {
			p.first += line + end
			return
		}
		if at := begin.FindStringIndex(text); at != nil && at[0] == 0 {
			p.state, p.held = object, text+end
			p.judge(out, false)
			return
		}
		out.Text(p.first)
		p.first = ""
	}
	out.Text(line[sent:] + end)
	if closed {
		p.state = prose
	}
}

// judge decides about the object as far as it came; end says that no more
// comes. What is no call is read again, as what it is.
func (p *parser) judge(out *block.Deltas, end bool) {
	v, src, _ := readObject(p.held, end)
	if v == pending {
		return
	}
	held, first := p.held, p.first
	p.held, p.first = "", ""
	switch v {
	case called:
		p.call(out, src)
	case broken:
		p.fail("the call cannot be read")
	default:
		p.state = prose
		if first != "" {
			p.state = quote
		}
		line, rest, whole := strings.Cut(held, "\n")
		out.Text(first + line)
		if whole {
			out.Text("\n")
		}
		p.feed(out, rest)
	}
}

// call ends the answer with a call, fail with an error.
func (p *parser) call(out *block.Deltas, src string) {
	p.state, p.called = over, true
	*out = append(*out, llm.Delta{Call: harness.NewCodeCall("", "python", src)})
}

func (p *parser) fail(why string) {
	p.state, p.err = over, fmt.Errorf("%w: %s", llm.ErrMalformed, why)
}

// Close implements [harness.Parser]. An open block is complete when the model
// ended on its own outside of strings, and never runs when it was cut off.
func (p *parser) Close(truncated bool) ([]llm.Delta, error) {
	var out block.Deltas
	if p.state == code && truncated { // even a whole fence may be the start of more
		if m, ok := block.MarkIn(block.Trim(p.line)); !ok || !m.Closes(p.program.Fence()) {
			out.Code(p.program.Add(p.line, ""))
		}
		p.line = ""
	}
	if p.line != "" {
		p.endLine(&out, "")
	}
	for p.state == object {
		p.judge(&out, true)
		if p.line != "" {
			p.endLine(&out, "")
		}
	}
	out.Text(p.first)
	p.first = ""
	if p.state == code {
		switch {
		case truncated:
			p.fail("the program was cut off before its end")
		case p.program.InString():
			p.fail("the program ends inside a string")
		case p.program.Blank():
			p.fail("the program is empty")
		default:
			p.endCode(&out)
		}
	}
	if p.forced && !p.called && p.err == nil {
		p.fail("there is no program")
	}
	return out, p.err
}
