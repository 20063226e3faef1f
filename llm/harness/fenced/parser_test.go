package fenced_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atoll/llm"
	"atoll/llm/harness"
	"atoll/llm/harness/fenced"
)

type parsed struct {
	Text, Code string
	Calls      []string
	Malformed  bool
}

// parse feeds out in the given cuts and joins what came.
func parse(t *testing.T, req *llm.Request, cuts []string, truncated bool) parsed {
	t.Helper()
	var got parsed
	take := func(ds []llm.Delta) {
		for _, d := range ds {
			got.Text += d.Text
			got.Code += d.Code
			if d.Call != nil {
				c, err := harness.ReadCodeCall(*d.Call)
				if err != nil {
					t.Fatal(err)
				}
				got.Calls = append(got.Calls, c.Language+": "+c.Code)
			}
		}
	}
	p := fenced.Harness{}.Parser(req)
	for _, c := range cuts {
		take(p.Push(c))
	}
	ds, err := p.Close(truncated)
	take(ds)
	got.Malformed = errors.Is(err, llm.ErrMalformed)
	return got
}

// cuttings are ways in which the same output can arrive.
func cuttings(out string) map[string][]string {
	rnd := rand.New(rand.NewPCG(1, 7))
	all := map[string][]string{"whole": {out}, "lines": strings.SplitAfter(out, "\n"), "bytes": nil, "random": nil, "random too": nil}
	for i := range len(out) {
		all["bytes"] = append(all["bytes"], out[i:i+1])
	}
	for _, name := range []string{"random", "random too"} {
		for s := out; s != ""; {
			n := min(1+rnd.IntN(7), len(s))
			all[name] = append(all[name], s[:n])
			s = s[n:]
		}
	}
	return all
}

type row struct {
	name, out      string
	require, trunc bool
	want           parsed
}

// check reads each row's output in all cuttings.
func check(t *testing.T, rows []row) {
	t.Helper()
	for _, tt := range rows {
		t.Run(tt.name, func(t *testing.T) {
			for name, cuts := range cuttings(tt.out) {
				if d := cmp.Diff(tt.want, parse(t, &llm.Request{RequireCall: tt.require}, cuts, tt.trunc)); d != "" {
					t.Errorf("%s (-want +got):\n%s", name, d)
				}
			}
		})
	}
}

const f = "```"

// run is what a program makes of an answer.
func run(src string) []string { return []string{"python: " + src} }

func TestParse(t *testing.T) {
	check(t, []row{
		{name: "prose only", out: "I cannot do that because the file is missing.", want: parsed{Text: "I cannot do that because the file is missing."}},
		{name: "prose then code", out: "Here:\n" + f + "python\nprint(1)\n" + f + "\n", want: parsed{Text: "Here:\n", Code: "print(1)\n", Calls: []string{"python: print(1)\n"}}},
		{name: "closing fence was the stop string", out: f + "python\nprint(1)", want: parsed{Code: "print(1)", Calls: []string{"python: print(1)"}}},
		{name: "inline code is prose", out: "Run `ls`, then ``x``.\n" + f + "py\nprint(2)\n" + f, want: parsed{Text: "Run `ls`, then ``x``.\n", Code: "print(2)\n", Calls: []string{"python: print(2)\n"}}},
		{name: "label variants", out: f + "{.python .numberLines}\na=1\n" + f + "\n", want: parsed{Code: "a=1\n", Calls: run("a=1\n")}},
		{name: "what follows a program is invented", out: f + "python\na=1\n" + f + "\nOutput: 1\n" + f + "python\nb=2\n" + f + "\n", want: parsed{Code: "a=1\n", Calls: run("a=1\n")}},
		{name: "an empty block is no program", out: f + "python\n\n" + f + "\nSo:\n" + f + "python\nb=2\n" + f + "\n", want: parsed{Text: "So:\n", Code: "\nb=2\n", Calls: run("b=2\n")}},
		{name: "other language is not run", out: f + "bash\nrm -rf x\n" + f + "\ndone", want: parsed{Text: f + "bash\nrm -rf x\n" + f + "\ndone"}},
		{name: "no label is not run", out: f + "\nprint(3)\n" + f + "\n", want: parsed{Text: f + "\nprint(3)\n" + f + "\n"}},
		{name: "forced", require: true, out: "print('é')\n", want: parsed{Code: "print('é')\n", Calls: []string{"python: print('é')\n"}}},
		{name: "forced and closed", require: true, out: "print(1)\n" + f, want: parsed{Code: "print(1)\n", Calls: []string{"python: print(1)\n"}}},
		{name: "cut off", require: true, trunc: true, out: "for i in ran", want: parsed{Code: "for i in ran", Malformed: true}},
		{name: "empty", require: true, out: "\n", want: parsed{Code: "\n", Malformed: true}},
		{name: "labelled fence inside a program", require: true, out: "s = '''\n" + f + "js\n'''\nprint(s)", want: parsed{Code: "s = '''\n" + f + "js\n'''\nprint(s)", Calls: []string{"python: s = '''\n" + f + "js\n'''\nprint(s)"}}},
		{name: "unclosed block of another language", out: f + "sh\nls", want: parsed{Text: f + "sh\nls"}},
		{name: "quoted table, then prose", out: "So:\n" + f + "\na | b\n" + f + "\nThe sum is 3.", want: parsed{Text: "So:\n" + f + "\na | b\n" + f + "\nThe sum is 3."}},
		{name: "program in a quote of Markdown", out: f + "markdown\n" + f + "python\nx\n" + f + "\nend", want: parsed{Text: f + "markdown\n" + f + "python\nx\n" + f + "\nend"}},
		{name: "cut off in a block", trunc: true, out: "a\n" + f + "python\nprint(1)\n", want: parsed{Text: "a\n", Code: "print(1)\n", Malformed: true}},
		{name: "cut off in the closing fence", trunc: true, out: f + "python\nprint(1)\n" + f, want: parsed{Code: "print(1)\n", Malformed: true}},
		{name: "cut off behind the block", trunc: true, out: f + "python\nprint(1)\n" + f + "\nIt pri", want: parsed{Code: "print(1)\n", Calls: run("print(1)\n")}},
		{name: "program announced, none comes", out: "Here:\n" + f + "python", want: parsed{Text: "Here:\n", Malformed: true}},
		{name: "forced, closed at once", require: true, out: f + "\nI cannot.", want: parsed{Text: "I cannot.", Malformed: true}},
	})
}

func TestParseStrings(t *testing.T) {
	program := func(name, src string) row {
		return row{name: name, out: f + "python\n" + src + f + "\nit", want: parsed{Code: src, Calls: run(src)}}
	}
	bare := "\n" + f + "\n"
	check(t, []row{
		program("fence in a string", "s = \"\"\"a"+bare+"b\"\"\"\nprint(s)\n"),
		program("indented fence in a string", "def f():\n    s = '''\n    "+f+"\n    '''\n"),
		program("with prefix and escapes", `s = rb'''\'''`+bare+"'''\n"),
		program("quote of the other kind", "s = '''\"\"\""+bare+"'''\nx = '\\'\"\"\"'\n"),
		program("quotes in a comment", "x = 1 # don't '''\n"),
		program("single line strings", "x = '\"\"\"' + \"'''\"\n"),
		program("broken single line string", "x = 'oops\n"),
		program("continued string", "x = 'a\\\n"+f+"\\\nb'\n"),
		program("labelled fence in a string", "s = '''\n"+f+"js\n"+f+"\n'''\n"),
		program("empty strings", "x = '' + \"\" + ''''''\n"),
		program("opening fence in a string", "s = '''\n"+f+"python\n"+f+"\n'''\n"),
		{name: "cut off in a string", require: true, trunc: true, out: "s = '''\n" + f + "\n", want: parsed{Code: "s = '''\n" + f + "\n", Malformed: true}},
		{name: "ends in a string", require: true, out: "s = '''a\nb\n" + f, want: parsed{Code: "s = '''a\nb\n" + f, Malformed: true}},
	})
}

func TestParseFences(t *testing.T) {
	var rows []row
	for _, info := range []string{
		"python", "py", "python3", "py3", "ipython", "ipython3", "Python", "PYTHON", " python", `python title="x"`,
		"{python}", "{.python .x}", "{ .python }", "{python echo=FALSE}", "python,linenos", "python:main.py", "python{1,3}", "python\r",
	} {
		rows = append(rows, row{name: "runs " + info, out: f + info + "\nx=1\n" + f + "\n", want: parsed{Code: "x=1\n", Calls: run("x=1\n")}})
	}
	for _, info := range []string{"", "console", "pycon", "markdown", "bash", "text", "pyx", "python-repl", "jupyter", "{.bash}", "output", "json"} {
		out := f + info + "\n>>> x=1\n" + f + "\n"
		rows = append(rows, row{name: "does not run " + info, out: out, want: parsed{Text: out}})
	}
	block := func(name, before, out, src string) row {
		return row{name: name, out: before + out, want: parsed{Text: before, Code: src, Calls: run(src)}}
	}
	check(t, append(rows,
		block("longer fence", "", f+"`python\ns\n"+f+"\nt\n"+f+"``\n", "s\n"+f+"\nt\n"),
		block("shorter fence on the last line", "", f+"`python\ns\n"+f+"\n"+f+"`\n", "s\n"+f+"\n"),
		block("tildes", "a ~~b~~\n", "~~~python\n"+f+"\nx\n~~~\n", f+"\nx\n"),
		block("ticks are not closed by tildes", "", f+"py\n~~~\n"+f+"\n", "~~~\n"),
		block("indented", "", "   "+f+"python\n   if x:\n       y\n\n   "+f+"\n", "if x:\n    y\n\n"),
		block("in a list item", "1. so\n", "      "+f+"python\n      if x:\n          y\n      "+f+"\n", "if x:\n    y\n"),
		block("only the fence is indented", "", "  "+f+"python\nif x:\n  y\n"+f+"\n", "if x:\n  y\n"),
		row{name: "behind a bullet", out: "- " + f + "python\n  if x:\n    y\n  " + f, want: parsed{Text: "- \n", Code: "if x:\n  y\n", Calls: run("if x:\n  y\n")}},
		row{name: "behind prose", out: "Run `a`, then " + f + "python\nx\n y\n" + f, want: parsed{Text: "Run `a`, then \n", Code: "x\n y\n", Calls: run("x\n y\n")}},
		row{name: "prose about fences", out: "Write " + f + "python blocks\nor " + f + "x" + f + " or " + f + "\nok", want: parsed{Text: "Write " + f + "python blocks\nor " + f + "x" + f + " or " + f + "\nok"}},
		row{name: "other language behind prose", out: "then " + f + "bash\nrm x\n", want: parsed{Text: "then " + f + "bash\nrm x\n"}},
		block("closed behind code", "", f+"python\nprint(1)"+f+"\n", "print(1)\n"),
		block("ticks in a comment and a string", "", f+"python\nx = 1 # a "+f+"\ny = ''' "+f+"\n'''\n"+f+"\n", "x = 1 # a "+f+"\ny = ''' "+f+"\n'''\n"),
		row{name: "opened again", require: true, out: f + "python\nx\n" + f, want: parsed{Code: "x\n", Calls: run("x\n")}},
		row{name: "opened again, CRLF", require: true, out: "\r\n" + f + "python\r\nx\r\n y\r\n" + f + "\r\n", want: parsed{Code: "\nx\n y\n", Calls: run("\nx\n y\n")}},
		block("opened twice", "", f+"python\n"+f+"py\nx\n"+f, "x\n"),
	))
}

func TestParseTokens(t *testing.T) {
	var rows []row
	for _, token := range []string{"<|im_end|>", "<|eot_id|>", "<|end|>", "<|endoftext|>", "</s>", "<|assistant|>", "<end_of_turn>", "<｜end▁of▁sentence｜>"} {
		code := parsed{Code: "x\n", Calls: run("x\n")}
		rows = append(rows,
			row{name: "prose" + token, out: "Yes." + token, want: parsed{Text: "Yes."}},
			row{name: "line" + token, out: "Yes.\n" + token + "\n", want: parsed{Text: "Yes.\n"}},
			row{name: "in prose" + token, out: "A " + token + " here.", want: parsed{Text: "A " + token + " here."}},
			row{name: "last line" + token, out: f + "python\nx" + token + "\n" + f, want: code},
			row{name: "own line" + token, require: true, out: "x\n" + token + "\n\n" + f, want: code},
			row{name: "without fence" + token, require: true, out: "x\n" + token, want: code},
			row{name: "at the fence" + token, out: f + "python\nx\n" + f + token + "<s>", want: code},
			row{name: "at the end of a quote" + token, out: f + "\nx\n" + f + token, want: parsed{Text: f + "\nx\n" + f}},
		)
	}
	html := "s = '''<s>a</s>\n<b>`\n'''\n"
	check(t, append(rows,
		row{name: "before the fence", out: "<|assistant|>" + f + "python\nx\n" + f, want: parsed{Code: "x\n", Calls: run("x\n")}},
		row{name: "an invented turn", require: true, out: "x\n<|im_end|>\n<|im_start|>user\nThanks", want: parsed{Code: "x\n", Calls: run("x\n")}},
		row{name: "a role behind prose", out: "Yes.<|im_end|>\n<|im_start|>assistant\n", want: parsed{Text: "Yes.\n"}},
		row{name: "headers behind prose", out: "Yes.<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n", want: parsed{Text: "Yes.\n"}},
		row{name: "an index is no token", require: true, out: "x = y[INST]\nz\n", want: parsed{Code: "x = y[INST]\nz\n", Calls: run("x = y[INST]\nz\n")}},
		row{name: "in a comment", require: true, out: "x # </s>\ny\n", want: parsed{Code: "x # </s>\ny\n", Calls: run("x # </s>\ny\n")}},
		row{name: "in tags, forced", require: true, out: "<tool_call>\n{\"name\": \"run\", \"arguments\": {\"code\": \"x\"}}\n</tool_call>", want: parsed{Code: "<tool_call>\n{\"name\": \"run\", \"arguments\": {\"code\": \"x\"}}\n", Calls: run("x")}},
		row{name: "in a string", require: true, out: html, want: parsed{Code: html, Calls: run(html)}},
		row{name: "a stray tick", require: true, out: "x`\n" + f, want: parsed{Code: "x\n", Calls: run("x\n")}},
		row{name: "a stray tick on its own line", require: true, out: "x\n`\n" + f, want: parsed{Code: "x\n", Calls: run("x\n")}},
		row{name: "half a fence", require: true, out: "x\n``", want: parsed{Code: "x\n", Calls: run("x\n")}},
		row{name: "less than", out: "1 < 2 and <", want: parsed{Text: "1 < 2 and <"}},
	))
}

func TestParseObjects(t *testing.T) {
	call := `{"name": "execute", "arguments": {"language": "python", "code": "print(1)\n"}}`
	pretty := "{\n  \"name\": \"python\",\n  \"arguments\": {\n    \"code\": \"x\"\n  }\n}"
	tripled := `{"name": "execute", "arguments": {"code": """x"""}}`
	check(t, []row{
		{name: "bare", out: call, want: parsed{Calls: run("print(1)\n")}},
		{name: "lines", out: "Sure.\n" + pretty + "\n", want: parsed{Text: "Sure.\n", Calls: run("x")}},
		{name: "behind a sentence", out: "I run this: " + call, want: parsed{Text: "I run this: ", Calls: run("print(1)\n")}},
		{name: "in a fence of JSON", out: "So:\n" + f + "json\n\n" + pretty + "\n" + f + "\nok", want: parsed{Text: "So:\n", Calls: run("x")}},
		{name: "in tags", out: "<tool_call>\n" + call + "\n</tool_call><|im_end|>", want: parsed{Calls: run("print(1)\n")}},
		{name: "in tags on one line", out: "<tool_call>" + call + "</tool_call>", want: parsed{Calls: run("print(1)\n")}},
		{name: "parameters, other order", out: `{"parameters": {"code": "x"}, "name": "run_code"}`, want: parsed{Calls: run("x")}},
		{name: "forced", require: true, out: call + "\n", want: parsed{Code: call + "\n", Calls: run("print(1)\n")}},
		{name: "in a fence of Python", out: f + "python\n" + pretty + "\n" + f, want: parsed{Code: pretty + "\n", Calls: run("x")}},
		{name: "a cut object", trunc: true, out: call[:40], want: parsed{Malformed: true}},
		{name: "an object without its end", out: call[:len(call)-1], want: parsed{Malformed: true}},
		{name: "broken", out: "So: " + tripled, want: parsed{Text: "So: ", Malformed: true}},
		{name: "broken in a fence", out: f + "json\n{\"name\": python, \"arguments\": {}}\n" + f + "\n", want: parsed{Malformed: true}},
		{name: "broken, forced", require: true, out: tripled, want: parsed{Code: tripled, Malformed: true}},
		{name: "unknown tool", out: `{"name": "rm", "arguments": {"code": "x"}}`, want: parsed{Malformed: true}},
		{name: "other language", out: `{"name": "execute", "arguments": {"language": "bash", "code": "x"}}`, want: parsed{Malformed: true}},
		{name: "no code", out: `{"name": "execute", "arguments": {"code": " "}}`, want: parsed{Malformed: true}},
		{name: "unknown tool, then a program", out: `{"name": "rm", "arguments": {}}` + "\n" + f + "python\nx\n" + f, want: parsed{Malformed: true}},
		{name: "quoted data", out: "The file holds {\"name\": \"Bob\"} and {x}.\nDone.", want: parsed{Text: "The file holds {\"name\": \"Bob\"} and {x}.\nDone."}},
		{name: "quoted data in a fence", out: f + "json\n{\n \"name\": \"Bob\"\n}\n" + f + "\nok", want: parsed{Text: f + "json\n{\n \"name\": \"Bob\"\n}\n" + f + "\nok"}},
		{name: "data without an end, then a program", out: "{\n" + f + "py\nx\n" + f, want: parsed{Text: "{\n", Code: "x\n", Calls: run("x\n")}},
		{name: "a dictionary is a program", require: true, out: "{\"name\": 1}", want: parsed{Code: "{\"name\": 1}", Calls: run("{\"name\": 1}")}},
	})
}

func FuzzParse(f *testing.F) {
	f.Add("a\n```python\nx=1\n```\nb", 3, false)
	f.Add("``` ```py\n", 1, true)
	f.Add("a `b` then ```python\r\ns = '''\n```\n'''`\n```<|im_end|>\n", 2, false)
	f.Add("x {\"name\": \"python\", \"arguments\": {\"code\": \"1\"}}</tool_call>\nb", 4, false)
	f.Add("- ~~~~py\n  x\n  ~~~\n  ~~~~\n```json\n\n{\"name\":\n", 5, true)
	f.Fuzz(func(t *testing.T, out string, n int, require bool) {
		req := &llm.Request{RequireCall: require}
		n = max(1, n%9)
		var cuts []string
		for s := out; s != ""; {
			k := min(n, len(s))
			cuts = append(cuts, s[:k])
			s = s[k:]
		}
		if d := cmp.Diff(parse(t, req, []string{out}, false), parse(t, req, cuts, false)); d != "" {
			t.Errorf("result depends on the cutting:\n%s", d)
		}
	})
}
