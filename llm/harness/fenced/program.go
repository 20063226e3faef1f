package fenced

import (
	"strings"

	"atoll/llm/harness/block"
)

// open begins a program behind the fence m.
func (p *parser) open(m block.Mark) {
	p.state, p.program = code, block.NewProgram("python", m)
}

func (p *parser) codeLine(out *block.Deltas, line, end string) {
	shown, over := p.program.Line(line, end)
	out.Code(shown)
	if over {
		p.endCode(out)
	}
}

// endCode ends the program: what it says is a call.
func (p *parser) endCode(out *block.Deltas) {
	text, shown := p.program.End()
	out.Code(shown)
	p.program = nil
	p.state = prose
	bare := strings.TrimSpace(text)
	if bare == "" {
		return
	}
	switch v, src, rest := readObject(strings.TrimSpace(strings.TrimPrefix(bare, "<tool_call>")), true); {
	case v == called && strings.TrimSpace(rest) == "":
		p.call(out, src)
	case v == quoted:
		p.call(out, text)
	default:
		p.fail("the call cannot be read")
	}
}
