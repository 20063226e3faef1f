package catalog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
)

// A Shelf is the models folder: the files of the catalog and whatever else
// somebody put there.
type Shelf struct {
	dir     string
	catalog *Catalog
}

// NewShelf returns the shelf that dir is. The folder need not exist yet.
func NewShelf(dir string, c *Catalog) *Shelf { return &Shelf{dir: dir, catalog: c} }

// Dir returns the folder.
func (s *Shelf) Dir() string { return s.dir }

// An Item is one model file on the shelf.
type Item struct {
	Name     string // of the catalog entry; else the path below the folder without .gguf
	Path     string
	Bytes    int64
	Entry    *Entry // nil for a file that the catalog does not know
	SHA256   string // as found by [Fetch] or [Shelf.Verify]; "" when it was not hashed, or changed since
	Verified bool   // SHA256 is that of the catalog
	Problem  string // a sentence why the file cannot be used; "" when it can
}

// depth is how far below the folder models are looked for: publisher,
// repository, file.
const depth = 3

// List returns the model files, sorted by name. Files with a problem are in it;
// one bad file does not hide the others. A missing folder is an empty shelf.
func (s *Shelf) List() ([]Item, error) {
	var items []Item
	err := filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case path == s.dir && errors.Is(err, fs.ErrNotExist):
			return fs.SkipAll
		case path == s.dir && err != nil:
			return err
		case err != nil:
			return nil // an unreadable folder is somebody else's; its models are just not there
		}
		rel, err := filepath.Rel(s.dir, path)
		if err != nil {
			return err
		}
		hidden := strings.HasPrefix(d.Name(), ".") && path != s.dir
		if d.IsDir() {
			if hidden || strings.Count(rel, string(filepath.Separator)) >= depth-1 {
				return fs.SkipDir
			}
			return nil
		}
		if hidden || !strings.EqualFold(filepath.Ext(d.Name()), ".gguf") || laterPart(d.Name()) {
			return nil
		}
		items = append(items, s.item(path, rel))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list the models folder: %w", err)
	}
	sort.Slice(items, func(i, j int) bool { return items[i].Name < items[j].Name })
	return items, nil
}

// Find returns the model called name, which may have a problem, or an error
// that matches [ErrUnknown] and says what there is or how to get it.
func (s *Shelf) Find(name string) (Item, error) {
	items, err := s.List()
	if err != nil {
		return Item{}, err
	}
	names := make([]string, 0, len(items))
	for _, it := range items {
		if it.Name == name {
			return it, nil
		}
		names = append(names, it.Name)
	}
	if _, err := s.catalog.Find(name); err == nil {
		return Item{}, fmt.Errorf("%w on this machine: %s was not fetched yet", ErrUnknown, name)
	}
	if len(names) == 0 {
		return Item{}, fmt.Errorf("%w: %q; the models folder %s is empty", ErrUnknown, name, s.dir)
	}
	return Item{}, fmt.Errorf("%w: %q; the models folder has %s", ErrUnknown, name, strings.Join(names, ", "))
}

// Fetched returns how many bytes of e an interrupted [Fetch] left behind.
func (s *Shelf) Fetched(e Entry) int64 {
	st, err := os.Stat(partPath(s.dir, &e))
	if err != nil {
		return 0
	}
	return st.Size()
}

// Verify hashes the file called name, remembers the hash for the next start
// and returns the item with it. progress may be nil. The error matches
// [ErrWrongBytes] when the catalog says another hash, and [ErrIncomplete] when
// the file has a problem already.
func (s *Shelf) Verify(ctx context.Context, name string, progress func(done, total int64)) (Item, error) {
	it, err := s.Find(name)
	if err != nil {
		return it, err
	}
	if it.Problem != "" {
		return it, fmt.Errorf("%w: %s: %s", ErrIncomplete, it.Path, it.Problem)
	}
	it.SHA256, err = hashFile(ctx, it.Path, func(done int64) {
		if progress != nil {
			progress(done, it.Bytes)
		}
	})
	if err != nil {
		return it, fmt.Errorf("verify %s: %w", it.Name, err)
	}
	if it.Entry != nil && it.SHA256 != it.Entry.SHA256 {
		return it, &WrongBytes{What: it.Path, Got: it.SHA256, Want: it.Entry.SHA256, Action: "delete or rename it, then fetch the model again"}
	}
	it.Verified = it.Entry != nil
	return it, writeRecord(it.Path, it.SHA256)
}

func (s *Shelf) item(path, rel string) Item {
	rel = filepath.ToSlash(rel)
	it := Item{Name: rel[:len(rel)-len(".gguf")], Path: path}
	if e, ok := s.catalog.byFile(filepath.Base(path)); ok && !strings.Contains(rel, "/") {
		it.Name, it.Entry = e.Name, &e
	} else if _, err := s.catalog.Find(it.Name); err == nil {
		it.Name = rel // a file of its own may not pass for one of the catalog
	}
	st, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		it.Problem = "the link leads to a file that is not there; is its disk plugged in?"
		return it
	case err != nil:
		it.Problem = "it cannot be read: " + reason(err)
		return it
	case !st.Mode().IsRegular():
		it.Problem = "it is not a file"
		return it
	}
	it.Bytes = st.Size()
	it.SHA256 = recorded(path)
	if it.Entry != nil && it.SHA256 == it.Entry.SHA256 {
		it.Verified = true
		return it
	}
	it.Problem = problem(&it)
	return it
}

// problem looks at size and header, not at all of the bytes.
func problem(it *Item) string {
	switch {
	case it.Bytes == 0:
		return "it is empty"
	case it.Entry != nil && it.Bytes < it.Entry.Bytes:
		return incomplete(it.Bytes, uint64(it.Entry.Bytes))
	case it.Entry != nil && it.Bytes > it.Entry.Bytes:
		return fmt.Sprintf("it has %d bytes, the file of the catalog %d: it is another file by that name", it.Bytes, it.Entry.Bytes)
	}
	least, err := leastSize(it.Path)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "it is incomplete: it ends within its header; copy or fetch it again"
	case errors.Is(err, errHeader):
		return "it is not a model file, or it is damaged: " + err.Error()
	case err != nil:
		return "it cannot be read: " + reason(err)
	case uint64(it.Bytes) < least:
		return incomplete(it.Bytes, least)
	}
	return missingPart(it.Path)
}

func incomplete(have int64, want uint64) string {
	return fmt.Sprintf("it is incomplete (%d %%): %d of %d bytes; copy or fetch it again", uint64(have)*100/want, have, want)
}

// reason strips the path, which the item has already.
func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// Large models come in several files, of which the first one is opened.
var splitRE = regexp.MustCompile(`(?i)^(.*)-(\d{5})-of-(\d{5})\.gguf$`)

func laterPart(name string) bool {
	m := splitRE.FindStringSubmatch(name)
	return m != nil && m[2] != "00001"
}

func missingPart(path string) string {
	m := splitRE.FindStringSubmatch(filepath.Base(path))
	if m == nil {
		return ""
	}
	var count int
	fmt.Sscanf(m[3], "%d", &count)
	for i := 2; i <= count; i++ {
		name := fmt.Sprintf("%s-%05d-of-%s.gguf", m[1], i, m[3])
		if _, err := os.Stat(filepath.Join(filepath.Dir(path), name)); err != nil {
			return fmt.Sprintf("file %d of %d is missing: %s", i, count, name)
		}
	}
	return ""
}
