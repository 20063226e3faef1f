package workspace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// floor is the free space that a copy must leave, in bytes.
const floor = 256 << 20

// Attach makes the file at path an original of the chat and returns the name
// by which programs open it. It is linked where that is possible, else cloned
// or copied. A file that is attached already keeps its name. Errors:
// [ErrKind] for folders and special files, [ErrSpace], or those of the file
// system; their texts are for people.
func (w *Workspace) Attach(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("attach %q: %w", path, err)
	}
	f, st, err := source(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, o := range w.attached {
		if o.Source == path {
			if _, err := w.refresh(i); err != nil {
				return "", err
			}
			return o.Name, w.save()
		}
	}
	name := w.free(Clean(filepath.Base(path)))
	if err := w.bring(f, st, name); err != nil {
		return "", err
	}
	if err := w.point(name); err != nil {
		w.files.Remove(name)
		return "", fmt.Errorf("attach %q: %w", filepath.Base(path), err)
	}
	w.attached = append(w.attached, original{Name: name, Source: path, Stamp: sourceStamp(st)})
	if err := w.save(); err != nil {
		return "", fmt.Errorf("attach %q: %w", filepath.Base(path), err)
	}
	return name, nil
}

// source opens the file that is to be attached, behind all symbolic links.
func source(path string) (*os.File, fs.FileInfo, error) {
	base := filepath.Base(path)
	// Looked at before it is opened: opening a device can do something.
	st, err := os.Stat(path)
	if err == nil {
		switch mode := st.Mode(); {
		case mode.IsDir():
			return nil, nil, fmt.Errorf("attach %q: %w: it is a folder; drop the files inside it", base, ErrKind)
		case !mode.IsRegular():
			return nil, nil, fmt.Errorf("attach %q: %w: it is a device, pipe or socket", base, ErrKind)
		}
	}
	var f *os.File
	if err == nil {
		f, err = os.OpenFile(path, os.O_RDONLY|nonblock, 0)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, fmt.Errorf("attach %q: the file is not there (any more): %w", base, err)
	case errors.Is(err, fs.ErrPermission):
		return nil, nil, fmt.Errorf("attach %q: you may not read this file: %w", base, err)
	case err != nil:
		return nil, nil, fmt.Errorf("attach %q: %w", base, err)
	}
	if st, err = f.Stat(); err != nil || !st.Mode().IsRegular() {
		f.Close()
		return nil, nil, fmt.Errorf("attach %q: %w", base, errors.Join(ErrKind, err))
	}
	return f, st, nil
}

// bring makes files/name the content of f, replacing what was there.
func (w *Workspace) bring(f *os.File, st fs.FileInfo, name string) error {
	const part = ".part"
	w.files.Remove(part)
	if !w.link(f.Name(), st, part) {
		if err := w.copy(f, st, part); err != nil {
			w.files.Remove(part)
			return fmt.Errorf("attach %q: %w", name, err)
		}
	}
	if err := w.files.Rename(part, name); err != nil {
		w.files.Remove(part)
		return fmt.Errorf("attach %q: %w", name, err)
	}
	// Renaming one link of a file over another one does nothing and keeps both.
	w.files.Remove(part)
	return nil
}

// link makes a hard link, unless the file lies among the workspaces: there a
// second name would hide it from its own chat, whose programs could change it.
func (w *Workspace) link(path string, st fs.FileInfo, name string) bool {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false
	}
	home := filepath.Dir(w.dir)
	if h, err := filepath.EvalSymlinks(home); err == nil {
		home = h
	}
	if rel, err := filepath.Rel(home, real); err == nil && filepath.IsLocal(rel) && rel != filepath.Base(rel) {
		return false
	}
	if os.Link(real, filepath.Join(w.Files(), name)) != nil {
		return false
	}
	if got, err := w.files.Lstat(name); err != nil || !os.SameFile(got, st) {
		w.files.Remove(name) // it was replaced since it was looked at
		return false
	}
	return true
}

func (w *Workspace) copy(f *os.File, st fs.FileInfo, name string) error {
	to, err := w.files.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = clone(to, f)
	if err != nil {
		if free, ok := freeSpace(w.dir); ok && free < st.Size()+floor {
			to.Close()
			return fmt.Errorf("%w: %d MB are free, %d MB are needed", ErrSpace, free>>20, (st.Size()+floor)>>20)
		}
		if _, err = f.Seek(0, io.SeekStart); err == nil {
			_, err = io.Copy(to, f)
		}
	}
	if err == nil {
		err = to.Chmod(0o400)
	}
	return errors.Join(err, to.Close())
}

// point makes the link in work by which programs open the original.
func (w *Workspace) point(name string) error {
	return w.work.Symlink(filepath.Join("..", "files", name), name)
}

// free returns name, or "name (2)" and so on if that is taken by an original
// or by a file of a program.
func (w *Workspace) free(name string) string {
	ext := filepath.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	if stem == "" {
		stem, ext = name, ""
	}
	for n := 1; ; n++ {
		try := name
		if n > 1 {
			try = fmt.Sprintf("%s (%d)%s", stem, n, ext)
		}
		_, err1 := w.files.Lstat(try)
		_, err2 := w.work.Lstat(try)
		if errors.Is(err1, fs.ErrNotExist) && errors.Is(err2, fs.ErrNotExist) {
			return try
		}
	}
}

// maxName is the length of a file's name in bytes, with room for " (2)" below
// the limit of 255 that file systems have.
const maxName = 200

// Clean makes a file's name out of any text: one path element, valid UTF-8,
// without control characters and without the signs that turn the direction of
// writing, which can hide the true ending. All else is kept: it is data, and
// no shell ever sees it.
func Clean(name string) string {
	name = strings.ToValidUTF8(name, "_")
	name = strings.Map(func(r rune) rune {
		switch {
		case r == '/' || r == filepath.Separator || unicode.IsControl(r):
			return '_'
		case r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200e || r == 0x200f:
			return '_'
		case r == '\u2028' || r == '\u2029':
			return '_'
		}
		return r
	}, name)
	if ext := filepath.Ext(name); len(name) > maxName {
		if len(ext) > 20 {
			ext = ""
		}
		cut := maxName - len(ext)
		for !utf8.RuneStart(name[cut]) {
			cut--
		}
		name = name[:cut] + ext
	}
	switch name {
	case "", ".", "..", ".part":
		return "file"
	}
	return name
}
