package dialect

import (
	"encoding/json"
	"fmt"
	"strings"

	"atoll/llm/harness"
)

// The spellings of tokens that are written in more than one place.
const (
	deepBegin, deepEnd         = "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"
	deepCall, deepSep, deepOff = "<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>"
	kimiBegin, kimiEnd         = "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"
	kimiCall, kimiSep, kimiOff = "<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>"
)

// Write writes calls as a model of the dialect would.
func Write(d Dialect, calls []harness.CodeCall) string {
	var parts []string
	for i, c := range calls {
		parts = append(parts, write(d, i, c))
	}
	switch d {
	case Mistral:
		return "[TOOL_CALLS][" + strings.Join(parts, ", ") + "]"
	case DeepSeek:
		return deepBegin + strings.Join(parts, "\n") + deepEnd
	case Kimi:
		return kimiBegin + strings.Join(parts, "") + kimiEnd
	case Harmony:
		return strings.Join(parts, "<|start|>assistant")
	case Claude:
		return "<function_calls>\n" + strings.Join(parts, "\n") + "\n</function_calls>"
	case Terminus:
		return `{"analysis": "", "plan": "", "commands": [` + strings.Join(parts, ", ") + `], "task_complete": false}`
	case Llama3:
		return strings.Join(parts, "; ")
	}
	return strings.Join(parts, "\n")
}

func write(d Dialect, i int, c harness.CodeCall) string {
	args := fmt.Sprintf(`{"language": %s, "code": %s}`, quoteJSON(c.Language), quoteJSON(c.Code))
	whole := `{"name": "` + harness.RunCode + `", "arguments": ` + args + `}`
	line := strings.TrimSuffix(c.Code, "\n") + "\n"
	switch d {
	case Hermes:
		return "<tool_call>\n" + whole + "\n</tool_call>"
	case QwenXML:
		return "<tool_call>\n<function=" + harness.RunCode + ">\n<parameter=language>\n" + c.Language + "\n</parameter>\n<parameter=code>\n" + line + "</parameter>\n</function>\n</tool_call>"
	case Llama3:
		return strings.Replace(whole, `"arguments"`, `"parameters"`, 1)
	case Mistral:
		return whole
	case DeepSeek:
		return deepCall + "function" + deepSep + harness.RunCode + "\n```json\n" + args + "\n```" + deepOff
	case Kimi:
		return fmt.Sprintf("%sfunctions.%s:%d%s%s%s", kimiCall, harness.RunCode, i, kimiSep, args, kimiOff)
	case Harmony:
		return "<|channel|>commentary to=functions." + harness.RunCode + " <|constrain|>json<|message|>" + args + "<|call|>"
	case Claude:
		return `<invoke name="` + harness.RunCode + `">` + "\n" + `<parameter name="language">` + c.Language + "</parameter>\n" + `<parameter name="code">` + "\n" + line + "</parameter>\n</invoke>"
	case Terminus:
		return `{"keystrokes": ` + quoteJSON(line) + `}`
	case Gemini:
		if c.Language == "python" {
			return "```tool_code\n" + line + "```"
		}
	case MiniSWE:
		if c.Language == "shell" {
			return "```bash\n" + line + "```"
		}
	}
	return "```" + c.Language + "\n" + line + "```"
}

// quoteJSON writes s as JSON, without escapes for HTML: models never write those.
func quoteJSON(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil { // text always encodes
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
