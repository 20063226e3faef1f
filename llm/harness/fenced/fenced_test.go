package fenced_test

import (
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
