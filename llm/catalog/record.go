package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// A record says that the bytes of a file were hashed, so that starting the
// program needs no second look at gigabytes. It lies beside the file as
// <file>.verified and holds as long as size, time and file number are the same.
type record struct {
	SHA256 string    `json:"sha256"`
	Bytes  int64     `json:"bytes"`
	Time   time.Time `json:"time"` // of the file's last change
	File   uint64    `json:"file"` // inode; 0 where the system has none
}

const recordSuffix = ".verified"

func recordOf(path string) (record, error) {
	st, err := os.Stat(path)
	if err != nil {
		return record{}, err
	}
	return record{Bytes: st.Size(), Time: st.ModTime().UTC(), File: inode(st)}, nil
}

func writeRecord(path, sha string) error {
	r, err := recordOf(path)
	if err != nil {
		return fmt.Errorf("record the verified file: %w", err)
	}
	r.SHA256 = sha
	b, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("record the verified file: %w", err)
	}
	return writeFile(path+recordSuffix, b)
}

// recorded returns the hash that path was found to have, or "" when it was not
// hashed or has changed since.
func recorded(path string) string {
	b, err := os.ReadFile(path + recordSuffix)
	if err != nil {
		return ""
	}
	var r record
	if json.Unmarshal(b, &r) != nil {
		return ""
	}
	now, err := recordOf(path)
	if err != nil || now.Bytes != r.Bytes || !now.Time.Equal(r.Time) || now.File != r.File {
		return ""
	}
	return r.SHA256
}

// writeFile replaces path by b, whole or not at all, also through a power cut.
func writeFile(path string, b []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".tmp-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = f.Write(b)
	err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("write %s: %w", path, err)
	}
	return syncDir(filepath.Dir(path))
}
