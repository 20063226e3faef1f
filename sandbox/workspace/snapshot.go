package workspace

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

const (
	maxListed  = 1000   // files in one answer
	maxVisited = 20_000 // entries that are looked at
	maxDepth   = 32
)

// A File is one that a program made or changed.
type File struct {
	Name     string    `json:"name"` // below work, with slashes
	Size     int64     `json:"size"` // bytes
	Modified time.Time `json:"modified"`
}

// A Snapshot is the state of work at one time.
type Snapshot struct {
	files map[string]stamp
}

// Changes is the difference between two states of work.
type Changes struct {
	Files   []File   `json:"files"`             // new or changed, by name
	Removed []string `json:"removed,omitempty"` // by name
	Note    string   `json:"note,omitempty"`    // what is left out, in a sentence
}

// A walk is one pass over work.
type walk struct {
	files   map[string]stamp
	linked  int  // files with a second name
	stopped bool // there is more than maxVisited
}

// Snapshot looks at all files in work. Hidden files and Python's caches are
// passed over.
func (w *Workspace) Snapshot() (Snapshot, error) {
	v, err := w.walk()
	if err != nil {
		return Snapshot{}, err
	}
	return Snapshot{files: v.files}, nil
}

// Changed lists the regular files in work that are new or changed since then.
// A file that can also be reached by another name is not listed, nor is
// anything behind a symbolic link.
func (w *Workspace) Changed(since Snapshot) (Changes, error) {
	v, err := w.walk()
	if err != nil {
		return Changes{}, err
	}
	var c Changes
	for name, st := range v.files {
		if old, ok := since.files[name]; !ok || old != st {
			c.Files = append(c.Files, File{Name: name, Size: st.Size, Modified: time.Unix(0, st.Modified)})
		}
	}
	for name := range since.files {
		if _, ok := v.files[name]; !ok && !v.stopped {
			c.Removed = append(c.Removed, name)
		}
	}
	slices.SortFunc(c.Files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	slices.Sort(c.Removed)
	var notes []string
	if n := len(c.Files); n > maxListed {
		c.Files = c.Files[:maxListed]
		notes = append(notes, fmt.Sprintf("%d files are new or changed, the first %d are listed.", n, maxListed))
	}
	if len(c.Removed) > maxListed {
		c.Removed = c.Removed[:maxListed]
	}
	if v.stopped {
		notes = append(notes, fmt.Sprintf("The folder holds more than %d entries; the rest was not looked at.", maxVisited))
	}
	if v.linked > 0 {
		notes = append(notes, fmt.Sprintf("%d files with hard links are not listed.", v.linked))
	}
	c.Note = strings.Join(notes, " ")
	return c, nil
}

func (w *Workspace) walk() (walk, error) {
	v := walk{files: map[string]stamp{}}
	visited := 0
	err := fs.WalkDir(w.work.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			if name == "." {
				return err
			}
			return fs.SkipDir // unreadable, or removed meanwhile
		}
		if visited++; visited > maxVisited {
			v.stopped = true
			return fs.SkipAll
		}
		base := path.Base(name)
		switch {
		case name == ".":
			return nil
		case d.IsDir() && (base[0] == '.' || base == "__pycache__" || strings.Count(name, "/") >= maxDepth):
			return fs.SkipDir
		case !d.Type().IsRegular() || base[0] == '.':
			return nil
		}
		st, err := w.work.Lstat(name) // d.Info would go by path, past the root
		if err != nil || !st.Mode().IsRegular() {
			return nil // gone meanwhile
		}
		if links(st) > 1 {
			v.linked++
			return nil
		}
		v.files[name] = stampOf(st)
		return nil
	})
	if err != nil {
		return walk{}, fmt.Errorf("list workspace: %w", err)
	}
	return v, nil
}
