//go:build linux

package preview

import (
	"path/filepath"
	"testing"

	"atoll/sandbox"
)

// The real boundary: the child reads its file.
func TestOfInSandbox(t *testing.T) {
	self := executable(t)
	r := sandbox.New(sandbox.Options{Helper: []string{self, "sandbox-helper"}})
	if l := r.Level(t.Context()); l.Name == sandbox.LevelNone {
		t.Skipf("SKIPPED: no sandbox on this machine: %+v", l)
	}
	path := write(t, "d1.csv", encoded(t, "cp1252", d1))
	c, err := Of(t.Context(), r, []string{self, "preview-worker"}, path)
	if err != nil || c.Kind != CSV || c.Rows != 2 || c.Encoding != "cp1252" {
		t.Fatalf("%+v, %v", c, err)
	}
	// A folder, and a profile, under the same boundary.
	dir := filepath.Dir(path)
	if c, err := Of(t.Context(), r, []string{self, "preview-worker"}, dir); err != nil || c.Kind != Folder || c.Rows != 1 {
		t.Errorf("%+v, %v", c, err)
	}
	if c, err := Profile(t.Context(), r, []string{self, "preview-worker"}, path, "", nil); err != nil || c.Rows != 2 || c.Columns[1].Mean != "667.2" {
		t.Errorf("%+v, %v", c, err)
	}
}
