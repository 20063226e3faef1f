package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// A Change is what happened to the source of an original.
type Change struct {
	Name string `json:"name"`
	// Gone means that the source is not there any more; the chat keeps what it
	// has. Otherwise the original has the source's new content.
	Gone bool `json:"gone,omitempty"`
}

// Refresh looks at the sources of the originals, before a run, and brings in
// what has changed. It returns the changes since the last call. It also puts
// back the names in work that a program has removed.
func (w *Workspace) Refresh() ([]Change, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []Change
	var errs []error
	for i := range w.attached {
		c, err := w.refresh(i)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if c != nil {
			out = append(out, *c)
		}
	}
	if out != nil {
		if err := w.save(); err != nil {
			errs = append(errs, fmt.Errorf("refresh files: %w", err))
		}
	}
	return out, errors.Join(errs...)
}

// refresh does it for one original; the caller holds mu and saves.
func (w *Workspace) refresh(i int) (*Change, error) {
	o := &w.attached[i]
	if _, err := w.work.Lstat(o.Name); errors.Is(err, fs.ErrNotExist) {
		if err := w.point(o.Name); err != nil {
			return nil, fmt.Errorf("refresh %q: %w", o.Name, err)
		}
	}
	st, err := os.Stat(o.Source)
	if err != nil || !st.Mode().IsRegular() {
		if o.Stamp == (stamp{}) {
			return nil, nil // told already
		}
		o.Stamp = stamp{}
		return &Change{Name: o.Name, Gone: true}, nil
	}
	now := sourceStamp(st)
	if now == o.Stamp {
		return nil, nil
	}
	f, st, err := source(o.Source)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if have, err := w.files.Lstat(o.Name); err != nil || !os.SameFile(have, st) {
		if err := w.bring(f, st, o.Name); err != nil {
			return nil, err
		}
	}
	o.Stamp = sourceStamp(st)
	return &Change{Name: o.Name}, nil
}
