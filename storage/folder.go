package storage

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// encode returns v as JSON without escaping what HTML would need.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// replaceFile writes a small file so that a crash leaves the old or the new
// content, never a mixture.
func replaceFile(path string, content []byte) error {
	tmp := path + ".new"
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		return errors.Join(err, removeIfThere(tmp))
	}
	return syncDir(filepath.Dir(path))
}

// removeIfThere removes a file; that it is gone already is no error.
func removeIfThere(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// explain gives an error of the operating system one of the package's
// sentinels where a person can do something about it.
func explain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrNoSpace), errors.Is(err, ErrReadOnly), errors.Is(err, ErrDamaged):
		return err
	case isFull(err):
		return fmt.Errorf("%w; free some space and try again: %w", ErrNoSpace, err)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w; check who owns it and its permissions: %w", ErrReadOnly, err)
	}
	return err
}
