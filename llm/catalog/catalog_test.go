package catalog

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestBuiltIn(t *testing.T) {
	c, err := Load("")
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Default().Name; got != "qwen2.5-coder-1.5b" {
		t.Errorf("default is %q", got)
	}
	for _, e := range c.Entries() {
		var pieces, http int
		for _, s := range e.Sources {
			switch s.Kind {
			case Pieces:
				pieces++
				if !s.Verified {
					t.Errorf("%s: the pieces are not verified", e.Name)
				}
			case HTTP:
				http++
				if !strings.HasPrefix(s.Base, "https://") || strings.Contains(s.Path, "/main/") {
					t.Errorf("%s: %s%s is not encrypted or not pinned to a commit", e.Name, s.Base, s.Path)
				}
			}
		}
		if pieces == 0 || http < 2 {
			t.Errorf("%s has %d package and %d web sources; the same bytes should have several homes", e.Name, pieces, http)
		}
		if e.License != "Apache-2.0" {
			t.Errorf("%s has the licence %s, which nobody looked at", e.Name, e.License)
		}
	}
	if _, err := c.Find("nope"); !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "smollm2-135m") {
		t.Errorf("error %v, want one that lists the names", err)
	}
}

func TestExtraList(t *testing.T) {
	e := entryOf("own", pseudo(1, 100), 2)
	e.Sources = []Source{{Kind: HTTP, Name: "site", Base: "https://models.example", Path: "own.gguf"}}
	path := filepath.Join(t.TempDir(), "models.json")
	write := func(l list) {
		t.Helper()
		b, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(list{Format: format, Default: "own", Entries: []Entry{e}})
	c, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if c.Default().Name != "own" || len(c.Entries()) < 2 {
		t.Errorf("default %q of %d entries", c.Default().Name, len(c.Entries()))
	}

	bad := map[string]func(l *list){
		"format 2":            func(l *list) { l.Format = 2 },
		"occurs twice":        func(l *list) { l.Entries = append(l.Entries, e) },
		"the default":         func(l *list) { l.Default = "gone" },
		"plain name":          func(l *list) { l.Entries[0].File = "../own.gguf" },
		"name must be":        func(l *list) { l.Entries[0].Name = "-rf" },
		"64 lower-case":       func(l *list) { l.Entries[0].SHA256 = "abc" },
		"its parts have":      func(l *list) { l.Entries[0].Bytes++ },
		"no source":           func(l *list) { l.Entries[0].Sources = nil },
		"http or https":       func(l *list) { l.Entries[0].Sources[0].Base = "file:///etc" },
		"plain relative path": func(l *list) { l.Entries[0].Sources[0].Path = "../own.gguf" },
		`kind "torrent"`:      func(l *list) { l.Entries[0].Sources[0].Kind = "torrent" },
		"1 packages for 2":    func(l *list) { l.Entries[0].Sources[0] = Source{Kind: Pieces, Name: "p", Packages: make([]Package, 1)} },
		"package 1 needs": func(l *list) {
			l.Entries[0].Sources[0] = Source{Kind: Pieces, Name: "p", Packages: []Package{{Name: "--index-url=x", Version: "1", SHA256: e.SHA256, Bytes: 1}, {}}}
		},
		"must be above zero":    func(l *list) { l.Entries[0].Context = 0 },
		"license is missing":    func(l *list) { l.Entries[0].License = "" },
		"part 1 needs":          func(l *list) { l.Entries[0].Parts[0].SHA256 = "" },
		"(\"qwen2.5-coder-0.5b": func(l *list) { l.Entries[0].Name = "qwen2.5-coder-0.5b"; l.Entries[0].License = "" },
	}
	for text, spoil := range bad {
		l := list{Format: format, Entries: []Entry{e}}
		l.Entries[0].Parts = append([]Part(nil), e.Parts...)
		l.Entries[0].Sources = append([]Source(nil), e.Sources...)
		spoil(&l)
		write(l)
		if _, err := Load(path); !errors.Is(err, ErrCatalog) || !strings.Contains(err.Error(), text) {
			t.Errorf("error %v, want one with %q", err, text)
		}
	}
	if err := os.WriteFile(path, []byte(`{"format":1,"entries":[],"surprise":1}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); !errors.Is(err, ErrCatalog) {
		t.Errorf("unknown field: error %v", err)
	}
	if _, err := Load(path + ".gone"); !errors.Is(err, ErrCatalog) || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: error %v", err)
	}
}

// In whatever pieces the bytes arrive, with however many restarts and wrong
// bytes between them, what is finished is the file.
func TestPartFileModel(t *testing.T) {
	root := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		data := pseudo(1, rapid.IntRange(8, 5000).Draw(t, "size"))
		e := entryOf("m", data, rapid.IntRange(1, 7).Draw(t, "parts"))
		dir, err := os.MkdirTemp(root, "")
		if err != nil {
			t.Fatal(err)
		}
		open := func() *partFile {
			p, err := openPart(dir, &e, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.from(origin{Source: "s", ETag: `"1"`}); err != nil {
				t.Fatal(err)
			}
			return p
		}
		p := open()
		for !p.complete() {
			left := data[p.offset:]
			n := rapid.IntRange((len(left)+7)/8, len(left)).Draw(t, "n")
			switch rapid.SampledFrom([]string{"write", "write", "write", "restart", "wrong", "other source"}).Draw(t, "what") {
			case "write":
				if _, err := p.Write(left[:n]); err != nil && !errors.Is(err, ErrWrongBytes) {
					t.Fatal(err)
				}
			case "wrong":
				b := append([]byte(nil), left[:n]...)
				b[len(b)-1] ^= 0x20
				if _, err := p.Write(b); err != nil && !errors.Is(err, ErrWrongBytes) {
					t.Fatal(err)
				}
			case "restart":
				if err := p.close(); err != nil {
					t.Fatal(err)
				}
				p = open()
			case "other source":
				if err := p.from(origin{Source: rapid.SampledFrom([]string{"s", "t"}).Draw(t, "source"), ETag: `"2"`}); err != nil {
					t.Fatal(err)
				}
				if p.offset != p.verified && p.origin.ETag != `"2"` {
					t.Fatalf("the tail of another source was kept")
				}
			}
		}
		if err := p.finish(); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(dir, e.File))
		if err != nil || sum(got) != e.SHA256 {
			t.Fatalf("finished with other bytes (%v)", err)
		}
	})
}
