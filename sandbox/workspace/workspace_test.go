//go:build linux

package workspace

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func open(t *testing.T) *Workspace {
	t.Helper()
	w, err := Open(filepath.Join(t.TempDir(), "chats", "one"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func attach(t *testing.T, w *Workspace, path string) string {
	t.Helper()
	name, err := w.Attach(path)
	if err != nil {
		t.Fatal(err)
	}
	return name
}

func TestAttachNames(t *testing.T) {
	d := t.TempDir()
	w := open(t)
	write(t, filepath.Join(w.Work(), "made.csv"), "by a program")
	for _, c := range []struct{ path, want string }{
		{"a/sales.csv", "sales.csv"},
		{"b/sales.csv", "sales (2).csv"},
		{"c/sales.csv", "sales (3).csv"},
		{"a/sales.csv", "sales.csv"}, // the same file again
		{"made.csv", "made (2).csv"},
		{"-rf", "-rf"},
		{"$(touch x).csv", "$(touch x).csv"},
		{"销售 ü 😀.csv", "销售 ü 😀.csv"},
		{".env", ".env"},
		{"e/.env", ".env (2)"},
		{"two\nlines\x1b[31m.csv", "two_lines_[31m.csv"},
		{"report\u202ecsv.exe", "report_csv.exe"},
		{"bad\xff.csv", "bad_.csv"},
		{strings.Repeat("ü", 120) + ".csv", strings.Repeat("ü", 98) + ".csv"},
	} {
		p := filepath.Join(d, c.path)
		if _, err := os.Stat(p); err != nil {
			write(t, p, c.path)
		}
		got := attach(t, w, p)
		if got != c.want {
			t.Errorf("attach %q: name %q, want %q", c.path, got, c.want)
			continue
		}
		// A program opens it by its plain name in its working folder.
		if text := read(t, filepath.Join(w.Work(), got)); text != c.path {
			t.Errorf("attach %q: content %q", c.path, text)
		}
	}
}

func TestAttachRefused(t *testing.T) {
	d := t.TempDir()
	w := open(t)
	if err := syscall.Mkfifo(filepath.Join(d, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	os.Symlink("pipe", filepath.Join(d, "link to pipe"))
	os.Symlink("nowhere", filepath.Join(d, "dangling"))
	write(t, filepath.Join(d, "good"), "x")
	for _, c := range []struct {
		path string
		err  error
		text string
	}{
		{d, ErrKind, "drop the files inside it"},
		{"/dev/null", ErrKind, "device"},
		{filepath.Join(d, "pipe"), ErrKind, "pipe"},
		{filepath.Join(d, "link to pipe"), ErrKind, "pipe"},
		{filepath.Join(d, "dangling"), os.ErrNotExist, "not there"},
		{filepath.Join(d, "missing"), os.ErrNotExist, "not there"},
	} {
		_, err := w.Attach(c.path)
		if !errors.Is(err, c.err) || !strings.Contains(fmt.Sprint(err), c.text) {
			t.Errorf("attach %s: %v", c.path, err)
		}
	}
	attach(t, w, filepath.Join(d, "good")) // the control
	if got := w.Attached(); !cmp.Equal(got, []string{"good"}) {
		t.Errorf("attached: %q", got)
	}
}

func TestAttachUnreadable(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("SKIPPED: root may read every file")
	}
	p := write(t, filepath.Join(t.TempDir(), "x"), "x")
	os.Chmod(p, 0)
	if _, err := open(t).Attach(p); !errors.Is(err, os.ErrPermission) {
		t.Errorf("got %v", err)
	}
}

func TestAttachSymlinkResolved(t *testing.T) {
	d := t.TempDir()
	w := open(t)
	real := write(t, filepath.Join(d, "real.csv"), "data")
	os.Symlink("real.csv", filepath.Join(d, "alias.csv"))
	name := attach(t, w, filepath.Join(d, "alias.csv"))
	got, err := os.Lstat(filepath.Join(w.Files(), name))
	want, _ := os.Stat(real)
	if err != nil || !os.SameFile(got, want) {
		t.Errorf("%s is not the file itself: %v, %v", name, got, err)
	}
}

// TestAttachFromWorkspace: another chat's result is copied, else its programs
// could change it here, and it would have a second name there.
func TestAttachFromWorkspace(t *testing.T) {
	root := t.TempDir()
	a, err := Open(filepath.Join(root, "a"))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b, err := Open(filepath.Join(root, "b"))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	p := write(t, filepath.Join(a.Work(), "result.csv"), "first")
	name := attach(t, b, p)
	f, err := a.Open("result.csv")
	if err != nil {
		t.Fatalf("its own chat cannot open it any more: %v", err)
	}
	f.Close()
	write(t, p, "other")
	if got := read(t, filepath.Join(b.Files(), name)); got != "first" {
		t.Errorf("the copy changed to %q", got)
	}
}

func TestRefresh(t *testing.T) {
	d := t.TempDir()
	w := open(t)
	edited := write(t, filepath.Join(d, "edited.csv"), "1")
	replaced := write(t, filepath.Join(d, "replaced.csv"), "1")
	removed := write(t, filepath.Join(d, "removed.csv"), "1")
	quiet := write(t, filepath.Join(d, "quiet.csv"), "1")
	for _, p := range []string{edited, replaced, removed, quiet} {
		attach(t, w, p)
	}
	refresh := func(want ...Change) {
		t.Helper()
		got, err := w.Refresh()
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
			t.Error(d)
		}
	}
	refresh()
	write(t, edited, "12")
	write(t, replaced+".new", "22")
	os.Rename(replaced+".new", replaced)
	os.Remove(removed)
	os.Remove(filepath.Join(w.Work(), "quiet.csv"))
	refresh(Change{Name: "edited.csv"}, Change{Name: "replaced.csv"}, Change{Name: "removed.csv", Gone: true})
	refresh()
	for name, want := range map[string]string{"edited.csv": "12", "replaced.csv": "22", "removed.csv": "1", "quiet.csv": "1"} {
		if got := read(t, filepath.Join(w.Work(), name)); got != want {
			t.Errorf("%s holds %q, want %q", name, got, want)
		}
	}
	write(t, removed, "back")
	refresh(Change{Name: "removed.csv"})

	again, err := Open(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if got := again.Attached(); len(got) != 4 {
		t.Errorf("after opening it again: %q", got)
	}
	if c, err := again.Refresh(); len(c) != 0 || err != nil {
		t.Errorf("after opening it again: %v, %v", c, err)
	}
}

func TestChanged(t *testing.T) {
	w := open(t)
	attach(t, w, write(t, filepath.Join(t.TempDir(), "original.csv"), "x"))
	write(t, filepath.Join(w.Work(), "old.txt"), "old")
	write(t, filepath.Join(w.Work(), "touched.txt"), "aaa")
	write(t, filepath.Join(w.Work(), "gone.txt"), "aaa")
	before, err := w.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	secret := write(t, filepath.Join(t.TempDir(), "secret"), "TOPSECRET")
	write(t, filepath.Join(w.Work(), "sub", "new.png"), "12345")
	write(t, filepath.Join(w.Work(), "__pycache__", "m.pyc"), "x")
	write(t, filepath.Join(w.Work(), ".cache", "x"), "x")
	os.Remove(filepath.Join(w.Work(), "gone.txt"))
	os.Symlink(secret, filepath.Join(w.Work(), "link.png"))
	os.Symlink(filepath.Dir(secret), filepath.Join(w.Work(), "linked folder"))
	os.Link(secret, filepath.Join(w.Work(), "hard.png"))
	syscall.Mkfifo(filepath.Join(w.Work(), "pipe.png"), 0o644)
	// Same size, and the time set back: only the change time tells.
	p := filepath.Join(w.Work(), "touched.txt")
	st, _ := os.Stat(p)
	time.Sleep(20 * time.Millisecond) // the kernel's clock for files is coarse
	write(t, p, "bbb")
	os.Chtimes(p, st.ModTime(), st.ModTime())

	got, err := w.Changed(before)
	if err != nil {
		t.Fatal(err)
	}
	want := Changes{
		Files:   []File{{Name: "sub/new.png", Size: 5}, {Name: "touched.txt", Size: 3}},
		Removed: []string{"gone.txt"},
		Note:    "1 files with hard links are not listed.",
	}
	if d := cmp.Diff(want, got, cmpopts.IgnoreFields(File{}, "Modified")); d != "" {
		t.Error(d)
	}
}

func TestChangedIsBounded(t *testing.T) {
	w := open(t)
	for i := range maxListed + 5 {
		write(t, filepath.Join(w.Work(), fmt.Sprintf("f%05d", i)), "")
	}
	got, err := w.Changed(Snapshot{})
	if err != nil || len(got.Files) != maxListed || !strings.Contains(got.Note, "1005 files") {
		t.Errorf("%d files, note %q, %v", len(got.Files), got.Note, err)
	}
}

// TestConfusedDeputy: the host has rights that the code lacks, so a name that
// the code made must not lead it elsewhere. Each attempt is first shown to
// work, or to hang, for the careless way.
func TestConfusedDeputy(t *testing.T) {
	w := open(t)
	secret := write(t, filepath.Join(w.dir, "secret"), "TOPSECRET")
	in := func(n string) string { return filepath.Join(w.Work(), n) }
	os.Symlink("../secret", in("relative.png"))
	os.Symlink(secret, in("absolute.png"))
	os.Symlink("..", in("folder"))
	os.Link(secret, in("hard.png"))
	syscall.Mkfifo(in("pipe.png"), 0o644)
	os.Mkdir(in("dir.png"), 0o755)
	write(t, in("plot.png"), "fine")
	os.Symlink("plot.png", in("inside.png"))
	for _, name := range []string{"relative.png", "absolute.png", "folder/secret", "hard.png", "../secret"} {
		if got := read(t, in(name)); got != "TOPSECRET" {
			t.Fatalf("control: %s does not lead to the secret: %q", name, got)
		}
	}
	for _, name := range []string{"relative.png", "absolute.png", "folder/secret", "hard.png", "../secret", secret, "pipe.png", "dir.png", "missing", "", "."} {
		f, err := w.Open(name)
		if err == nil {
			f.Close()
			t.Errorf("Open(%q) succeeded", name)
		}
	}
	for _, name := range []string{"plot.png", "inside.png"} {
		f, err := w.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(f)
		f.Close()
		if string(b) != "fine" {
			t.Errorf("%s holds %q", name, b)
		}
	}
}

func TestClean(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
			rapid.StringN(150, 400, 1000)).Draw(t, "name")
		got := Clean(in)
		if got == "" || got == "." || got == ".." || !utf8.ValidString(got) || len(got) > maxName || strings.ContainsAny(got, "/\x00\n\x1b\u202e") {
			t.Fatalf("Clean(%q) = %q", in, got)
		}
		if Clean(got) != got {
			t.Fatalf("Clean(Clean(%q)) = %q", in, Clean(got))
		}
	})
}
