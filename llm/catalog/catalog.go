// Package catalog knows the models that Atoll offers, fetches their files
// resumably and verified from several places, and tells which files are in the
// models folder.
//
// Nothing here connects to anything by itself: only [Fetch] does, when called,
// and only to the sources of the entry that it was given.
package catalog

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// What can go wrong, for errors.Is. The wrapping error names the file, the
// part or the source, and says what to do.
var (
	ErrUnknown    = errors.New("no such model")
	ErrCatalog    = errors.New("model list cannot be used")
	ErrWrongBytes = errors.New("bytes differ from those of the catalog")
	ErrNoSpace    = errors.New("not enough free disk space")
	ErrNoSource   = errors.New("no source could deliver the model")
	ErrBusy       = errors.New("the model is being fetched by another process")
	ErrIncomplete = errors.New("model file cannot be used")
)

//go:embed catalog.json
var builtin []byte

// format is the number in front of the JSON form; another one is refused.
const format = 1

// A Catalog is a list of models that can be fetched and verified.
type Catalog struct {
	def     string
	entries []Entry
}

// list is the JSON form of a Catalog.
type list struct {
	Format  int     `json:"format"`
	Default string  `json:"default,omitempty"`
	Entries []Entry `json:"entries"`
}

// Load returns the built-in catalog and, when extra is not empty, the entries
// of that JSON file behind it: a site without a network can so offer models of
// its own. A name or file that occurs twice is refused. Errors match
// [ErrCatalog].
func Load(extra string) (*Catalog, error) {
	l, err := decode(strings.NewReader(string(builtin)))
	if err != nil {
		return nil, fmt.Errorf("read the built-in model list: %w", err)
	}
	if extra != "" {
		f, err := os.Open(extra)
		if err != nil {
			return nil, fmt.Errorf("open the model list: %w: %w", ErrCatalog, err)
		}
		defer f.Close()
		more, err := decode(f)
		if err != nil {
			return nil, fmt.Errorf("read the model list %s: %w", extra, err)
		}
		l.Entries = append(l.Entries, more.Entries...)
		if more.Default != "" {
			l.Default = more.Default
		}
	}
	return newCatalog(l)
}

func decode(r io.Reader) (list, error) {
	const most = 16 << 20 // bytes; the real list of all models is below 1 MiB
	d := json.NewDecoder(io.LimitReader(r, most))
	d.DisallowUnknownFields()
	var l list
	if err := d.Decode(&l); err != nil {
		return l, fmt.Errorf("%w: %w", ErrCatalog, err)
	}
	if l.Format != format {
		return l, fmt.Errorf("%w: it has format %d, this program reads format %d", ErrCatalog, l.Format, format)
	}
	return l, nil
}

func newCatalog(l list) (*Catalog, error) {
	names, files := map[string]bool{}, map[string]bool{}
	for i := range l.Entries {
		e := &l.Entries[i]
		if err := e.check(); err != nil {
			return nil, fmt.Errorf("%w: entry %d (%q): %w", ErrCatalog, i+1, e.Name, err)
		}
		file := strings.ToLower(e.File) // two files may not differ by case only: not every disk can hold both
		if names[e.Name] || files[file] {
			return nil, fmt.Errorf("%w: entry %d: the name %q or the file %q occurs twice", ErrCatalog, i+1, e.Name, e.File)
		}
		names[e.Name], files[file] = true, true
	}
	if !names[l.Default] {
		return nil, fmt.Errorf("%w: the default %q is not in it", ErrCatalog, l.Default)
	}
	return &Catalog{def: l.Default, entries: l.Entries}, nil
}

// Entries returns all entries, in the order of the list.
func (c *Catalog) Entries() []Entry { return append([]Entry(nil), c.entries...) }

// Default returns the entry to use when nobody chose one.
func (c *Catalog) Default() Entry {
	e, _ := c.Find(c.def) // newCatalog checked that it is there
	return e
}

// Find returns the entry called name, or an error that matches [ErrUnknown]
// and lists the names there are.
func (c *Catalog) Find(name string) (Entry, error) {
	names := make([]string, 0, len(c.entries))
	for _, e := range c.entries {
		if e.Name == name {
			return e, nil
		}
		names = append(names, e.Name)
	}
	return Entry{}, fmt.Errorf("%w: %q; the catalog has %s", ErrUnknown, name, strings.Join(names, ", "))
}

// byFile returns the entry whose file is called file.
func (c *Catalog) byFile(file string) (Entry, bool) {
	for _, e := range c.entries {
		if strings.EqualFold(e.File, file) {
			return e, true
		}
	}
	return Entry{}, false
}
