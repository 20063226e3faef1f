// Package workspace keeps a chat's folder: the originals that were dropped on
// it, which no program may change, and the files that programs made.
//
//	files/sales.csv                    an original; read-only in the sandbox
//	work                               writable, the programs' working folder
//	work/sales.csv -> ../files/sales.csv
//	attached.json                      where the originals come from
//
// What lies in work was made by code that is not trusted, and the host has
// more rights than that code. So the host goes there only by [os.Root], takes
// only regular files with one name, and never waits on a pipe.
package workspace

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

var (
	// ErrKind means that a path is no regular file.
	ErrKind = errors.New("not a regular file")
	// ErrName means that a name leaves the folder or cannot be a file's.
	ErrName = errors.New("not a name of a file in the workspace")
	// ErrLink means that a file has further names, maybe outside.
	ErrLink = errors.New("file has a second name (hard link) and is not opened")
	// ErrSpace means that the disk is too full for a copy.
	ErrSpace = errors.New("not enough free space on the disk")
)

// A Workspace is an open chat's folder. Its methods may be called from several
// goroutines.
type Workspace struct {
	dir   string
	work  *os.Root
	files *os.Root

	mu       sync.Mutex
	attached []original
}

// An original is an attached file and what its source looked like.
type original struct {
	Name   string `json:"name"`
	Source string `json:"source"` // absolute path
	Stamp  stamp  `json:"stamp"`
}

// Open opens a chat's folder and makes it if it is not there.
func Open(dir string) (*Workspace, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	w := &Workspace{dir: dir}
	for _, d := range []string{w.Work(), w.Files()} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, fmt.Errorf("open workspace: %w", err)
		}
	}
	if w.work, err = os.OpenRoot(w.Work()); err != nil {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	if w.files, err = os.OpenRoot(w.Files()); err != nil {
		w.work.Close()
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	b, err := os.ReadFile(w.list())
	if err == nil {
		err = json.Unmarshal(b, &w.attached)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.Close()
		return nil, fmt.Errorf("open workspace: read list of files: %w", err)
	}
	return w, nil
}

// Close releases the folder; nothing is deleted.
func (w *Workspace) Close() error { return errors.Join(w.work.Close(), w.files.Close()) }

// Work is the path of the writable folder.
func (w *Workspace) Work() string { return filepath.Join(w.dir, "work") }

// Files is the path of the originals, to be read-only for programs.
func (w *Workspace) Files() string { return filepath.Join(w.dir, "files") }

// Link makes work/name a symbolic link to a folder outside of the workspace, or
// takes the link away when target is empty. A file of the program's own under
// that name stays, and there is no link then.
func (w *Workspace) Link(name, target string) error {
	if !filepath.IsLocal(name) {
		return fmt.Errorf("link %q: %w", name, ErrName)
	}
	st, err := w.work.Lstat(name)
	switch {
	case err == nil && st.Mode()&fs.ModeSymlink == 0:
		return nil
	case err == nil:
		if at, err := w.work.Readlink(name); err == nil && at == target {
			return nil
		}
		if err := w.work.Remove(name); err != nil {
			return fmt.Errorf("link %q: %w", name, err)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("link %q: %w", name, err)
	}
	if target == "" {
		return nil
	}
	if err := w.work.Symlink(target, name); err != nil {
		return fmt.Errorf("link %q: %w", name, err)
	}
	return nil
}

// Attached lists the names of the originals in the order in which they came.
func (w *Workspace) Attached() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []string
	for _, o := range w.attached {
		out = append(out, o.Name)
	}
	return out
}

// Open opens a file that a program made, by its name below the writable
// folder. Errors: [ErrName], [ErrKind], [ErrLink], or those of the file system.
func (w *Workspace) Open(name string) (*os.File, error) { return openRegular(w.work, name, true) }

// OpenOriginal opens an attached file by the name that Attach returned.
func (w *Workspace) OpenOriginal(name string) (*os.File, error) {
	return openRegular(w.files, name, false) // it may be a hard link to the user's file
}

func openRegular(root *os.Root, name string, alone bool) (*os.File, error) {
	if !filepath.IsLocal(name) {
		return nil, fmt.Errorf("open %q: %w", name, ErrName)
	}
	f, err := root.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, fmt.Errorf("open file: %w", err)
	}
	st, err := f.Stat()
	switch {
	case err != nil:
	case !st.Mode().IsRegular():
		err = fmt.Errorf("open %q: %w", name, ErrKind)
	case alone && links(st) > 1:
		err = fmt.Errorf("open %q: %w", name, ErrLink)
	default:
		return f, nil
	}
	f.Close()
	return nil, err
}

func (w *Workspace) list() string { return filepath.Join(w.dir, "attached.json") }

// save writes the list of originals; the caller holds mu.
func (w *Workspace) save() error {
	b, err := json.MarshalIndent(w.attached, "", "\t")
	if err != nil {
		return err
	}
	tmp := w.list() + ".new"
	if err := os.WriteFile(tmp, b, 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, w.list())
}
