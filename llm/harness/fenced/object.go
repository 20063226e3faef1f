package fenced

import (
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strings"

	"atoll/llm/harness/block"
)

// Some models were trained to call tools with JSON and do so unasked:
//
//	{"name": "execute", "arguments": {"language": "python", "code": "print(1)"}}
//
// Such an object is read strictly: it is a call, or the output is malformed.

// begin finds where an object may begin that is a call. Its first key, or what
// follows, says more.
var begin = regexp.MustCompile(`\{\s*(?:$|"(?:name|arguments|parameters|function|tool|tool_name|type|id|action)"\s*(?::|$))`)

// meant tells an object that was meant as a call, broken or not, from one that
// an answer quotes.
var meant = regexp.MustCompile(`"(?:arguments|parameters)"\s*:|"name"\s*:\s*"?(?:` + strings.Join(tools[:], "|") + `)\b`)

// tools are names by which models call an interpreter.
var tools = [...]string{
	"run_code", "execute", "execute_code", "execute_python", "python", "run_python", "run",
	"code_interpreter", "python_interpreter", "ipython",
}

type verdict int

const (
	pending verdict = iota // may become a call when more comes
	called                 // a call
	broken                 // meant as a call, but none
	quoted                 // no call
)

// readObject judges the text s, which begins with a brace; end says that no
// more comes. Of a call it returns the code, and what stands behind it.
func readObject(s string, end bool) (v verdict, code, rest string) {
	if at := begin.FindStringIndex(s); at == nil || at[0] != 0 {
		return quoted, "", ""
	}
	var c struct {
		Name                  string
		Arguments, Parameters json.RawMessage
	}
	dec := json.NewDecoder(strings.NewReader(s))
	err := dec.Decode(&c)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF) && !end:
		return pending, "", ""
	case !meant.MatchString(s):
		return quoted, "", ""
	case err != nil:
		return broken, "", ""
	}
	args := c.Arguments
	if args == nil {
		args = c.Parameters
	}
	var a struct{ Language, Code string }
	a.Language = "python" // where the model names none: there is no other
	if json.Unmarshal(args, &a) != nil || !isTool(c.Name) || block.Language(a.Language) != "python" || strings.TrimSpace(a.Code) == "" {
		return broken, "", ""
	}
	return called, a.Code, s[dec.InputOffset():]
}

func isTool(name string) bool {
	for _, t := range tools {
		if t == name {
			return true
		}
	}
	return false
}
