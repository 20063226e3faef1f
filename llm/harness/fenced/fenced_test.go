package fenced_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atoll/llm"
	"atoll/llm/harness"
	"atoll/llm/harness/fenced"
)

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

// Whatever opens and closes a block of Python is known to the engine: without
// that it would generate on, and invent the output.
func TestRenderStops(t *testing.T) {
	free, err := fenced.Harness{}.Render(&llm.Request{})
	if err != nil {
		t.Fatal(err)
	}
	forced, err := fenced.Harness{}.Render(&llm.Request{RequireCall: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(forced.Arm) > 0 || !cmp.Equal(free.Stop, forced.Stop) {
		t.Errorf("forced: armed by %q, stops at %q; free %q", forced.Arm, forced.Stop, free.Stop)
	}
	for _, open := range []string{
		f + "python", f + "py", f + "python3", f + "ipython", f + "Python", f + " python", f + "{python}", f + "{.python .x}",
		f + "{ .python }", f + "python:main.py", "~~~python", f + "`python", "- " + f + "python", "then " + f + "python",
	} {
		for _, end := range []string{"\n" + f + "\n", "\n" + f + "\r\n", "\n  " + f + "\n", "\n   " + f + "\n"} {
			out := "A table:\n" + f + "\n1\n" + f + "\n" + open + "\nx"
			if strings.HasPrefix(open, "~~~") || strings.HasPrefix(open, f+"`") {
				end = strings.ReplaceAll(end, f, strings.TrimSuffix(open, "python"))
			}
			if text, stop := free.Cut(out + end + "Output:"); text != out || stop != end {
				t.Errorf("%q: cut to %q at %q, want %q", out+end, text, stop, end)
			}
		}
	}
	for _, out := range []string{"x\n" + f + "js\ny", "x\n" + f, f + "\nx"} {
		if text, stop := forced.Cut(out); text != out {
			t.Errorf("%q: cut to %q at %q", out, text, stop)
		}
	}
}
