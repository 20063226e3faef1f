package dialect

import (
	"fmt"

	"atoll/llm/harness"
	"atoll/llm/harness/gbnf"
)

// mostCalls bounds how many calls a grammar lets one answer hold: a model that
// repeats itself would reach the token limit in the middle of one.
const mostCalls = 4

// Grammar returns the grammar that calls are locked with. If force is true, the
// whole answer is one, behind at most a thought. Otherwise the answer is free
// until one of the texts lazy has been written, and what follows those is
// locked; none are returned where the whole answer is locked anyway.
func (s *Settings) Grammar(force bool) (grammar string, lazy []string) {
	g := &gbnf.Grammar{}
	w := lock{g, s}
	open, lazy := w.call()
	if s.Dialect == Terminus {
		g.Rule("root", "call")
		return g.String(), nil
	}
	if !force {
		g.Rule("root", "call")
		return g.String(), lazy
	}
	switch {
	case s.Dialect == Harmony:
		g.Until("thought", "<|end|>")
		g.Rule("root", `( "<|channel|>analysis<|message|>" thought "<|start|>assistant" )? `+open+" call")
	case s.Thinking:
		g.Until("thought", "</think>")
		g.Rule("root", "thought [\\n]* "+open+" call")
	case s.Dialect == MiniSWE:
		g.Rule("root", "\"THOUGHT: \" [^`~<{\\[]+ \"\\n\\n\" "+open+" call")
	default:
		g.Until("thought", "</think>")
		g.Rule("root", `( "<think>" thought [\n]* )? `+open+" call")
	}
	return g.String(), nil
}

// lock writes the rules of a dialect.
type lock struct {
	*gbnf.Grammar
	s *Settings
}

// call adds the rule "call", which follows what opens a call. open is that as
// a part of a rule, and lazy all texts that open one.
func (w lock) call() (open string, lazy []string) {
	name := gbnf.Text(harness.RunCode)
	after := func(token string) (string, []string) { return gbnf.Text(token), []string{token} }
	again := func(between string) string {
		if w.s.One {
			return ""
		}
		return fmt.Sprintf(" ( %s ){0,%d}", between, mostCalls-1)
	}
	switch w.s.Dialect {
	case Hermes:
		w.args()
		w.Rule("one", `"\n{\"name\": \"" `+name+` "\", \"arguments\": " args "}\n</tool_call>"`)
		w.Rule("call", "one"+again(`"\n<tool_call>" one`))
		return after("<tool_call>")
	case QwenXML:
		w.Until("text", "</parameter>")
		w.Rule("call", `"\n<function=" `+name+` ">\n<parameter=language>\n" `+w.languages()+` "\n</parameter>\n<parameter=code>\n" first text "\n</function>\n</tool_call>"`)
		w.first("")
		return after("<tool_call>")
	case Claude:
		w.Until("text", "</parameter>")
		w.first("")
		w.Rule("one", `"\n<invoke name=\"" `+name+` "\">\n<parameter name=\"language\">" `+w.languages()+` "</parameter>\n<parameter name=\"code\">" "\n"? first text "\n</invoke>"`)
		w.Rule("call", "one"+again("one")+` "\n</function_calls>"`)
		return after("<function_calls>")
	case Llama3:
		w.args()
		w.Rule("call", `": \"" `+name+` "\", \"parameters\": " args "}"`)
		return after(`{"name"`)
	case Mistral:
		w.args()
		w.Rule("one", `"{\"name\": \"" `+name+` "\", \"arguments\": " args "}"`)
		w.Rule("call", `" "? "[" one`+again(`", " one`)+` "]" | `+name+` "[ARGS]" args`)
		return after("[TOOL_CALLS]")
	case DeepSeek:
		w.args()
		call, sep, off := gbnf.Text(deepCall), gbnf.Text(deepSep), gbnf.Text(deepOff)
		w.Rule("one", call+` ( "function" `+sep+" "+name+" \"\\n```json\\n\" args \"\\n```\" | "+name+" "+sep+" args ) "+off)
		w.Rule("call", "one"+again(`"\n"? one`)+" "+gbnf.Text(deepEnd))
		return after(deepBegin)
	case Kimi:
		w.args()
		w.Rule("one", gbnf.Text(kimiCall+"functions.")+" "+name+` ":" [0-9] `+gbnf.Text(kimiSep)+" args "+gbnf.Text(kimiOff))
		w.Rule("call", "one"+again("one")+" "+gbnf.Text(kimiEnd))
		return after(kimiBegin)
	case Harmony:
		w.args()
		w.Rule("call", `"<|channel|>commentary"? ( " "? "<|constrain|>json" | " json" )? "<|message|>" args`)
		return gbnf.Text("<|channel|>commentary to=functions." + harness.RunCode), []string{"to=functions." + harness.RunCode}
	case Terminus:
		w.str()
		w.Rule("keys", `"\"" head char* "\\n\""`)
		w.Rule("command", `"{\"keystrokes\": " keys ( ", \"duration\": " [0-9] ( "." [0-9] )? )? "}"`)
		list, done := fmt.Sprintf(`command ( ", " command ){0,%d}`, mostCalls-1), `"false"`
		if !w.s.Require {
			list, done = "( "+list+" )?", `( "true" | "false" )`
		}
		w.Rule("words", `"\"" char* "\""`)
		w.Rule("call", `"{\"analysis\": " words ", \"plan\": " words ", \"commands\": [" `+list+` "], \"task_complete\": " `+done+` "}"`)
		return "", nil
	case Gemini:
		w.block()
		return after("```tool_code\n")
	case MiniSWE:
		w.block()
		return gbnf.Any("```bash\n"), []string{"```bash\n", "```mswea_bash_command\n"}
	}
	w.block()
	var labels []string
	for _, l := range w.s.Languages {
		labels = append(labels, "```"+l+"\n")
	}
	for _, l := range w.s.Languages {
		for _, short := range shorts[l] {
			lazy = append(lazy, "```"+short+"\n")
		}
	}
	return gbnf.Any(labels...), append(labels, lazy...)
}

// shorts are other labels that models give their blocks.
var shorts = map[string][]string{"python": {"py", "python3"}, "javascript": {"js"}, "shell": {"bash", "sh"}}

func (w lock) languages() string { return gbnf.Any(w.s.Languages...) }

// block adds the call that is the rest of a fenced block.
func (w lock) block() {
	w.Until("text", "\n```")
	w.first("`")
	w.Rule("call", "first text")
}

// first adds the rule for the first character of a program: one that can be
// seen, but none of not.
func (w lock) first(not string) {
	if not == "`" {
		w.Rule("first", "[!-_a-~]")
		return
	}
	w.Rule("first", `[!-;=-~]`)
}

// str adds the parts of a JSON string: head begins one that is not blank.
func (w lock) str() {
	w.Rule("head", `[!#-\[\]-~] | "\\" ["\\]`)
	w.Rule("char", `[^"\\\x00-\x1F\x7F] | "\\" ( ["\\/bfnrt] | "u" [0-9a-fA-F] [0-9a-fA-F] [0-9a-fA-F] [0-9a-fA-F] )`)
}

// args adds the arguments of a call as JSON.
func (w lock) args() {
	w.str()
	w.Rule("args", `"{\"language\": \"" `+w.languages()+` "\", \"code\": \"" head char* "\"}"`)
}
