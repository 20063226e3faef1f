package declared_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"atoll/llm"
	"atoll/llm/harness"
	"atoll/llm/harness/declared"
	"atoll/llm/harness/dialect"
	"atoll/llm/harness/fenced"
)

func load(t *testing.T, folder ...fstest.MapFS) *declared.Set {
	t.Helper()
	var s *declared.Set
	var err error
	if len(folder) > 0 {
		s, err = declared.Load(folder[0])
	} else {
		s, err = declared.Load()
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func open(t *testing.T, s *declared.Set, name, template string) harness.Harness {
	t.Helper()
	h, err := s.Open(name, declared.Model{ChatTemplate: template})
	if err != nil {
		t.Fatal(err)
	}
	if h.Name() != name {
		t.Errorf("%s calls itself %s", name, h.Name())
	}
	return h
}

// templates are as those of the families, cut down to what tells them apart.
var templates = map[string]string{
	"plain":       "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}",
	"qwen":        "{%- if tools %}{{- '<tools>' }}{{- '<tool_call>\n{\"name\": <function-name>, \"arguments\": <args-json-object>}\n</tool_call>' }}{%- endif %}",
	"qwen-coder":  "{{- '<tool_call>\n<function=' + tool_call.name + '>\n' }}{{- '<parameter=' + args_name + '>\n' }}",
	"llama":       "{{- '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{{- '<|python_tag|>' + tool_call.name + '.call(' }}{{- '{\"name\": \"' + tool_call.name + '\", ' }}",
	"mistral":     "{{ '[TOOL_CALLS]' }}{{ '[TOOL_RESULTS]' }}",
	"deepseek":    "{{'<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>' + tool['type'] + '<｜tool▁sep｜>'}}{% if add_generation_prompt %}{{'<｜Assistant｜><think>\\n'}}{% endif %}",
	"kimi":        "<|tool_calls_section_begin|><|tool_call_begin|>{{ id }}<|tool_call_argument_begin|>",
	"gpt-oss":     "<|start|>assistant<|channel|>commentary to=functions.{{ name }} <|constrain|>json<|message|>",
	"deepseek v3": "<｜DSML｜function_calls><｜DSML｜invoke name=",
}

func TestChoose(t *testing.T) {
	s := load(t)
	for _, tt := range []struct {
		template string
		params   int64
		want     string
	}{
		{"", 0, "atoll-small"},
		{"qwen", 0, "atoll-small"}, // how large it is is not known
		{"qwen", 494_032_768, "atoll-small"},
		{"qwen", 1_543_714_304, "atoll-small"},
		{"qwen-coder", 4_000_000_000, "atoll-small"},
		{"plain", 7_000_000_000, "atoll"},
		{"qwen", 7_000_000_000, "hermes"},
		{"qwen-coder", 30_000_000_000, "qwen-xml"},
		{"llama", 8_000_000_000, "llama3"},
		{"mistral", 24_000_000_000, "mistral"},
		{"deepseek", 32_000_000_000, "deepseek"},
		{"kimi", 1_000_000_000_000, "kimi"},
		{"gpt-oss", 20_000_000_000, "harmony"},
		{"deepseek v3", 600_000_000_000, "claude"},
	} {
		if got := s.Choose(templates[tt.template], tt.params); got != tt.want {
			t.Errorf("%s with %d weights: %s, want %s", tt.template, tt.params, got, tt.want)
		}
	}
}

func TestNative(t *testing.T) {
	s := load(t)
	h := open(t, s, "native", templates["mistral"])
	call := harness.NewCodeCall("", "sql", "SELECT 1")
	p, err := h.Render(&llm.Request{Messages: []llm.Message{{Role: llm.Assistant, Calls: []llm.ToolCall{*call}}}})
	if err != nil || !strings.HasPrefix(p.Messages[1].Content, "[TOOL_CALLS][{") {
		t.Errorf("%+v, %v", p.Messages, err)
	}
	if len(p.Tools) > 0 || !strings.Contains(p.Messages[0].Content, "<tools>") {
		t.Errorf("a template that offers no tools: %+v", p)
	}
	// The template of this one offers them in its own words.
	p, err = open(t, s, "native", templates["qwen"]).Render(&llm.Request{})
	if err != nil || len(p.Tools) != 1 || p.Tools[0].Name != harness.RunCode || !json.Valid(p.Tools[0].Schema) || strings.Contains(p.Messages[0].Content, "<tools>") || !slices.Equal(p.Lazy, []string{"<tool_call>"}) {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := s.Open("native", declared.Model{ChatTemplate: templates["plain"]}); err == nil || !strings.Contains(err.Error(), "choose another harness") {
		t.Errorf("a template without tools: %v", err)
	}
	if _, err := s.Open("nativ", declared.Model{}); !errors.Is(err, declared.ErrUnknown) || !strings.Contains(err.Error(), "native") {
		t.Errorf("an unknown name: %v", err)
	}
	think := open(t, s, "native", templates["deepseek"])
	if p, err := think.Render(&llm.Request{}); err != nil || !p.Thinking {
		t.Errorf("the template begins a thought: %+v, %v", p.Thinking, err)
	}
}

// Only languages that can run here are offered.
func TestLanguages(t *testing.T) {
	s := load(t)
	h, err := s.Open("hermes", declared.Model{Languages: []string{"sql", "python"}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := h.Render(&llm.Request{})
	if err != nil || strings.Contains(p.Messages[0].Content+p.Grammar, "javascript") || !strings.Contains(p.Grammar, `"python" | "sql"`) {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := s.Open("terminus", declared.Model{Languages: []string{"python"}}); err == nil || !strings.Contains(err.Error(), "shell") {
		t.Errorf("a harness without a language: %v", err)
	}
}

// atoll-small is what package fenced is, whatever the model.
func TestSmallIsUnchanged(t *testing.T) {
	req := &llm.Request{RequireCall: true, Messages: []llm.Message{{Role: llm.User, Text: "sum?"}}}
	got, err := open(t, load(t), "atoll-small", templates["qwen"]).Render(req)
	if err != nil {
		t.Fatal(err)
	}
	want, err := fenced.Harness{}.Render(req)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// Every shipped harness can be used: its prompt is complete and shows a call
// that its parser reads, and what it locks is a grammar.
func TestShipped(t *testing.T) {
	s := load(t)
	var names []string
	for _, i := range s.List() {
		names = append(names, i.Name)
		if i.Title == "" {
			t.Errorf("%s has no title", i.Name)
		}
		if i.Name == "native" || i.Name == "atoll-small" {
			continue
		}
		h := open(t, s, i.Name, "")
		language := "python"
		if i.Name == "mini-swe" || i.Name == "terminus" {
			language = "shell"
		}
		req := &llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "?"}, {Role: llm.Assistant, Calls: []llm.ToolCall{*harness.NewCodeCall("", language, "x\n")}}, {Role: llm.ToolRole, Text: "Output:\n6" + strings.Repeat("é", 9000)}}}
		p, err := h.Render(req)
		if err != nil {
			t.Fatal(err)
		}
		system := p.Messages[0].Content
		if strings.Contains(system, "{rules}") || strings.Contains(system, "{call}") || !strings.Contains(system, "Rules:") || len(system) > 4000 {
			t.Errorf("%s: system prompt of %d bytes: %s", i.Name, len(system), system)
		}
		if len(p.Messages) != 4 || p.Messages[3].Role != "user" || !strings.Contains(p.Messages[3].Content, "Output:\n6") || len(p.Messages[3].Content) > 8200 || p.Max == 0 || p.Sampling.Temperature == nil {
			t.Errorf("%s: %+v", i.Name, p)
		}
		if i.Name != "fences" && p.Grammar == "" {
			t.Errorf("%s is not locked", i.Name)
		}
		parser := h.Parser(req)
		ds := parser.Push(p.Messages[2].Content)
		rest, err := parser.Close(false)
		calls := 0
		for _, d := range append(ds, rest...) {
			if d.Call != nil {
				calls++
			}
		}
		if calls != 1 || err != nil {
			t.Errorf("%s: %d calls in %q, %v", i.Name, calls, p.Messages[2].Content, err)
		}
		forced, err := h.Render(&llm.Request{RequireCall: true})
		if err != nil || i.Name != "fences" && (forced.Grammar == "" || len(forced.Lazy) > 0) {
			t.Errorf("%s, forced: %+v, %v", i.Name, forced, err)
		}
	}
	for _, d := range dialect.All {
		if !slices.Contains(names, string(d)) {
			t.Errorf("no harness is called %s", d)
		}
	}
}

const mine = `---
{"title": "Mine", "protocol": "fences", "languages": ["python"], "repair": [], "sampling": {"temperature": 0.5}, "match": {"template": ["[MINE]"], "rank": 1}}
---
Write {call}
`

func TestFolder(t *testing.T) {
	s := load(t, fstest.MapFS{"mine.md": {Data: []byte(mine)}, "atoll.md": {Data: []byte(strings.ReplaceAll(mine, "\n", "\r\n"))}, "notes.txt": {Data: []byte("x")}})
	p, err := open(t, s, "mine", "").Render(&llm.Request{})
	if err != nil || *p.Sampling.Temperature != 0.5 || p.Messages[0].Content != "Write ```python\nprint(1 + 1)\n```" || p.Grammar != "" {
		t.Errorf("%+v, %v", p, err)
	}
	if got := s.Choose("a [MINE] b", 7e9); got != "atoll" && got != "mine" {
		t.Errorf("chose %s", got)
	}
}

func TestBadFiles(t *testing.T) {
	head := func(json string) string { return "---\n" + json + "\n---\nPrompt {call}\n" }
	for name, tt := range map[string]struct{ file, text, want string }{
		"no head":           {"a.md", "Prompt", "begin with a line ---"},
		"no JSON":           {"a.md", head("title: x"), "JSON"},
		"unknown field":     {"a.md", head(`{"title": "x", "protocol": "hermes", "languages": ["python"], "tempreature": 1}`), `"tempreature"`},
		"more JSON":         {"a.md", head(`{"title": "x", "protocol": "hermes", "languages": ["python"]} {}`), "followed by more"},
		"unknown protocol":  {"a.md", head(`{"title": "x", "protocol": "morse"}`), `"morse" is not known`},
		"no title":          {"a.md", head(`{"protocol": "hermes", "languages": ["python"]}`), "title"},
		"no languages":      {"a.md", head(`{"title": "x", "protocol": "hermes"}`), "languages is empty"},
		"unknown language":  {"a.md", head(`{"title": "x", "protocol": "hermes", "languages": ["bash"]}`), `"bash"`},
		"unknown repair":    {"a.md", head(`{"title": "x", "protocol": "hermes", "languages": ["python"], "repair": ["all"]}`), `"all"`},
		"result without it": {"a.md", head(`{"title": "x", "protocol": "hermes", "languages": ["python"], "context": {"result": "x"}}`), "{result}"},
		"no prompt":         {"a.md", "---\n{\"title\": \"x\", \"protocol\": \"hermes\", \"languages\": [\"python\"]}\n---\n", "system prompt"},
		"bad name":          {"A b.md", head(`{"title": "x", "protocol": "hermes", "languages": ["python"]}`), "lower-case"},
		"too large":         {"a.md", head("{}") + strings.Repeat("x", 70<<10), "more than"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := declared.Load(fstest.MapFS{tt.file: {Data: []byte(tt.text)}, "mine.md": {Data: []byte(mine)}})
			if err == nil || !strings.Contains(err.Error(), tt.file) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one that holds %q", err, tt.want)
			}
			if _, err := s.Open("mine", declared.Model{}); err != nil {
				t.Errorf("the good file beside it: %v", err)
			}
		})
	}
}
