package cli

import (
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"atoll/app/files"
	"atoll/sandbox/workspace"
)

// save copies src to a new file in root and returns its name there. Names come
// from code that a model wrote: they are cleaned, and what is there already,
// which may be somebody's original, is never written over.
func save(root *os.Root, name string, src io.Reader) (string, error) {
	parts := strings.Split(name, "/")
	for i := range parts {
		parts[i] = workspace.Clean(parts[i])
	}
	local := filepath.FromSlash(path.Join(parts...))
	if dir := filepath.Dir(local); dir != "." {
		if err := root.MkdirAll(dir, 0o777); err != nil {
			return "", err
		}
	}
	dst, local, err := files.Create(root, local, 0o666)
	if err != nil {
		return "", err
	}
	if _, err := io.Copy(dst, src); err != nil {
		return "", errors.Join(err, dst.Close(), root.Remove(local))
	}
	return local, dst.Close()
}

// oneName writes a file name on one line.
func oneName(name string) string {
	return strings.NewReplacer("\n", "\ufffd", "\t", "\ufffd").Replace(printable(name))
}
