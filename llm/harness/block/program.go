package block

import "strings"

// A Program is the block of code that is being read, line by line.
type Program struct {
	language string
	fence    Mark
	text     strings.Builder
	src      source
	shift    int    // columns by which its lines may be indented, for the fence is
	known    bool   // the first line has shown by how many they are
	tail     string // debris, if nothing but debris follows
	marked   int    // bytes of text before the last closing fence that stood in a string, -1: none did
}

// NewProgram begins a program in a canonical language behind the fence open.
func NewProgram(language string, open Mark) *Program {
	return &Program{language: language, fence: open, src: sourceOf(language), shift: open.indent(), marked: -1}
}

// Language returns the canonical language.
func (p *Program) Language() string { return p.language }

// Fence returns the mark that opened the block.
func (p *Program) Fence() Mark { return p.fence }

// InString reports whether the next line begins inside a string.
func (p *Program) InString() bool { return p.src.inString() }

// Blank reports whether there is nothing but space so far.
func (p *Program) Blank() bool { return strings.TrimSpace(p.text.String()+p.tail) == "" }

// Line reads a line of the output that ends in end, "" at the end of the
// output. shown is what it adds to the program's text; over says that the
// block is closed, so that End is next.
func (p *Program) Line(line, end string) (shown string, over bool) {
	line = strings.TrimSuffix(line, "\r")
	if p.src.inString() {
		if m, ok := MarkIn(Trim(line)); ok && m.Closes(p.fence) {
			p.marked = p.text.Len()
		}
		return p.Add(line, end), false
	}
	clean := Trim(line)
	m, ok := MarkIn(clean)
	blank := p.Blank()
	behind, after := p.src.clone(), p.src.clone() // to see where text behind code would stand
	switch {
	case clean != line && !ok && !(blank && strings.TrimSpace(clean) == "") && after.line(clean):
		// A template's token is no code: the model's turn is over.
		if strings.TrimSpace(clean) != "" {
			shown = p.Add(clean, end)
		}
		return shown, true
	case !ok:
		return p.Add(line, end), false
	case m.First() && Language(Label(m.Info)) == p.language && blank:
		p.fence = m // the opening fence once more
		return "", false
	case m.Closes(p.fence):
		return "", true
	case m.Info == "" && m.Char == p.fence.Char && m.N >= p.fence.N && behind.line(m.Before):
		return p.Add(m.Before, "\n"), true // no language has three ticks outside of strings
	default:
		return p.Add(line, end), false
	}
}

// Add adds a line whatever it is, and returns what it adds to the text.
func (p *Program) Add(line, end string) (shown string) {
	line = strings.TrimSuffix(line, "\r")
	if bare := strings.TrimLeft(line, " \t"); bare != "" && !p.known {
		p.known = true // a program's first line is never indented
		p.shift = min(p.shift, len(line)-len(bare))
	}
	line = unindent(line, p.shift)
	p.src.line(line)
	at := Debris(line, p.strayTicks(), false)
	if p.tail != "" && strings.TrimSpace(line[:at]) == "" {
		p.tail += line + end
		return ""
	}
	text := p.tail + line[:at]
	p.tail = ""
	if at < len(line) {
		p.tail = line[at:] + end
	} else {
		text += end
	}
	p.text.WriteString(text)
	return text
}

// strayTicks reports whether a back-tick at the end cannot be code.
func (p *Program) strayTicks() bool { return p.language == "python" || p.language == "sql" }

// End returns the text of the whole program, and what of it was not shown yet.
func (p *Program) End() (text, shown string) {
	text = p.text.String()
	if strings.HasSuffix(p.tail, "\n") && text != "" && !strings.HasSuffix(text, "\n") {
		shown = "\n" // the line end behind dropped debris
	}
	return text + shown, shown
}

// Cut returns the text before the last fence that would have closed the block
// had it not stood in a string.
func (p *Program) Cut() (text string, ok bool) {
	if p.marked < 0 {
		return "", false
	}
	return p.text.String()[:p.marked], true
}
