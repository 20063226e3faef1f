package blob

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"pgregory.net/rapid"
)

func openTest(t testing.TB) (*Store, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "blobs")
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, dir
}

func put(t testing.TB, s *Store, content string) string {
	t.Helper()
	hash, size, err := s.Put(strings.NewReader(content), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256([]byte(content)); hash != hex.EncodeToString(sum[:]) || size != int64(len(content)) {
		t.Fatalf("put %q: hash %s, %d bytes", content, hash, size)
	}
	return hash
}

func get(t testing.TB, s *Store, hash string) string {
	t.Helper()
	f, err := s.Open(hash)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// files returns the regular files below dir, by path from it.
func files(t testing.TB, dir string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			rel, relErr := filepath.Rel(dir, path)
			all, err = append(all, filepath.ToSlash(rel)), relErr
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestPutAndOpen(t *testing.T) {
	s, dir := openTest(t)
	for _, content := range []string{"", "a", strings.Repeat("long ", 50_000)} {
		hash := put(t, s, content)
		if again := put(t, s, content); again != hash {
			t.Errorf("another hash: %s", again)
		}
		if got := get(t, s, hash); got != content {
			t.Errorf("%d of %d bytes", len(got), len(content))
		}
		if err := s.Verify(hash); err != nil {
			t.Error(err)
		}
		if want := hash[:2] + "/" + hash[2:4] + "/" + hash; !strings.Contains(strings.Join(files(t, dir), "\n"), want) {
			t.Errorf("no file %s in %v", want, files(t, dir))
		}
	}
	if n := len(files(t, dir)); n != 3 {
		t.Errorf("%d files", n)
	}
	missing := strings.Repeat("0", 64)
	if _, err := s.Open(missing); !errors.Is(err, ErrNotFound) {
		t.Errorf("missing: %v", err)
	}
	if err := s.Remove(missing); err != nil {
		t.Errorf("remove what is not there: %v", err)
	}
	hash := put(t, s, "a")
	if err := s.Remove(hash); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Open(hash); !errors.Is(err, ErrNotFound) {
		t.Errorf("removed: %v", err)
	}
}

func TestPutLeavesNothingBehind(t *testing.T) {
	s, dir := openTest(t)
	mine := errors.New("mine")
	for name, row := range map[string]struct {
		r     io.Reader
		limit int64
		want  error
	}{
		"too large":    {strings.NewReader("12345"), 4, ErrTooLarge},
		"reader fails": {io.MultiReader(strings.NewReader("123"), iotest.ErrReader(mine)), 100, mine},
	} {
		if hash, _, err := s.Put(row.r, row.limit); !errors.Is(err, row.want) || hash != "" {
			t.Errorf("%s: %q, %v", name, hash, err)
		}
		if left := files(t, dir); left != nil {
			t.Errorf("%s: left %v", name, left)
		}
	}
	for _, limit := range []int64{4, math.MaxInt64} { // the controls
		if _, n, err := s.Put(strings.NewReader("1234"), limit); n != 4 || err != nil {
			t.Errorf("limit %d: %d bytes, %v", limit, n, err)
		}
	}
}

func TestHashesAreStrict(t *testing.T) {
	s, _ := openTest(t)
	good := put(t, s, "x")
	for _, bad := range []string{"", "x", good[:63], good + "0", strings.ToUpper(good), "../" + good[3:],
		good[:2] + "/" + good[3:], strings.Repeat(".", 64), good[:63] + "\x00", good[:63] + "g", "\uff10" + good[3:]} {
		if Valid(bad) {
			t.Errorf("%q is valid", bad)
		}
		_, openErr := s.Open(bad)
		for _, err := range []error{openErr, s.Verify(bad), s.Remove(bad)} {
			if !errors.Is(err, ErrHash) {
				t.Errorf("%q: %v", bad, err)
			}
		}
	}
	if !Valid(good) || get(t, s, good) != "x" { // the control
		t.Error("a good hash is refused")
	}
}

// A link in place of content or of a folder is neither followed nor written
// through.
func TestLinksAreNotFollowed(t *testing.T) {
	s, dir := openTest(t)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	hash := put(t, s, "content")
	name := filepath.Join(dir, hash[:2], hash[2:4], hash)
	outside := t.TempDir()
	inside := filepath.Join(dir, "elsewhere")
	if err := os.Mkdir(inside, 0o700); err != nil {
		t.Fatal(err)
	}
	relink := func(path, target string) {
		t.Helper()
		if err := errors.Join(os.RemoveAll(path), os.Symlink(target, path)); err != nil {
			t.Skipf("SKIPPED, links are unproved: %v", err)
		}
	}
	relink(name, secret)
	if f, err := s.Open(hash); !errors.Is(err, ErrDamaged) {
		t.Errorf("file link: %v, %v", f, err)
	}
	put(t, s, "content") // replaces the link
	if got := get(t, s, hash); got != "content" {
		t.Errorf("after another put: %q", got)
	}
	for _, target := range []string{outside, inside} {
		for _, folder := range []string{filepath.Dir(name), filepath.Dir(filepath.Dir(name))} {
			relink(folder, target)
			if _, err := s.Open(hash); err == nil {
				t.Errorf("%s -> %s: opened", folder, target)
			}
			if _, _, err := s.Put(strings.NewReader("content"), 100); err == nil {
				t.Errorf("%s -> %s: written", folder, target)
			}
			if got := append(files(t, outside), files(t, inside)...); got != nil {
				t.Errorf("%s -> %s: wrote %v", folder, target, got)
			}
			if err := os.Remove(folder); err != nil {
				t.Fatal(err)
			}
			put(t, s, "content")
		}
	}
	if b, err := os.ReadFile(secret); err != nil || string(b) != "secret" {
		t.Errorf("the target of the link: %q, %v", b, err)
	}
}

func TestVerifyNoticesDamage(t *testing.T) {
	s, dir := openTest(t)
	hash := put(t, s, "content")
	name := filepath.Join(dir, hash[:2], hash[2:4], hash)
	for _, bad := range []string{"", "contenT", "content more"} {
		if err := os.WriteFile(name, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := s.Verify(hash); !errors.Is(err, ErrDamaged) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	put(t, s, "content") // repairs it
	if err := s.Verify(hash); err != nil {
		t.Error(err)
	}
}

func TestGC(t *testing.T) {
	s, dir := openTest(t)
	used, young, old := put(t, s, "used"), put(t, s, "young"), put(t, s, "older")
	now := time.Now()
	left := filepath.Join(dir, tmpDir, "left")
	foreign := filepath.Join(dir, "README")
	for _, path := range []string{left, foreign} {
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{left, foreign, filepath.Join(dir, used[:2], used[2:4], used), filepath.Join(dir, old[:2], old[2:4], old)} {
		if err := os.Chtimes(path, now, now.Add(-2*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	keep := map[string]bool{used: true}
	swept, err := s.GC(keep, now.Add(-time.Hour))
	if err != nil || swept != (Swept{Files: 2, Bytes: 6}) {
		t.Errorf("swept %+v, %v", swept, err)
	}
	if get(t, s, used) != "used" || get(t, s, young) != "young" {
		t.Error("something else is gone")
	}
	if _, err := s.Open(old); !errors.Is(err, ErrNotFound) {
		t.Errorf("unused: %v", err)
	}
	if _, err := os.Stat(foreign); err != nil {
		t.Error(err)
	}
	// Putting content again makes it new.
	path := filepath.Join(dir, young[:2], young[2:4], young)
	if err := os.Chtimes(path, now, now.Add(-2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	put(t, s, "young")
	if swept, err := s.GC(keep, now.Add(-time.Hour)); err != nil || swept.Files != 0 {
		t.Errorf("swept %+v, %v", swept, err)
	}
}

func TestPutAtTheSameTime(t *testing.T) {
	s, dir := openTest(t)
	var group sync.WaitGroup
	for i := range 40 {
		group.Go(func() {
			content := fmt.Sprint(i % 4)
			hash, _, err := s.Put(strings.NewReader(content), 10)
			if err == nil {
				err = s.Verify(hash)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if n := len(files(t, dir)); n != 4 {
		t.Errorf("%d files", n)
	}
}

// A kill at any point leaves whole content or none under a hash: at each point
// the test looks at what is on disk.
func TestKillPoints(t *testing.T) {
	for _, point := range []string{"written", "renamed"} {
		s, dir := openTest(t)
		seen := map[string][]byte{}
		s.fault = func(here string) {
			if here != point {
				return
			}
			for _, name := range files(t, dir) { // what a kill would leave now
				b, err := os.ReadFile(filepath.Join(dir, name))
				if err != nil {
					t.Error(err)
				}
				seen[name] = b
			}
		}
		hash := put(t, s, "content")
		whole := hash[:2] + "/" + hash[2:4] + "/" + hash
		if len(seen) != 1 {
			t.Fatalf("%s: %v", point, seen)
		}
		for name, b := range seen {
			if (name == whole) != (point == "renamed") || point == "written" && !strings.HasPrefix(name, tmpDir+"/") {
				t.Errorf("%s: file %s", point, name)
			}
			if !bytes.Equal(b, []byte("content")) {
				t.Errorf("%s: %q", point, b)
			}
		}
	}
}

func TestAnyContent(t *testing.T) {
	s, _ := openTest(t)
	rapid.Check(t, func(t *rapid.T) {
		content := rapid.SliceOf(rapid.Byte()).Draw(t, "content")
		limit := rapid.Int64Range(0, 40).Draw(t, "limit")
		hash, size, err := s.Put(iotest.HalfReader(bytes.NewReader(content)), limit)
		if int64(len(content)) > limit {
			if !errors.Is(err, ErrTooLarge) {
				t.Fatalf("%d bytes, limit %d: %v", len(content), limit, err)
			}
			return
		}
		if err != nil || size != int64(len(content)) {
			t.Fatalf("%d bytes of %d: %v", size, len(content), err)
		}
		f, err := s.Open(hash)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if got, err := io.ReadAll(f); err != nil || !bytes.Equal(got, content) {
			t.Fatalf("%q, %v", got, err)
		}
	})
}
