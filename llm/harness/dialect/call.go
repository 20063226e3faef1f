package dialect

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"atoll/llm/harness"
	"atoll/llm/harness/block"
)

// A tool is what a name by which models call an interpreter stands for.
type tool struct {
	language string   // "": the arguments say it, or the default
	code     []string // the keys under which the program may stand
}

var (
	anyTool    = tool{"", []string{"code"}}
	pythonTool = tool{"python", []string{"code"}}
	scriptTool = tool{"javascript", []string{"code"}}
	shellTool  = tool{"shell", []string{"command", "cmd", "code"}}
	queryTool  = tool{"sql", []string{"query", "sql", "code"}}
)

var tools = map[string]tool{
	harness.RunCode: anyTool, "execute": anyTool, "execute_code": anyTool, "run": anyTool, "code_interpreter": anyTool,
	"python": pythonTool, "ipython": pythonTool, "execute_python": pythonTool, "run_python": pythonTool, "python_interpreter": pythonTool,
	"javascript": scriptTool, "run_javascript": scriptTool,
	"bash": shellTool, "shell": shellTool, "run_shell": shellTool, "run_shell_command": shellTool, "execute_bash": shellTool, "terminal": shellTool,
	"sql": queryTool, "run_sql": queryTool, "execute_sql": queryTool,
}

// Keys of the many shapes a call has in JSON.
var (
	nameKeys = []string{"name", "tool", "tool_name", "function", "action"}
	argKeys  = []string{"arguments", "parameters", "args", "input", "tool_input", "action_input"}
	wrapKeys = []string{"functionCall", "function_call", "function", "tool_calls"}
	idleKeys = []string{"id", "type", "index", "call_id"}
)

// firstKeys are the keys with which an object that is a call can begin.
var firstKeys = append(append(append(append([]string{}, nameKeys...), argKeys...), wrapKeys...), idleKeys...)

// meant tells an object that was meant as a call, broken or not, from one that
// an answer quotes.
var meant = regexp.MustCompile(`["'](?:arguments|parameters)["']\s*:|["']name["']\s*:\s*["']?(?:` + toolNames() + `)\b`)

func toolNames() string {
	return strings.Join(slices.Sorted(maps.Keys(tools)), "|")
}

// calls reads v as one call or as several. why says what is wrong with it,
// "" if nothing; isCall that it was meant as a call.
func (s *Settings) calls(v value) (cs []harness.CodeCall, why string, isCall bool) {
	if v.kind == 'a' {
		for _, e := range v.list {
			c, w, is := s.calls(e)
			isCall = isCall || is
			if w != "" || !is {
				return nil, w, isCall
			}
			cs = append(cs, c...)
		}
		return cs, "", isCall
	}
	if v.kind != 'o' {
		return nil, "", false
	}
	for _, k := range wrapKeys {
		if in, ok := v.get(k); ok && in.kind != 's' {
			if !only(v, k, idleKeys) {
				return nil, "the call has fields that are not known", true
			}
			return s.calls(in)
		}
	}
	name, named := v.get(nameKeys...)
	args, has := v.get(argKeys...)
	_, known := tools[name.text]
	switch {
	case !named || name.kind != 's' || !has && !known:
		return nil, "", has && named
	case !has:
		return nil, "the call has no arguments", true
	case !only(v, "", nameKeys, argKeys, idleKeys):
		return nil, "the call has fields that are not known", true
	}
	c, why := s.call(name.text, args)
	return []harness.CodeCall{c}, why, true
}

// only reports whether v has no keys but one and those of the lists.
func only(v value, one string, lists ...[]string) bool {
	for _, n := range v.names {
		ok := n == one
		for _, l := range lists {
			for _, k := range l {
				ok = ok || k == n
			}
		}
		if !ok {
			return false
		}
	}
	return true
}

// call reads the arguments of a call of the tool called name.
func (s *Settings) call(name string, args value) (c harness.CodeCall, why string) {
	t, ok := tools[strings.TrimPrefix(name, "functions.")]
	if !ok {
		return c, "there is no tool " + quoted(name)
	}
	if args.kind == 's' { // JSON in a string, or the program itself
		v, n, st := readJSON(args.text, s.Repair, true)
		switch {
		case st == whole && v.kind == 'o' && strings.TrimSpace(args.text[n:]) == "":
			args = v
		case s.Repair&BareCode != 0 && looksLikePython(args.text) && (t.language == "" || t.language == "python"):
			return s.made("python", args.text)
		default:
			return c, "the arguments are not a JSON object"
		}
	}
	if args.kind != 'o' {
		return c, "the arguments are not a JSON object"
	}
	fields := map[string]string{}
	for i, n := range args.names {
		if args.list[i].kind != 's' {
			return c, "the argument " + quoted(n) + " is not text"
		}
		fields[n] = args.list[i].text
	}
	return s.fields(t, fields)
}

// fields makes a call of named texts.
func (s *Settings) fields(t tool, fields map[string]string) (c harness.CodeCall, why string) {
	language, code, found := t.language, "", false
	for _, k := range slices.Sorted(maps.Keys(fields)) { // the same fault is found each time
		v := fields[k]
		if k == "language" || k == "lang" {
			l := block.Language(v)
			if l == "" || language != "" && l != language {
				return c, "the language " + quoted(v) + " is not known here"
			}
			language = l
			continue
		}
		known := false
		for _, name := range t.code {
			known = known || k == name
		}
		if !known || found {
			return c, "the argument " + quoted(k) + " is not known"
		}
		code, found = v, true
	}
	if !found {
		return c, "the call has no code"
	}
	if language == "" {
		language = s.Languages[0]
	}
	return s.made(language, code)
}

// made returns a call, if it may be made.
func (s *Settings) made(language, code string) (c harness.CodeCall, why string) {
	switch {
	case strings.TrimSpace(code) == "":
		return c, "the call has no code"
	case !s.speaks(language):
		return c, "the language " + quoted(language) + " is not known here"
	}
	return harness.CodeCall{Language: language, Code: code}, ""
}

// quoted cuts a name short: it goes into a message.
func quoted(s string) string {
	if len(s) > 40 {
		s = strings.ToValidUTF8(s[:40], "") + "..."
	}
	return `"` + s + `"`
}
