// Package fenced is the harness for models without tool training: code comes
// as a fenced Markdown block, results go back as a user turn. Small coder
// models (0.5 to 4 billion weights) do best with it: they know fences by heart
// and break every other call syntax.
package fenced

import (
	_ "embed"
	"strings"

	"atoll/llm"
	"atoll/llm/harness"
	"atoll/llm/harness/block"
)

//go:embed system.md
var system string

const (
	fence   = "```"
	opening = fence + "python\n"
)

// defaultMax bounds one answer; a program longer than this is a model that
// has lost its way.
const defaultMax = 1024

// Harness writes and reads the dialect. The zero value is ready.
type Harness struct {
	System string // the system prompt; empty: the package's own
}

// Name returns "atoll-small".
func (Harness) Name() string { return "atoll-small" }

// Render writes req. With RequireCall the answer is made to begin inside a
// Python block, so that the model can do nothing but write code. The fence
// that closes a Python block ends the answer, because what a model writes
// after its code is an invented output; before that, an answer may quote
// tables and text in fences. The parser decides about fences that stand in a
// string of the program ([harness.Resumer]).
func (h Harness) Render(req *llm.Request) (harness.Prompt, error) {
	prompt := h.System
	if prompt == "" {
		prompt = system
	}
	p := harness.Prompt{
		Messages: []harness.Turn{{Role: string(llm.System), Content: strings.TrimSpace(prompt)}},
		Stop:     closings(),
		Arm:      openings(),
		Sampling: req.Sampling,
		Max:      req.MaxTokens,
	}
	if p.Max == 0 {
		p.Max = defaultMax
	}
	for _, m := range req.Messages {
		role, text := string(m.Role), m.Text
		switch m.Role {
		case llm.ToolRole:
			role = string(llm.User)
		case llm.Assistant:
			text = assistantText(m)
		}
		if last := &p.Messages[len(p.Messages)-1]; last.Role == role {
			last.Content += "\n\n" + text // templates want turns to alternate
			continue
		}
		p.Messages = append(p.Messages, harness.Turn{Role: role, Content: text})
	}
	if req.RequireCall {
		p.Prefill = opening
		p.Arm = nil
	}
	return p, nil
}

// openings returns how Python blocks begin, as far as it is the same for all
// labels.
func openings() []string {
	var all []string
	for _, f := range []string{"```", "~~~"} {
		for _, label := range []string{"py", "Py", "PY", "ipy", "IPy", "{", " py", " Py", " {"} {
			all = append(all, f+label)
		}
	}
	return all
}

// closings returns the lines that close blocks, in lists up to the second
// level. A fence with a label closes none.
func closings() []string {
	var all []string
	for _, f := range []string{"```", "````", "~~~"} {
		for indent := range 5 {
			all = append(all, "\n"+strings.Repeat(" ", indent)+f+"\n")
		}
		all = append(all, "\n"+f+"\r\n")
	}
	return all
}

// assistantText writes an earlier answer as the model itself wrote it, so that
// the engine finds it in its cache.
func assistantText(m llm.Message) string {
	var b strings.Builder
	b.WriteString(m.Text)
	for _, c := range m.Calls {
		code, err := harness.ReadCodeCall(c)
		if err != nil {
			continue // a call of another harness's tool; its result follows anyway
		}
		if b.Len() > 0 && !strings.HasSuffix(b.String(), "\n") {
			b.WriteByte('\n')
		}
		b.WriteString(opening + strings.TrimSuffix(code.Code, "\n") + "\n" + fence)
	}
	return b.String()
}

// Parser returns a parser for the output of Render(req).
func (Harness) Parser(req *llm.Request) harness.Parser {
	p := &parser{forced: req.RequireCall}
	if p.forced {
		m, _ := block.MarkIn(strings.TrimSpace(opening))
		p.open(m)
	}
	return p
}
