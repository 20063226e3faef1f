package dialect

import (
	"regexp"
	"strings"

	"atoll/llm/harness"
	"atoll/llm/harness/block"
)

// ends are the tokens that close each form of call. The form that has none is
// over where its JSON is.
var ends = map[form]*regexp.Regexp{
	formTagged:   regexp.MustCompile(`</tool_call>`),
	formFunction: regexp.MustCompile(`</function>`),
	formInvoke:   regexp.MustCompile(`</(?:antml:|｜DSML｜)?invoke>`),
	formInvokes:  regexp.MustCompile(`</(?:(?:antml:|｜DSML｜)?function_calls|minimax:tool_call)>`),
	formDeep:     regexp.MustCompile(deepEnd),
	formDeepCall: regexp.MustCompile(deepOff),
	formKimi:     regexp.MustCompile(regexp.QuoteMeta(kimiEnd)),
	formKimiCall: regexp.MustCompile(regexp.QuoteMeta(kimiOff)),
	formPython:   regexp.MustCompile(`<\|e(?:om|ot)_id\|>`),
}

// decode reads the calls in text, which holds all of them.
func (s *Settings) decode(f form, text string) (cs []harness.CodeCall, why string) {
	switch f {
	case formTagged:
		return s.tagged(text)
	case formDeep, formDeepCall:
		return s.tokens(text, deepCall, deepSep, deepOff)
	case formKimi, formKimiCall:
		return s.tokens(text, kimiCall, kimiSep, kimiOff)
	case formPython:
		return s.tagPython(text)
	}
	return s.markup(text)
}

// builtIn is a call of a tool that Llama was trained with.
var builtIn = regexp.MustCompile(`^(\w+)\.call\(`)

// tagPython reads what follows <|python_tag|>: JSON or a program.
func (s *Settings) tagPython(text string) (cs []harness.CodeCall, why string) {
	bare := strings.TrimSpace(text)
	if m := builtIn.FindStringSubmatch(bare); m != nil {
		return nil, "there is no tool " + quoted(m[1])
	}
	if strings.HasPrefix(bare, "{") && meant.MatchString(bare) {
		return s.tagged(text)
	}
	p := block.NewProgram("python", block.Mark{})
	for line := range strings.SplitSeq(strings.Trim(text, "\r\n"), "\n") {
		p.Add(line, "\n")
	}
	if p.InString() {
		return nil, "the program ends inside a string"
	}
	src, _ := p.End()
	return s.one(s.made("python", src))
}

// readCall reads a call up to a token that closes it. One that stands in a
// string of the call does not: there, what came before cannot be read.
func (p *Parser) readCall(end bool) bool {
	switch p.form {
	case formList:
		return p.readList(end)
	case formHarmony:
		return p.readMessage(end)
	}
	re := ends[p.form]
	for at := re.FindStringIndex(p.buf[p.from:]); at != nil; at = re.FindStringIndex(p.buf[p.from:]) {
		stop, next := p.from+at[0], p.from+at[1]
		body := p.buf[:stop]
		if p.form != formTagged && p.form != formInvokes && p.form != formDeep && p.form != formKimi && p.form != formPython {
			body = p.buf[:next] // the token is a part of what is read
		}
		if cs, why := p.s.decode(p.form, body); why == "" {
			p.skip(next)
			p.made(cs, true)
			return true
		}
		p.from = next
	}
	if !end {
		// A token that has only begun is looked at again.
		if i := strings.LastIndexByte(p.buf[p.from:], '<'); i >= 0 {
			p.from += i
		} else {
			p.from = len(p.buf)
		}
		return false
	}
	cs, why := p.s.decode(p.form, block.Trim(p.buf))
	if why != "" {
		p.fail(why)
		return true
	}
	p.buf = ""
	p.made(cs, true)
	return true
}

func (p *Parser) readList(end bool) bool {
	if !end && !strings.ContainsAny(p.buf[p.from:], "]}") {
		p.from = len(p.buf)
		return false
	}
	text := p.buf
	if end {
		text = block.Trim(text)
	}
	cs, n, why, st := p.s.list(text, end)
	switch {
	case st != whole && !end:
		p.from = len(p.buf)
		return false
	case why != "":
		p.fail(why)
	default:
		p.skip(n)
		p.made(cs, true)
		p.swallow()
	}
	return true
}

// recipient finds to whom a message of harmony goes.
var recipient = regexp.MustCompile(`\bto=(?:functions\.)?([\w.-]+)`)

// longestHead bounds what stands before <|message|>.
const longestHead = 200

// readMessage reads a message of harmony, whose first token was dropped.
func (p *Parser) readMessage(end bool) bool {
	if p.header == "" {
		head, rest, ok := strings.Cut(p.buf, "<|message|>")
		switch {
		case !ok && len(p.buf) < longestHead && !end:
			return false
		case !ok || len(head) > longestHead:
			p.fail("a message has no text")
			return true
		}
		p.skip(len(p.buf) - len(rest))
		if m := recipient.FindStringSubmatch(head); m != nil {
			p.header = m[1]
			return true
		}
		p.enter(text)
		p.before = ""
		if strings.Contains(head, "analysis") {
			p.enter(think)
			p.closer = harmonyEnd
		}
		return true
	}
	for at, n := harmonyStop(p.buf[p.from:]); at >= 0; at, n = harmonyStop(p.buf[p.from:]) {
		stop := p.from + at
		if cs, why := p.message(p.buf[:stop]); why == "" {
			p.skip(stop + n)
			p.made(cs, true)
			return true
		}
		p.from = stop + max(n, 1)
	}
	if !end {
		if i := strings.LastIndexByte(p.buf[p.from:], '<'); i >= 0 {
			p.from += i
		} else {
			p.from = len(p.buf)
		}
		return false
	}
	cs, why := p.message(block.Trim(p.buf))
	if why != "" {
		p.fail(why)
		return true
	}
	p.buf = ""
	p.made(cs, true)
	return true
}

// message reads the text of a message to a tool.
func (p *Parser) message(body string) (cs []harness.CodeCall, why string) {
	t, known := tools[p.header]
	if !known {
		return nil, "there is no tool " + quoted(p.header)
	}
	bare := strings.TrimSpace(body)
	if strings.HasPrefix(bare, "{") {
		if v, n, st := readJSON(bare, p.s.Repair, true); st == whole && strings.TrimSpace(bare[n:]) == "" {
			return p.s.one(p.s.call(p.header, v))
		}
	}
	if t.language == "" { // JSON was due
		return nil, "the arguments are not valid JSON"
	}
	return p.s.one(p.s.made(t.language, body))
}
