package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A tree that is gone, or became something else, is an error and no more.
func TestLayerOfATreeThatIsGone(t *testing.T) {
	for name, make := range map[string]func(string) error{
		"removed": func(string) error { return nil },
		"a file":  func(p string) error { return os.WriteFile(p, nil, 0o600) },
		"a link":  func(p string) error { return os.Symlink("/usr", p) },
	} {
		dir := t.TempDir()
		tree := filepath.Join(dir, "tree")
		if err := make(tree); err != nil {
			t.Fatal(err)
		}
		l, err := newLayer(dir, []string{tree})
		if err == nil || l != nil || !strings.Contains(err.Error(), "not there any more") {
			t.Errorf("%s: %v, %v", name, l, err)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, layerPrefix+"*")); len(left) > 0 {
			t.Errorf("%s: left %v", name, left)
		}
	}
}

// What somebody saves after the last look at a file is never lost.
func TestSwapKeepsWhatCameBetween(t *testing.T) {
	stat := func(path string) (st unix.Stat_t) {
		if err := unix.Lstat(path, &st); err != nil && err != unix.ENOENT {
			t.Fatal(err)
		}
		return st
	}
	for _, row := range []struct {
		name      string
		was, then string // in the tree, when looked at and at the renaming; "" for nothing
		want      string
		err       error
	}{
		{"new", "", "", "ours", nil},
		{"unchanged", "old", "old", "ours", nil},
		{"removed", "old", "", "ours", nil},
		{"saved by somebody", "old", "theirs", "theirs", errChanged},
		{"made by somebody", "", "theirs", "theirs", errChanged},
	} {
		dir := t.TempDir()
		at := filepath.Join(dir, "a.txt")
		if row.was != "" {
			write(t, at, row.was)
		}
		f := found{was: stat(at)}
		if row.then != row.was {
			if err := os.Remove(at); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
			if row.then != "" { // as editors do: a new file under the old name
				write(t, at+".new", row.then)
				if err := os.Rename(at+".new", at); err != nil {
					t.Fatal(err)
				}
			}
		}
		write(t, filepath.Join(dir, "copy"), "ours")
		fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		c := commit{layer: &layer{begun: unix.NsecToTimespec(1 << 62)}}
		if err := c.swap(fd, "copy", fd, "a.txt", 0, f); err != row.err {
			t.Errorf("%s: %v, want %v", row.name, err, row.err)
		}
		unix.Close(fd)
		if b, _ := os.ReadFile(at); string(b) != row.want {
			t.Errorf("%s: %q, want %q", row.name, b, row.want)
		}
	}
}

// Links and folders that make others obey something are said to.
func TestLayerSaysWhatRunsLater(t *testing.T) {
	for rel, want := range map[string]bool{
		".hg": true, ".cargo": true, "x/.github": true, "site-packages": true, ".config": true, "fish": true, "data": false, "a.desktop": false,
	} {
		if got := leadsLater(rel) != ""; got != want {
			t.Errorf("a link %s: %v, want %v", rel, got, want)
		}
	}
	dir := t.TempDir()
	s := scan{root: dir}
	for _, name := range []string{"sub/HEAD", "sub/config", "sub/objects", "sub/refs", "other/HEAD", "other/config"} {
		s.found = append(s.found, found{Change: Change{Path: filepath.Join(dir, name), Kind: "created"}})
	}
	s.repositories()
	for _, f := range s.found {
		if got := f.Runs != ""; got != strings.HasPrefix(f.Path, filepath.Join(dir, "sub")) {
			t.Errorf("%s: %q", f.Path, f.Runs)
		}
	}
}

// When a change fails, nothing is deleted, and what could not be written is kept
// with its name.
func TestNothingIsDeletedAfterAFailure(t *testing.T) {
	dir := t.TempDir()
	tree, shot := filepath.Join(dir, "tree"), filepath.Join(dir, layerPrefix+"x")
	write(t, filepath.Join(tree, "orig.bin"), "the only copy")
	fd, err := unix.Open(tree, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	l := &layer{dir: shot, trees: []layerTree{{path: tree, fd: fd}}, shots: 1, begun: unix.NsecToTimespec(1 << 62)}
	write(t, filepath.Join(l.shot(), "0-0"), "moved")
	var was unix.Stat_t
	if err := unix.Lstat(filepath.Join(tree, "orig.bin"), &was); err != nil {
		t.Fatal(err)
	}
	l.found = []found{
		{Change: Change{Path: filepath.Join(tree, "gone/moved.bin"), Kind: "created", New: filepath.Join(l.shot(), "0-0")}, rel: "gone/moved.bin", copy: "0-0", mode: 0o600},
		{Change: Change{Path: filepath.Join(tree, "orig.bin"), Kind: "deleted"}, rel: "orig.bin", was: was},
	}
	var partly *CommitError
	if err := l.carryOut(); !errors.As(err, &partly) || len(partly.Failed) != 2 || partly.Kept == "" {
		t.Fatalf("%v", err)
	}
	if b, _ := os.ReadFile(filepath.Join(tree, "orig.bin")); string(b) != "the only copy" {
		t.Errorf("the original: %q", b)
	}
	names, _ := os.ReadFile(filepath.Join(partly.Kept, keptNames))
	if want := fmt.Sprintf("0-0 %q\n", filepath.Join(tree, "gone/moved.bin")); string(names) != want {
		t.Errorf("names %q, want %q", names, want)
	}
}

// What makes way for something new comes back, in the end, when that fails: it is
// kept with its name. A folder that took the place of a tree is not written to.
func TestWhatMadeWayIsKept(t *testing.T) {
	dir := t.TempDir()
	tree, shot := filepath.Join(dir, "tree"), filepath.Join(dir, layerPrefix+"x")
	write(t, filepath.Join(tree, "data"), "the only copy")
	fd, err := unix.Open(tree, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	l := &layer{dir: shot, trees: []layerTree{{path: tree, fd: fd}}, shots: 1, begun: unix.NsecToTimespec(1 << 62)}
	if err := os.MkdirAll(l.shot(), 0o700); err != nil {
		t.Fatal(err)
	}
	var was unix.Stat_t
	if err := unix.Lstat(filepath.Join(tree, "data"), &was); err != nil {
		t.Fatal(err)
	}
	l.found = []found{
		{Change: Change{Path: filepath.Join(tree, "data"), Kind: "deleted"}, rel: "data", was: was, now: true},
		{Change: Change{Path: filepath.Join(tree, "data/in"), Kind: "created", New: filepath.Join(l.shot(), "0-1")}, rel: "data/in", copy: "0-1", mode: 0o600},
	}
	var partly *CommitError
	if err := l.carryOut(); !errors.As(err, &partly) || partly.Kept == "" {
		t.Fatalf("%v", err)
	}
	kept, _ := filepath.Glob(filepath.Join(partly.Kept, copyPrefix+"*"))
	if len(kept) != 1 {
		t.Fatalf("kept %v", kept)
	}
	if b, _ := os.ReadFile(kept[0]); string(b) != "the only copy" {
		t.Errorf("kept %q", b)
	}
	p := &layered{trees: []string{tree}}
	st, err := os.Lstat(tree)
	if err != nil {
		t.Fatal(err)
	}
	p.born = []os.FileInfo{st}
	if err := p.moved(); err != nil {
		t.Error(err)
	}
	if err := errors.Join(os.Rename(tree, tree+"2"), os.Mkdir(tree, 0o700)); err != nil {
		t.Fatal(err)
	}
	if err := p.moved(); err == nil {
		t.Error("another folder passes for the tree")
	}
}
