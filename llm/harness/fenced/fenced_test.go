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

func TestParse(t *testing.T) {
	const f = "```"
	tests := []struct {
		name, out      string
		require, trunc bool
		want           parsed
	}{
		{name: "prose only", out: "I cannot do that because the file is missing.", want: parsed{Text: "I cannot do that because the file is missing."}},
		{name: "prose then code", out: "Here:\n" + f + "python\nprint(1)\n" + f + "\n", want: parsed{Text: "Here:\n", Code: "print(1)\n", Calls: []string{"python: print(1)\n"}}},
		{name: "closing fence was the stop string", out: f + "python\nprint(1)", want: parsed{Code: "print(1)", Calls: []string{"python: print(1)"}}},
		{name: "inline code is prose", out: "Run `ls`, then ``x``.\n" + f + "py\nprint(2)\n" + f, want: parsed{Text: "Run `ls`, then ``x``.\n", Code: "print(2)\n", Calls: []string{"python: print(2)\n"}}},
		{name: "label variants", out: f + "{.python .numberLines}\na=1\n" + f + "\n" + f + "Python3 title=\"x\"\nb=2\n" + f + "\n", want: parsed{Code: "a=1\nb=2\n", Calls: []string{"python: a=1\n", "python: b=2\n"}}},
		{name: "other language is not run", out: f + "bash\nrm -rf x\n" + f + "\ndone", want: parsed{Text: f + "bash\nrm -rf x\n" + f + "\ndone"}},
		{name: "no label is not run", out: f + "\nprint(3)\n" + f + "\n", want: parsed{Text: f + "\nprint(3)\n" + f + "\n"}},
		{name: "forced", require: true, out: "print('é')\n", want: parsed{Code: "print('é')\n", Calls: []string{"python: print('é')\n"}}},
		{name: "forced and closed", require: true, out: "print(1)\n" + f, want: parsed{Code: "print(1)\n", Calls: []string{"python: print(1)\n"}}},
		{name: "cut off", require: true, trunc: true, out: "for i in ran", want: parsed{Code: "for i in ran", Malformed: true}},
		{name: "empty", require: true, out: "\n", want: parsed{Code: "\n", Malformed: true}},
		{name: "labelled fence inside a program", require: true, out: "s = '''\n" + f + "js\n'''\nprint(s)", want: parsed{Code: "s = '''\n" + f + "js\n'''\nprint(s)", Calls: []string{"python: s = '''\n" + f + "js\n'''\nprint(s)"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req := &llm.Request{RequireCall: tt.require}
			rnd := rand.New(rand.NewPCG(1, 7))
			cuttings := map[string][]string{"whole": {tt.out}, "bytes": strings.Split(tt.out, ""), "random": nil}
			for s := tt.out; s != ""; {
				n := min(1+rnd.IntN(7), len(s))
				cuttings["random"] = append(cuttings["random"], s[:n])
				s = s[n:]
			}
			for name, cuts := range cuttings {
				if d := cmp.Diff(tt.want, parse(t, req, cuts, tt.trunc)); d != "" {
					t.Errorf("%s (-want +got):\n%s", name, d)
				}
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add("a\n```python\nx=1\n```\nb", 3, false)
	f.Add("``` ```py\n", 1, true)
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

func TestRender(t *testing.T) {
	req := &llm.Request{RequireCall: true, Messages: []llm.Message{
		{Role: llm.User, Text: "sum?"},
		{Role: llm.Assistant, Calls: []llm.ToolCall{*harness.NewCodeCall("1", "python", "print(6)\n")}},
		{Role: llm.ToolRole, CallID: "1", Text: "Output:\n6"},
		{Role: llm.User, Text: "and twice?"},
	}}
	p, err := fenced.Harness{}.Render(req)
	if err != nil {
		t.Fatal(err)
	}
	want := []harness.Turn{
		{Role: "user", Content: "sum?"},
		{Role: "assistant", Content: "```python\nprint(6)\n```"},
		{Role: "user", Content: "Output:\n6\n\nand twice?"},
	}
	if d := cmp.Diff(want, p.Messages[1:]); d != "" {
		t.Errorf("turns (-want +got):\n%s", d)
	}
	if p.Prefill != "```python\n" || p.Messages[0].Role != "system" {
		t.Errorf("prefill %q, first role %q", p.Prefill, p.Messages[0].Role)
	}
}
