// Package dialect reads and writes calls in the languages that model families
// were trained to call tools in. One tolerant parser knows them all.
package dialect

import (
	"slices"

	"atoll/llm/harness"
)

// A Dialect is how a family of models writes a call.
type Dialect string

// The dialects.
const (
	Fences   Dialect = "fences"   // a fenced block of Markdown for each program
	Hermes   Dialect = "hermes"   // <tool_call>{JSON}</tool_call>: Qwen, Hermes
	QwenXML  Dialect = "qwen-xml" // <function=name><parameter=name>: Qwen-Coder
	Llama3   Dialect = "llama3"   // {"name": , "parameters": }, <|python_tag|>
	Mistral  Dialect = "mistral"  // [TOOL_CALLS]
	DeepSeek Dialect = "deepseek" // <｜tool▁calls▁begin｜>
	Kimi     Dialect = "kimi"     // <|tool_calls_section_begin|>
	Harmony  Dialect = "harmony"  // channels of GPT-OSS
	Claude   Dialect = "claude"   // <function_calls><invoke name="">
	Gemini   Dialect = "gemini"   // a fence called tool_code, or {"functionCall": }
	MiniSWE  Dialect = "mini-swe" // exactly one fenced block of shell
	Terminus Dialect = "terminus" // {"commands": [{"keystrokes": }]}
)

// All are the dialects, in the order in which they are listed to people.
var All = []Dialect{Fences, Hermes, QwenXML, Llama3, Mistral, DeepSeek, Kimi, Harmony, Claude, Gemini, MiniSWE, Terminus}

// Settings say how a [Parser] reads.
type Settings struct {
	// Dialect is how calls should be written. Calls that are marked by tokens
	// of another dialect are read as well. Fenced programs are calls only in
	// the dialects that say so: elsewhere an answer quotes them.
	Dialect Dialect
	// Languages are the canonical names of those that can run, at least one.
	// The first is meant where a call names none.
	Languages []string
	// One ends the answer at the first call: what a model writes behind it is
	// an invented result.
	One bool
	// Locked says that a grammar made the output: a fence closes its block
	// even where the program's text stands in a string.
	Locked bool
	// Thinking says that the answer begins inside a think block.
	Thinking bool
	// Require says that an answer without a call is malformed.
	Require bool
	// Repair are the faults of JSON that are mended.
	Repair Repair
}

func (s *Settings) speaks(language string) bool { return slices.Contains(s.Languages, language) }

// fenced reports whether fenced programs are calls.
func (s *Settings) fenced() bool { return s.Dialect == Fences || s.Dialect == MiniSWE }

// Want is an example of a call, for a model that wrote none that can be read.
func (s *Settings) Want() string {
	program := map[string]string{"python": "print(1 + 1)", "javascript": "console.log(1 + 1)", "sql": "SELECT 1 + 1", "shell": "echo 2"}
	l := s.Languages[0]
	return Write(s.Dialect, []harness.CodeCall{{Language: l, Code: program[l] + "\n"}})
}
