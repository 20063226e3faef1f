package fake_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"atoll/llm"
	"atoll/llm/fake"
	"atoll/llm/harness"
	"atoll/llm/harness/fenced"
)

// A script is cut where an engine would cut it, and goes on where one would.
func TestStops(t *testing.T) {
	program := "s = '''\n```\n'''\n"
	script, err := json.Marshal([]fake.Line{
		{When: "table", Say: "So:\n```\n1\n```\nOne."},
		{When: "string", Say: "```python\n" + program + "```\nOutput: 5"},
		{When: "bare", Say: program + "```\nOutput: 5"},
		{When: "twice", Say: "```python\n```python\nx\n```\nOutput: 5"},
	})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "script.json")
	if err := os.WriteFile(path, script, 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := fake.Provider{Path: path, Harness: fenced.Harness{}}.Open(t.Context(), "model")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		ask     string
		require bool
		text    string
		code    string
	}{
		{ask: "table", text: "So:\n```\n1\n```\nOne."},
		{ask: "string", code: program},
		{ask: "string", require: true, code: program},
		{ask: "bare", require: true, code: program},
		{ask: "twice", require: true, code: "x\n"},
	} {
		req := &llm.Request{RequireCall: tt.require, Messages: []llm.Message{{Role: llm.User, Text: tt.ask}}}
		got, done, err := m.Generate(t.Context(), req).Collect()
		if err != nil {
			t.Fatal(err)
		}
		code := ""
		for _, c := range got.Calls {
			cc, err := harness.ReadCodeCall(c)
			if err != nil {
				t.Fatal(err)
			}
			code += cc.Code
		}
		if got.Text != tt.text || code != tt.code || done.Usage.Output == 0 {
			t.Errorf("%s: %q, %q, %+v", tt.ask, got.Text, code, done)
		}
	}
}
