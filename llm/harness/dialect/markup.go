package dialect

import (
	"regexp"
	"strings"

	"atoll/llm/harness"
)

// Tags of Claude's and Qwen-Coder's dialects. A prefix of the name is
// DeepSeek's or a part of Claude's own.
var (
	callTag  = regexp.MustCompile(`^<(?:function=([\w.-]+)|(?:antml:|｜DSML｜)?invoke name="([^"<>]+)")\s*>`)
	argTag   = regexp.MustCompile(`^<(?:parameter=([\w-]+)|(?:antml:|｜DSML｜)?parameter name="([\w-]+)"[^<>]*)>`)
	argClose = regexp.MustCompile(`</(?:antml:|｜DSML｜)?parameter>`)
	callEnd  = regexp.MustCompile(`^</(?:function|(?:antml:|｜DSML｜)?invoke)>`)
)

const cutOff = "the call was cut off before its end"

// markup reads calls written in tags.
func (s *Settings) markup(text string) (cs []harness.CodeCall, why string) {
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		m := callTag.FindStringSubmatch(text)
		if m == nil {
			return nil, "the call cannot be read"
		}
		text = strings.TrimLeft(text[len(m[0]):], " \t\r\n")
		var c harness.CodeCall
		if strings.HasPrefix(text, "{") { // the older form of Llama
			v, n, st := readJSON(text, s.Repair, true)
			if st != whole {
				return nil, "the arguments are not a JSON object"
			}
			text = text[n:]
			c, why = s.call(m[1]+m[2], v)
		} else {
			fields := map[string]string{}
			for {
				a := argTag.FindStringSubmatch(text)
				if a == nil {
					break
				}
				value, rest, ok := argument(text[len(a[0]):])
				name := a[1] + a[2]
				if _, twice := fields[name]; !ok || twice {
					return nil, cutOff
				}
				if name == "language" || name == "lang" {
					value = strings.TrimSpace(value)
				}
				fields[name], text = value, rest
			}
			t, known := tools[strings.TrimPrefix(m[1]+m[2], "functions.")]
			if !known {
				return nil, "there is no tool " + quoted(m[1]+m[2])
			}
			c, why = s.fields(t, fields)
		}
		if why != "" {
			return nil, why
		}
		cs = append(cs, c)
		text = strings.TrimSpace(text)
		e := callEnd.FindString(text)
		if e == "" && (text != "" || s.Repair&MissingEnd == 0) {
			return nil, "the call cannot be read"
		}
		text = text[len(e):]
	}
	if len(cs) == 0 {
		return nil, "the call is empty"
	}
	return cs, ""
}

// argument reads a value up to the tag that closes it: the first behind which
// the next tag stands, for a program can hold the text of one.
func argument(s string) (value, rest string, ok bool) {
	for from := 0; ; {
		at := argClose.FindStringIndex(s[from:])
		if at == nil {
			return "", "", false
		}
		rest = strings.TrimLeft(s[from+at[1]:], " \t\r\n")
		if rest == "" || argTag.MatchString(rest) || callEnd.MatchString(rest) {
			value = s[:from+at[0]]
			break
		}
		from += at[1]
	}
	value = strings.TrimPrefix(strings.TrimPrefix(value, "\r"), "\n")
	return value, rest, true
}

// tagged reads what stands between <tool_call> and its end.
func (s *Settings) tagged(text string) (cs []harness.CodeCall, why string) {
	body := strings.TrimSpace(text)
	if rest, ok := strings.CutPrefix(body, "```"); ok {
		label, rest, _ := strings.Cut(rest, "\n")
		if label = strings.TrimSpace(label); label == "json" || label == "" {
			body = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "```"))
		}
	}
	switch {
	case strings.HasPrefix(body, "<"):
		return s.markup(body)
	case body == "":
		return nil, "the call is empty"
	case body[0] != '{' && body[0] != '[':
		if s.Repair&BareCode != 0 && looksLikePython(body) {
			return s.one(s.made("python", strings.Trim(text, "\r\n")+"\n"))
		}
		return nil, "the call is not JSON"
	}
	for body != "" {
		v, n, st := readJSON(body, s.Repair, true)
		if st != whole {
			return nil, "the call is not valid JSON"
		}
		c, why, is := s.calls(v)
		if why == "" && !is {
			why = "the call has no name and arguments"
		}
		if why != "" {
			return nil, why
		}
		cs = append(cs, c...)
		body = strings.TrimLeft(body[n:], "]} \t\r\n,;") // one end too many
	}
	return cs, ""
}

func (s *Settings) one(c harness.CodeCall, why string) ([]harness.CodeCall, string) {
	if why != "" {
		return nil, why
	}
	return []harness.CodeCall{c}, ""
}

// order is a name behind which a count stands: functions.run_code:0
var order = regexp.MustCompile(`:\d+$`)

// tokens reads calls that are set off by tokens: begin NAME sep JSON end.
// DeepSeek's older models write the kind of call before sep, and then the name
// and JSON in a fence.
func (s *Settings) tokens(text, begin, sep, end string) (cs []harness.CodeCall, why string) {
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		rest, ok := strings.CutPrefix(text, begin)
		if !ok {
			return nil, "the call cannot be read"
		}
		name, rest, ok := strings.Cut(rest, sep)
		if !ok {
			return nil, cutOff
		}
		if name = strings.TrimSpace(name); name == "function" {
			name, rest, _ = strings.Cut(rest, "\n")
			name = strings.TrimSpace(name)
		}
		name = order.ReplaceAllString(name, "")
		var v value
		found := false
		for from := 0; !found; {
			at := strings.Index(rest[from:], end)
			body, next := rest, ""
			if at >= 0 {
				body, next = rest[:from+at], rest[from+at+len(end):]
				from += at + len(end)
			} else if s.Repair&MissingEnd == 0 {
				return nil, cutOff
			}
			body = strings.TrimSpace(body)
			if inner, fenced := strings.CutPrefix(body, "```"); fenced {
				body = strings.TrimPrefix(strings.TrimSuffix(inner, "```"), "json")
			}
			var n int
			var st status
			v, n, st = readJSON(body, s.Repair, true)
			if found = st == whole && strings.TrimSpace(body[n:]) == ""; found {
				text = next
			} else if at < 0 {
				return nil, "the arguments are not valid JSON"
			}
		}
		c, why := s.call(name, v)
		if why != "" {
			return nil, why
		}
		cs = append(cs, c)
	}
	if len(cs) == 0 {
		return nil, "the call is empty"
	}
	return cs, ""
}

// newer finds the name in the newer form of Mistral: [TOOL_CALLS]name[ARGS]{}
var newer = regexp.MustCompile(`^\s*([\w.-]+)\s*(?:\[CALL_ID\]\s*[\w-]+\s*)?(?:\[ARGS\])?\s*\{`)

// list reads what follows [TOOL_CALLS] and returns how long it is.
func (s *Settings) list(text string, end bool) (cs []harness.CodeCall, n int, why string, st status) {
	trimmed := strings.TrimLeft(text, " \t\r\n")
	if trimmed == "" || trimmed[0] == '[' || trimmed[0] == '{' {
		v, n, st := readJSON(text, s.Repair, end)
		if st != whole {
			return nil, 0, "the call is not valid JSON", st
		}
		cs, why, is := s.calls(v)
		if why == "" && (!is || len(cs) == 0) {
			why = "the call has no name and arguments"
		}
		return cs, n, why, whole
	}
	m := newer.FindStringSubmatchIndex(text)
	if m == nil {
		if !end {
			return nil, 0, "", more
		}
		return nil, 0, "the call cannot be read", bad
	}
	v, n, st := readJSON(text[m[1]-1:], s.Repair, end)
	if st != whole {
		return nil, 0, "the arguments are not valid JSON", st
	}
	cs, why = s.one(s.call(text[m[2]:m[3]], v))
	return cs, m[1] - 1 + n, why, whole
}
