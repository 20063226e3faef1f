package dialect

import (
	"strings"

	"atoll/llm/harness"
)

// terminusKeys are the fields of an answer that types into a terminal, in
// both forms that models know.
var terminusKeys = []string{"analysis", "plan", "commands", "task_complete", "state_analysis", "explanation", "is_task_complete"}

// terminal reads the one object that an answer of the terminus dialect is.
// said is its prose. Lines are typed as they are; keys that are no text, such
// as C-c, cannot be.
func (s *Settings) terminal(v value) (cs []harness.CodeCall, said, why string) {
	list, ok := v.get("commands")
	if v.kind != 'o' || !ok || list.kind != 'a' {
		return nil, "", `there is no list of "commands"`
	}
	if !only(v, "", terminusKeys) {
		return nil, "", "the answer has fields that are not known"
	}
	typed := ""
	for _, c := range list.list {
		keys, ok := c.get("keystrokes")
		if c.kind != 'o' || !ok || keys.kind != 's' || !only(c, "keystrokes", []string{"duration", "is_blocking", "timeout_sec"}) {
			return nil, "", `a command is {"keystrokes": text, "duration": seconds}`
		}
		switch t := keys.text; {
		case t == "": // only waits
			continue
		case strings.HasPrefix(t, "C-") && len(t) == 3:
			return nil, "", "the key " + quoted(t) + " cannot be typed here"
		}
		typed += keys.text
		if !strings.HasSuffix(typed, "\n") {
			continue
		}
		call, why := s.made("shell", typed)
		if why != "" {
			return nil, "", why
		}
		cs, typed = append(cs, call), ""
	}
	if typed != "" {
		return nil, "", `the keystrokes do not end with "\n"`
	}
	var parts []string
	for i, n := range v.names {
		if v.list[i].kind == 's' && v.list[i].text != "" && n != "plan" {
			parts = append(parts, v.list[i].text)
		}
	}
	return cs, strings.Join(parts, "\n"), ""
}
