package catalog

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// shelfOf returns a shelf in a new folder, with a catalog of one entry, "m".
func shelfOf(t *testing.T, data []byte) (*Shelf, Entry) {
	t.Helper()
	e := entryOf("m", data, 1)
	return NewShelf(t.TempDir(), &Catalog{def: "m", entries: []Entry{e}}), e
}

func TestList(t *testing.T) {
	data, good := pseudo(1, 1000), tiny()
	s, _ := shelfOf(t, data)
	put(t, s.Dir(), "m.gguf", data[:600])
	put(t, s.Dir(), "модель 模型.gguf", good)
	put(t, s.Dir(), "publisher/repo/nice.GGUF", good)
	put(t, s.Dir(), "a/b/c/too-deep.gguf", good)
	put(t, s.Dir(), "zero.gguf", nil)
	put(t, s.Dir(), "random.gguf", pseudo(4, 5000)[4:])
	put(t, s.Dir(), "cut.gguf", good[:len(good)*90/100])
	put(t, s.Dir(), "header.gguf", good[:100])
	put(t, s.Dir(), "big-00001-of-00003.gguf", good)
	put(t, s.Dir(), "big-00003-of-00003.gguf", good)
	put(t, s.Dir(), ".hidden.gguf", good)
	put(t, s.Dir(), "m.gguf.part", good)
	put(t, s.Dir(), "readme.txt", nil)
	if err := os.Symlink(filepath.Join(s.Dir(), "nowhere"), filepath.Join(s.Dir(), "link.gguf")); err != nil {
		t.Log("SKIPPED: links are not allowed here:", err)
	}
	items, err := s.List()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, it := range items {
		got[it.Name] = it.Problem
	}
	want := map[string]string{
		"m":                   "it is incomplete (60 %): 600 of 1000 bytes",
		"модель 模型":           "",
		"publisher/repo/nice": "",
		"zero":                "it is empty",
		"random":              "it is not a model file",
		"cut":                 "it is incomplete (8", // 90 % of the bytes, rounded up by the header's padding
		"header":              "it ends within its header",
		"big-00001-of-00003":  "file 2 of 3 is missing: big-00002-of-00003.gguf",
		"link":                "the link leads to a file that is not there",
	}
	for name, part := range want {
		problem, there := got[name]
		if name == "cut" && there {
			part = "it is incomplete ("
		}
		if !there || part == "" && problem != "" || !strings.Contains(problem, part) {
			t.Errorf("%s: listed %v with the problem %q, want %q", name, there, problem, part)
		}
		delete(got, name)
	}
	if len(got) > 0 {
		t.Errorf("unexpected: %v", got)
	}
}

func TestListWithoutFolder(t *testing.T) {
	s := NewShelf(filepath.Join(t.TempDir(), "none"), &Catalog{})
	if items, err := s.List(); err != nil || len(items) != 0 {
		t.Errorf("got %v, %v; want an empty shelf", items, err)
	}
}

func TestFind(t *testing.T) {
	data := pseudo(1, 1000)
	s, _ := shelfOf(t, data)
	if _, err := s.Find("m"); !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "m was not fetched yet") {
		t.Errorf("known but absent: error %v", err)
	}
	if _, err := s.Find("x"); !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "is empty") {
		t.Errorf("empty shelf: error %v", err)
	}
	// A file of somebody's own cannot pass for the catalog's.
	put(t, s.Dir(), "sub/m.gguf", tiny())
	put(t, s.Dir(), "other.gguf", tiny())
	if _, err := s.Find("m"); !errors.Is(err, ErrUnknown) {
		t.Errorf("a file in a subfolder passes for the catalog's: %v", err)
	}
	it, err := s.Find("other")
	if err != nil || it.Entry != nil || it.Verified || it.Bytes != int64(len(tiny())) {
		t.Errorf("foreign file: %+v, %v", it, err)
	}
}

func TestVerify(t *testing.T) {
	data := tiny()
	s, e := shelfOf(t, data)
	path := put(t, s.Dir(), "m.gguf", data)
	put(t, s.Dir(), "own.gguf", data)
	put(t, s.Dir(), "empty.gguf", nil)
	if it, err := s.Find("m"); err != nil || it.Verified || it.SHA256 != "" {
		t.Errorf("before: %+v, %v", it, err)
	}
	var told int64
	it, err := s.Verify(t.Context(), "m", func(done, total int64) { told = done })
	if err != nil || !it.Verified || told != e.Bytes {
		t.Fatalf("verify: %+v, %v, told %d", it, err, told)
	}
	if it, err = s.Find("m"); err != nil || !it.Verified {
		t.Errorf("the next look forgot it: %+v, %v", it, err)
	}
	if it, err = s.Verify(t.Context(), "own", nil); err != nil || it.Verified || it.SHA256 != e.SHA256 {
		t.Errorf("foreign file: %+v, %v", it, err)
	}
	if _, err = s.Verify(t.Context(), "empty", nil); !errors.Is(err, ErrIncomplete) {
		t.Errorf("empty file: error %v", err)
	}
	data[len(data)-1] ^= 1
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	later := time.Now().Add(time.Second)
	if err := os.Chtimes(path, later, later); err != nil {
		t.Fatal(err)
	}
	if _, err = s.Verify(t.Context(), "m", nil); !errors.Is(err, ErrWrongBytes) {
		t.Errorf("changed file: error %v", err)
	}
	if it, err = s.Find("m"); err != nil || it.Verified {
		t.Errorf("a changed file counts as verified: %+v, %v", it, err)
	}
}

func TestWatch(t *testing.T) {
	s, _ := shelfOf(t, pseudo(1, 1000))
	ctx, cancel := context.WithCancel(t.Context())
	changed, ended := make(chan []string, 100), make(chan error, 1)
	go func() {
		ended <- s.Watch(ctx, func() {
			items, _ := s.List()
			var names []string
			for _, it := range items {
				names = append(names, it.Name)
			}
			changed <- names
		})
	}()
	// The watch has begun when something is told; until then nudge it.
	nudge := time.NewTicker(50 * time.Millisecond)
	defer nudge.Stop()
	put(t, s.Dir(), "first.gguf", tiny())
	for started := false; !started; {
		select {
		case <-changed:
			started = true
		case <-nudge.C:
			select {
			case <-changed:
				started = true
			case <-time.After(2 * quiet):
				put(t, s.Dir(), "first.gguf", tiny())
			}
		}
	}
	wait := func(want ...string) {
		t.Helper()
		for got := range changed {
			if cmp.Equal(want, got) {
				return
			}
		}
	}
	put(t, s.Dir(), "pub/repo/second.gguf", tiny()) // in folders that are new, too
	wait("first", "pub/repo/second")
	put(t, s.Dir(), "pub/repo/third.gguf", tiny())
	wait("first", "pub/repo/second", "pub/repo/third")
	if err := os.Remove(filepath.Join(s.Dir(), "first.gguf")); err != nil {
		t.Fatal(err)
	}
	wait("pub/repo/second", "pub/repo/third")
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
