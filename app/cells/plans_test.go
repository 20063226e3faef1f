package cells

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// TestPlansAreKept: how a file is loaded is known after a restart; a damaged
// note of it is no fault.
func TestPlansAreKept(t *testing.T) {
	dir := t.TempDir()
	p := newPlans(dir)
	if got := p.all(); len(got) != 0 {
		t.Errorf("%s", got)
	}
	for _, plan := range []string{`{"name":"a"}`, `{"name":"b"}`, `{"name":"a","size":2}`} {
		var name struct{ Name string }
		if err := json.Unmarshal([]byte(plan), &name); err != nil {
			t.Fatal(err)
		}
		if err := p.set(name.Name, json.RawMessage(plan)); err != nil {
			t.Fatal(err)
		}
	}
	if got := p.all(); len(got) != 3 || string(got[2]) != `{"name":"a","size":2}` {
		t.Errorf("%s", got)
	}
	if got := newPlans(dir).all(); len(got) != 2 {
		t.Errorf("after a restart: %s", got)
	}
	for _, damaged := range []string{"", "null", "[1", `{"a":`} {
		if err := os.WriteFile(filepath.Join(dir, plansFile), []byte(damaged), 0o600); err != nil {
			t.Fatal(err)
		}
		q := newPlans(dir)
		if got := q.all(); len(got) != 0 {
			t.Errorf("%q: %s", damaged, got)
		}
		if err := q.set("c", json.RawMessage(`{}`)); err != nil {
			t.Errorf("%q: %v", damaged, err)
		}
	}
}
