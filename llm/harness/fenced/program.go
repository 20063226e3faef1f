package fenced

import "strings"

// program is the block of Python that is being read.
type program struct {
	text  strings.Builder
	src   source
	shift int    // columns by which its lines may be indented, for the fence is
	known bool   // the first line has shown by how many they are
	tail  string // debris, if nothing but debris follows
}

// open begins a program behind the fence m.
func (p *parser) open(m mark) {
	p.state, p.fence = code, m
	p.program = program{shift: m.indent()}
}

func (p *parser) codeLine(out *deltas, line, end string) {
	line = strings.TrimSuffix(line, "\r")
	if p.src.inString() {
		p.add(out, line, end)
		return
	}
	clean := trim(line)
	m, ok := markIn(clean)
	blank := strings.TrimSpace(p.text.String()+p.tail) == ""
	behind := p.src // copies, to see where text behind code would stand
	after := p.src
	switch {
	case clean != line && !ok && !(blank && strings.TrimSpace(clean) == "") && after.line(clean):
		// A template's token is no Python: the model's turn is over.
		if strings.TrimSpace(clean) != "" {
			p.add(out, clean, end)
		}
		p.endCode(out)
	case !ok:
		p.add(out, line, end)
	case m.first() && isPython(m.info) && blank:
		p.fence = m // the opening fence once more
	case m.closes(p.fence):
		p.endCode(out)
	case m.info == "" && m.char == p.fence.char && m.n >= p.fence.n && behind.line(m.before):
		p.add(out, m.before, "\n") // Python has no ticks outside of strings
		p.endCode(out)
	default:
		p.add(out, line, end)
	}
}

// add adds a line to the program.
func (p *parser) add(out *deltas, line, end string) {
	line = strings.TrimSuffix(line, "\r")
	if bare := strings.TrimLeft(line, " \t"); bare != "" && !p.known {
		p.known = true // a program's first line is never indented
		p.shift = min(p.shift, len(line)-len(bare))
	}
	line = unindent(line, p.shift)
	p.src.line(line)
	at := debris(line, true, false)
	if p.tail != "" && strings.TrimSpace(line[:at]) == "" {
		p.tail += line + end
		return
	}
	text := p.tail + line[:at]
	p.tail = ""
	if at < len(line) {
		p.tail = line[at:] + end
	} else {
		text += end
	}
	p.text.WriteString(text)
	out.code(text)
}

// endCode ends the program: what it says is a call.
func (p *parser) endCode(out *deltas) {
	text := p.text.String()
	if strings.HasSuffix(p.tail, "\n") && text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n" // the line end behind dropped debris
		out.code("\n")
	}
	p.program = program{}
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
