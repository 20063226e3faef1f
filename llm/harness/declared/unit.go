package declared

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"atoll/llm"
	"atoll/llm/harness"
	"atoll/llm/harness/dialect"
)

//go:embed rules.txt
var rules string

// usualMax bounds an answer where the file does not.
const usualMax = 2048

// A unit is a harness of a file.
type unit struct {
	file
	name     string
	settings dialect.Settings
	offers   bool // the tool is offered by the chat template
}

// Name implements [harness.Harness].
func (u *unit) Name() string { return u.name }

// Render implements [harness.Harness].
func (u *unit) Render(req *llm.Request) (harness.Prompt, error) {
	p := harness.Prompt{
		Messages: []harness.Turn{{Role: string(llm.System), Content: u.prompt()}},
		Stop:     u.Stop,
		Sampling: u.sampling(req.Sampling),
		Max:      req.MaxTokens,
		Thinking: u.settings.Thinking,
	}
	if p.Max == 0 {
		if p.Max = u.MaxTokens; p.Max == 0 {
			p.Max = usualMax
		}
	}
	if u.offers {
		p.Tools = []llm.Tool{tool(u.Languages)}
	}
	if u.Grammar {
		p.Grammar, p.Lazy = u.settings.Grammar(req.RequireCall)
	}
	for _, m := range req.Messages {
		role, text := string(m.Role), m.Text
		switch m.Role {
		case llm.ToolRole:
			role, text = string(llm.User), u.result(text)
		case llm.Assistant:
			text = u.answer(m)
		}
		if last := &p.Messages[len(p.Messages)-1]; last.Role == role {
			last.Content += "\n\n" + text // templates want turns to alternate
			continue
		}
		p.Messages = append(p.Messages, harness.Turn{Role: role, Content: text})
	}
	return p, nil
}

// prompt returns the system prompt. It is the same for every request, so that
// the engine reads it once.
func (u *unit) prompt() string {
	return strings.NewReplacer(
		"{rules}", strings.TrimSpace(rules),
		"{languages}", strings.Join(u.Languages, ", "),
		"{tool}", toolText(tool(u.Languages)),
		"{call}", u.settings.Want(),
	).Replace(u.system)
}

// tool is the one tool, with a schema on one line.
func tool(languages []string) llm.Tool {
	list, err := json.Marshal(languages)
	if err != nil { // texts always marshal
		panic(err)
	}
	return llm.Tool{
		Name:        harness.RunCode,
		Description: "Runs a program and returns what it prints. Variables stay for later calls.",
		Schema:      json.RawMessage(fmt.Sprintf(`{"type": "object", "properties": {"language": {"type": "string", "enum": %s}, "code": {"type": "string", "description": "the whole program"}}, "required": ["language", "code"]}`, list)),
	}
}

// toolText writes a tool in the form that models were trained on.
func toolText(t llm.Tool) string {
	return fmt.Sprintf(`{"type": "function", "function": {"name": %q, "description": %q, "parameters": %s}}`, t.Name, t.Description, t.Schema)
}

// result writes what a call gave, cut to the size that the file allows. The
// cut is always the same: what the engine has read stays as it was.
func (u *unit) result(text string) string {
	if n := u.Context.ResultBytes; n > 0 && len(text) > n {
		text = front(text, n*2/3) + "\n[...]\n" + back(text, n/3)
	}
	if u.Context.Result == "" {
		return text
	}
	return strings.ReplaceAll(u.Context.Result, "{result}", text)
}

// front and back return up to n bytes from an end of s, in whole characters.
func front(s string, n int) string {
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

func back(s string, n int) string {
	i := len(s) - n
	for i < len(s) && !utf8.RuneStart(s[i]) {
		i++
	}
	return s[i:]
}

// answer writes an earlier answer as the model itself wrote it.
func (u *unit) answer(m llm.Message) string {
	var calls []harness.CodeCall
	for _, c := range m.Calls {
		if code, err := harness.ReadCodeCall(c); err == nil { // else of another harness's tool
			calls = append(calls, code)
		}
	}
	switch {
	case len(calls) == 0:
		return m.Text
	case strings.TrimSpace(m.Text) == "" || u.settings.Dialect == dialect.Terminus:
		return dialect.Write(u.settings.Dialect, calls)
	}
	return strings.TrimRight(m.Text, "\n") + "\n" + dialect.Write(u.settings.Dialect, calls)
}

// Parser implements [harness.Harness].
func (u *unit) Parser(req *llm.Request) harness.Parser {
	s := u.settings
	s.Require = req.RequireCall
	return dialect.NewParser(s)
}
