// Package blob keeps the content of files under its hash: attachments, plots
// and other results of runs.
package blob

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"
)

var (
	// ErrTooLarge means the content is longer than the limit of Put.
	ErrTooLarge = errors.New("content is too large")
	// ErrNotFound means there is no content with this hash.
	ErrNotFound = errors.New("no such content")
	// ErrHash means a string is no hash: 64 lower-case hexadecimal digits.
	ErrHash = errors.New("not a content hash")
	// ErrDamaged means the content does not match its hash, or something else
	// than a plain file lies in its place.
	ErrDamaged = errors.New("kept content is damaged")
	// ErrNoSpace means the disk is full; nothing was kept.
	ErrNoSpace = errors.New("no space left on disk")
)

// tmpDir holds content that is being written.
const tmpDir = "tmp"

// A Store keeps content in files named ab/cd/abcd…, the SHA-256 of what is in
// them, below one folder. A file that is there is whole. Nothing outside the
// folder is read or written and symbolic links are not followed. Its methods
// may be called from several goroutines.
type Store struct {
	root  *os.Root
	fault func(point string) // called where a crash test may want to die
}

// Open opens the folder dir and creates it if there is none.
func Open(dir string) (*Store, error) {
	if err := os.MkdirAll(filepath.Join(dir, tmpDir), 0o700); err != nil {
		return nil, fmt.Errorf("open blobs: %w", explain(err))
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open blobs: %w", err)
	}
	return &Store{root: root, fault: func(string) {}}, nil
}

// Close releases the folder.
func (s *Store) Close() error { return s.root.Close() }

// Put keeps what r yields, at most limit bytes, and returns its hash and size
// in bytes. The content is on disk when Put returns. Putting the same content
// twice keeps one file and makes it new for GC. Errors: ErrTooLarge,
// ErrNoSpace, and those of r as they are.
func (s *Store) Put(r io.Reader, limit int64) (hash string, size int64, err error) {
	f, tmp, err := s.temp()
	if err != nil {
		return "", 0, fmt.Errorf("keep content: %w", explain(err))
	}
	defer func() {
		if tmp != "" {
			err = errors.Join(err, s.root.Remove(tmp))
		}
	}()
	sum := sha256.New()
	// One byte more shows that there is more; max is for the largest limit.
	src := &source{r: io.LimitReader(r, max(limit, limit+1))}
	size, err = io.Copy(io.MultiWriter(f, sum), src)
	switch {
	case src.err != nil: // the reader's own, unchanged
		err = src.err
	case err == nil && size > limit:
		err = fmt.Errorf("%w: the limit is %d bytes", ErrTooLarge, limit)
	case err == nil:
		err = explain(f.Sync())
	default:
		err = explain(err)
	}
	if err = errors.Join(err, explain(f.Close())); err != nil {
		return "", 0, fmt.Errorf("keep content: %w", err)
	}
	s.fault("written")
	hash = hex.EncodeToString(sum.Sum(nil))
	if err := s.place(tmp, hash); err != nil {
		return "", 0, fmt.Errorf("keep content: %w", explain(err))
	}
	tmp = ""
	return hash, size, nil
}

// source remembers the error of the reader it reads from.
type source struct {
	r   io.Reader
	err error
}

func (s *source) Read(b []byte) (int, error) {
	n, err := s.r.Read(b)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

// temp creates a file nobody else uses.
func (s *Store) temp() (*os.File, string, error) {
	name := path.Join(tmpDir, rand.Text())
	f, err := s.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	return f, name, err
}

// place moves a whole file to its name and replaces what is there: the same
// content, or a damaged version of it.
func (s *Store) place(tmp, hash string) error {
	dir, name := location(hash)
	for _, d := range []string{path.Dir(dir), dir} {
		if err := s.root.Mkdir(d, 0o700); err == nil {
			if err := s.syncDir(path.Dir(d)); err != nil {
				return err
			}
		} else if !errors.Is(err, fs.ErrExist) {
			return err
		} else if info, err := s.root.Lstat(d); err != nil || !info.IsDir() {
			return errors.Join(err, fmt.Errorf("%w: %s is no folder", ErrDamaged, d))
		}
	}
	if info, err := s.root.Lstat(name); err == nil && info.IsDir() {
		return fmt.Errorf("%w: %s is a folder", ErrDamaged, name)
	}
	if err := s.root.Rename(tmp, name); err != nil {
		return err
	}
	s.fault("renamed")
	return s.syncDir(dir)
}

// Open opens the content with a hash for reading; the caller closes it. The
// content is not compared with the hash, see Verify. Errors: ErrHash,
// ErrNotFound, ErrDamaged.
func (s *Store) Open(hash string) (*os.File, error) {
	if !Valid(hash) {
		return nil, fmt.Errorf("open content %.80q: %w", hash, ErrHash)
	}
	f, err := s.open(hash)
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("open content %s: %w", hash, err)
	}
	return f, nil
}

func (s *Store) open(hash string) (*os.File, error) {
	dir, name := location(hash)
	for _, d := range []string{path.Dir(dir), dir} {
		if info, err := s.root.Lstat(d); err != nil {
			return nil, err
		} else if !info.IsDir() {
			return nil, fmt.Errorf("%w: %s is no folder", ErrDamaged, d)
		}
	}
	// Putting the same content again replaces the file by an equal one.
	for range 10 {
		f, err := s.openPlain(name)
		if !errors.Is(err, errReplaced) {
			return f, err
		}
	}
	return nil, fmt.Errorf("%w: %w", ErrDamaged, errReplaced)
}

var errReplaced = errors.New("the file was replaced")

// openPlain opens a regular file; errReplaced when another one took its place
// meanwhile.
func (s *Store) openPlain(name string) (*os.File, error) {
	before, err := s.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: not a plain file", ErrDamaged)
	}
	f, err := s.root.Open(name)
	if err != nil {
		return nil, err
	}
	// Between the look and the opening a link may have taken the place.
	after, err := f.Stat()
	if err == nil && !os.SameFile(before, after) {
		err = errReplaced
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Verify reads the content and compares it with its hash. Errors: those of
// Open; ErrDamaged.
func (s *Store) Verify(hash string) error {
	f, err := s.Open(hash)
	if err != nil {
		return err
	}
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("verify content %s: %w", hash, err)
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != hash {
		return fmt.Errorf("verify content %s: %w: it is %s", hash, ErrDamaged, got)
	}
	return nil
}

// Remove removes the content with a hash; that there is none is no error.
// Error: ErrHash.
func (s *Store) Remove(hash string) error {
	if !Valid(hash) {
		return fmt.Errorf("remove content %.80q: %w", hash, ErrHash)
	}
	_, name := location(hash)
	if err := s.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove content: %w", err)
	}
	return nil
}

// Swept says what GC removed.
type Swept struct {
	Files int
	Bytes int64
}

// GC removes content whose hash is not in used and what interrupted calls of
// Put left, both only if last touched before the given time: content is put
// before the entry that refers to it is kept. Other things in the folder stay.
func (s *Store) GC(used map[string]bool, before time.Time) (Swept, error) {
	var swept Swept
	err := fs.WalkDir(s.root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		hash := path.Base(name)
		_, at := location(hash)
		left := path.Dir(name) == tmpDir
		if !d.Type().IsRegular() || !left && (!Valid(hash) || name != at || used[hash]) {
			return nil
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.ModTime().Before(before) {
			return nil
		}
		if err == nil {
			err = s.root.Remove(name)
		}
		if err != nil {
			return err
		}
		swept.Files++
		swept.Bytes += info.Size()
		return nil
	})
	if err != nil {
		return swept, fmt.Errorf("remove unused content: %w", err)
	}
	return swept, nil
}

// Valid reports whether a string is a hash as Put returns it.
func Valid(hash string) bool {
	if len(hash) != 2*sha256.Size {
		return false
	}
	for _, c := range []byte(hash) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// location returns folder and name of the file for a hash.
func location(hash string) (dir, name string) {
	if len(hash) < 4 {
		return "", ""
	}
	dir = path.Join(hash[:2], hash[2:4])
	return dir, path.Join(dir, hash)
}

// explain marks errors that say the disk is full.
func explain(err error) error {
	if err != nil && isFull(err) {
		return fmt.Errorf("%w; free some space and try again: %w", ErrNoSpace, err)
	}
	return err
}

// syncDir makes the names in a folder durable.
func (s *Store) syncDir(dir string) error {
	d, err := s.root.Open(dir)
	if err != nil {
		return err
	}
	if !cannotSyncDirs {
		err = d.Sync()
	}
	return errors.Join(err, d.Close())
}
