package worker

import (
	"os"
	"strings"
	"testing"

	"atoll/llm"
	"atoll/llm/harness"
)

func TestTemplateOffersTools(t *testing.T) {
	tmpl, err := newTemplate("{% if tools %}{% for tool in tools %}{{ tool | tojson }}{% endfor %}{% endif %}{% for m in messages %}{{ m.content }}{% endfor %}", "", "")
	if err != nil {
		t.Fatal(err)
	}
	tool := llm.Tool{Name: "run_code", Description: "Runs it.", Schema: []byte(`{"type": "object", "properties": {"z": {"enum": ["b", "a"]}, "a": {"maximum": 3, "x": null, "y": true}}, "required": []}`)}
	got, err := tmpl.render([]harness.Turn{{Content: "hi"}}, tool)
	want := `{"type": "function", "function": {"name": "run_code", "description": "Runs it.", "parameters": {"type": "object", "properties": {"z": {"enum": ["b", "a"]}, "a": {"maximum": 3, "x": null, "y": true}}, "required": []}}}`
	if err != nil || got != want+"hi" {
		t.Errorf("got %s, %v", got, err)
	}
	if got, err := tmpl.render([]harness.Turn{{Content: "hi"}}); err != nil || got != "hi" {
		t.Errorf("without tools: %q, %v", got, err)
	}
	source, err := os.ReadFile("testdata/templates/qwen2.5-coder.jinja")
	if err != nil {
		t.Fatal(err)
	}
	qwen, err := newTemplate(string(source), "", "")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := qwen.render([]harness.Turn{{Role: "system", Content: "Be terse."}, {Role: "user", Content: "hi"}}, tool); err != nil || !strings.Contains(got, "Be terse.") || !strings.Contains(got, "\n"+want+"\n") {
		t.Errorf("a real template: %s, %v", got, err)
	}
	tool.Schema = []byte(`{"a": `)
	if _, err := tmpl.render(nil, tool); err == nil || !strings.Contains(err.Error(), "run_code") {
		t.Errorf("a broken schema: %v", err)
	}
}
