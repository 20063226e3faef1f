package fenced

import (
	"fmt"
	"strings"

	"atoll/llm"
	"atoll/llm/harness"
)

// parser reads lines as they come. Text of a line is passed on at once unless
// the line could still turn out to be a fence:
//
//	prose ──"```python"──▶ code ──"```"──▶ call, prose
//	prose ──"```other"───▶ quote ─"```"──▶ prose        (never run)
type parser struct {
	line   string // the current line, as far as it is held back
	mid    bool   // the current line was begun to be passed on: it is no fence
	inCode bool
	quote  bool // inside a block of another language
	lang   string
	code   strings.Builder
}

// Push implements [harness.Parser].
func (p *parser) Push(piece string) []llm.Delta {
	var out deltas
	for piece != "" {
		part, rest, whole := strings.Cut(piece, "\n")
		piece = rest
		p.line += part
		if whole {
			p.endLine(&out)
			continue
		}
		if p.mid || !mayBeFence(p.line) {
			p.pass(&out, p.line)
			p.line, p.mid = "", true
		}
	}
	return out
}

// mayBeFence reports whether a line that begins so can be a fence.
func mayBeFence(line string) bool {
	s := strings.TrimLeft(line, " ")
	return strings.HasPrefix(s, fence) || strings.HasPrefix(fence, s)
}

func (p *parser) endLine(out *deltas) {
	line, mid := p.line, p.mid
	p.line, p.mid = "", false
	s := strings.TrimSpace(line)
	if mid || !strings.HasPrefix(s, fence) {
		p.pass(out, line+"\n")
		return
	}
	label := strings.TrimSpace(strings.TrimLeft(s, "`"))
	switch {
	case p.inCode && label == "":
		p.endCode(out)
	case p.inCode: // a fence with a label inside a program is part of it
		p.pass(out, line+"\n")
	case p.quote:
		p.quote = label != ""
		p.pass(out, line+"\n")
	case isPython(label):
		p.inCode, p.lang = true, "python"
	default:
		p.quote = true
		p.pass(out, line+"\n")
	}
}

// isPython reports whether a fence's label means Python. No label does not:
// what it holds would be a guess.
func isPython(label string) bool {
	word, _, _ := strings.Cut(label, " ")
	switch strings.ToLower(strings.Trim(word, "{}.")) {
	case "python", "py", "python3", "py3", "ipython":
		return true
	}
	return false
}

func (p *parser) pass(out *deltas, s string) {
	if s == "" {
		return
	}
	if p.inCode {
		p.code.WriteString(s)
		out.code(s)
		return
	}
	out.text(s)
}

func (p *parser) endCode(out *deltas) {
	code := p.code.String()
	p.code.Reset()
	p.inCode = false
	if strings.TrimSpace(code) != "" {
		*out = append(*out, llm.Delta{Call: harness.NewCodeCall("", p.lang, code)})
	}
}

// Close implements [harness.Parser]. An open block is complete when the model
// ended on its own (the closing fence was the stop string), and never runs
// when it was cut off.
func (p *parser) Close(truncated bool) ([]llm.Delta, error) {
	var out deltas
	if s := strings.TrimSpace(p.line); p.inCode && s != "" && strings.Trim(s, "`") == "" && !p.mid {
		p.line = "" // the closing fence, or the part of it that came
	}
	p.pass(&out, p.line)
	p.line = ""
	if !p.inCode {
		return out, nil
	}
	if truncated {
		return out, fmt.Errorf("%w: the program was cut off before its end", llm.ErrMalformed)
	}
	if strings.TrimSpace(p.code.String()) == "" {
		return out, fmt.Errorf("%w: the program is empty", llm.ErrMalformed)
	}
	p.endCode(&out)
	return out, nil
}

// deltas joins neighbours of the same kind, so that one piece makes few.
type deltas []llm.Delta

func (d *deltas) text(s string) {
	if n := len(*d); n > 0 && (*d)[n-1].Text != "" {
		(*d)[n-1].Text += s
		return
	}
	*d = append(*d, llm.Delta{Text: s})
}

func (d *deltas) code(s string) {
	if n := len(*d); n > 0 && (*d)[n-1].Code != "" {
		(*d)[n-1].Code += s
		return
	}
	*d = append(*d, llm.Delta{Code: s})
}
