package worker

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"atoll/llm/harness"

	"github.com/google/go-cmp/cmp"
)

// The references were made by testdata/render.py with Python's Jinja2.
func TestTemplatesRenderLikePython(t *testing.T) {
	files, err := filepath.Glob("testdata/templates/*.jinja")
	if err != nil || len(files) == 0 {
		t.Fatal("no templates", err)
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		tmpl, err := newTemplate(string(source), "<BOS>", "<EOS>")
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		raw, err := os.ReadFile(strings.TrimSuffix(file, ".jinja") + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var cases []struct {
			Messages []harness.Turn
			Want     string
		}
		if err := json.Unmarshal(raw, &cases); err != nil {
			t.Fatal(err)
		}
		for i, c := range cases {
			got, err := tmpl.render(c.Messages)
			if err != nil {
				t.Errorf("%s case %d: %v", file, i, err)
			} else if d := cmp.Diff(c.Want, got); d != "" {
				t.Errorf("%s case %d: %s", file, i, d)
			}
		}
	}
}

func TestTemplateErrors(t *testing.T) {
	if _, err := newTemplate("{% for x in %}", "", ""); err == nil {
		t.Error("a template that does not parse was accepted")
	}
	tmpl, err := newTemplate("{{ raise_exception('System role not supported') }}", "", "")
	if err != nil {
		t.Fatal(err)
	}
	_, err = tmpl.render(nil)
	if err == nil || !strings.Contains(err.Error(), "System role not supported") {
		t.Errorf("the template's own refusal: %v", err)
	}
}

// The templates grow to 64 MiB, which disturbs no other test, or count to two million and then end by
// themselves, so that the test is harmless where the limit does not hold.
func TestRunawayTemplateIsStopped(t *testing.T) {
	grow := "{% set ns = namespace(s='x') %}{% for i in range(26) %}{% set ns.s = ns.s + ns.s %}{% endfor %}{{ ns.s | length }}"
	count := "{% set ns = namespace(n=0) %}{% for i in range(1000) %}{% for j in range(2000) %}{% set ns.n = j %}{% endfor %}{% endfor %}{{ ns.n }}"
	for name, c := range map[string]struct {
		source string
		limits limits
	}{
		"memory": {grow, limits{time: time.Hour, memory: 16 * mib, size: 100}},
		"time":   {count, limits{time: time.Millisecond, memory: 1 << 40, size: 100}},
	} {
		tmpl, err := newTemplate(c.source, "", "")
		if err != nil {
			t.Fatal(err)
		}
		tmpl.limits = c.limits
		if _, err := tmpl.render(nil); !errors.Is(err, errRunaway) {
			t.Errorf("%s: got %v, want %v", name, err, errRunaway)
		}
	}
	tmpl, err := newTemplate("{% for m in messages %}{{ m.content }}{% endfor %}", "", "")
	if err != nil {
		t.Fatal(err)
	}
	tmpl.limits.size = 10
	if _, err := tmpl.render([]harness.Turn{{Content: "12345678901"}}); err == nil {
		t.Error("a result over the limit was accepted")
	}
	if s, err := tmpl.render([]harness.Turn{{Content: "1234567890"}}); err != nil || len(s) != 10 {
		t.Errorf("a result at the limit: %q, %v", s, err)
	}
}
