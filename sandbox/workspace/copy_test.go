//go:build linux

package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// elsewhere is a folder on another file system, where no hard link can lead.
func elsewhere(t *testing.T) string {
	t.Helper()
	d, err := os.MkdirTemp("/dev/shm", "atoll-test-")
	if err != nil {
		t.Skip("SKIPPED: there is no second file system: ", err)
	}
	t.Cleanup(func() { os.RemoveAll(d) })
	a, err1 := os.Stat(d)
	b, err2 := os.Stat(t.TempDir())
	if err1 != nil || err2 != nil || stampOf(a).Device == stampOf(b).Device {
		t.Skip("SKIPPED: /dev/shm is the same file system")
	}
	return d
}

func TestAttachCopies(t *testing.T) {
	w := open(t)
	p := write(t, filepath.Join(elsewhere(t), "data.csv"), "1")
	name := attach(t, w, p)
	copied := filepath.Join(w.Files(), name)
	if st, err := os.Stat(copied); err != nil || st.Mode().Perm() != 0o400 || read(t, copied) != "1" {
		t.Fatalf("copy: %v, %v", st, err)
	}
	if c, err := w.Refresh(); len(c) != 0 || err != nil {
		t.Errorf("nothing changed: %v, %v", c, err)
	}
	write(t, p, "12")
	c, err := w.Refresh()
	if err != nil || !cmp.Equal(c, []Change{{Name: name}}) || read(t, copied) != "12" {
		t.Errorf("changed: %v, %v, %q", c, err, read(t, copied))
	}
	f, err := w.OpenOriginal(name)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
}

func TestAttachNoSpace(t *testing.T) {
	w := open(t)
	p := write(t, filepath.Join(elsewhere(t), "huge.bin"), "")
	if err := os.Truncate(p, 1<<50); err != nil { // it takes no space itself
		t.Skip("SKIPPED: no file of that size can be made: ", err)
	}
	if _, err := w.Attach(p); !errors.Is(err, ErrSpace) {
		t.Fatalf("got %v", err)
	}
	if ents, _ := os.ReadDir(w.Files()); len(ents) != 0 || len(w.Attached()) != 0 {
		t.Errorf("left behind: %v, %v", ents, w.Attached())
	}
}
