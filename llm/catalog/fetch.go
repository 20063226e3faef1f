package catalog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Spare is how many bytes [Fetch] leaves free on the disk by default: a full
// disk takes the chats with it.
const Spare = 2 << 30

// Options say how [Fetch] may get the bytes. The zero value is usable.
type Options struct {
	// Order lists the sources to use, by name or by kind; empty means those of
	// the entry in its order, after Folder if that is set.
	Order []string
	// Folder is a folder that holds the model file, or the packages with its
	// parts: a USB stick, a share, another models folder.
	Folder string
	// Endpoint replaces the address of hub sources, as the variable HF_ENDPOINT
	// does for other programs; empty: that variable, then the entry's address.
	Endpoint string
	// Python is the program that has pip; empty: python3, then python.
	Python string
	// Client sends the requests; nil: one that takes proxies from the
	// environment and certificates from the system.
	Client *http.Client
	// Spare is how many bytes stay free on the disk; 0 means [Spare].
	Spare int64
	// Stall ends a connection on which nothing arrives for so long; 0 means 30 s.
	Stall time.Duration

	free  func(dir string) (int64, error) // free bytes of a disk; nil asks the system
	pause time.Duration                   // first pause between tries; 0 means 500 ms
}

// Progress tells how far [Fetch] is.
type Progress struct {
	Model  string // name of the entry
	Source string // in use; "" while the unfinished file is checked
	Part   int    // in work, from 1
	Parts  int
	Done   int64  // bytes of the file
	Total  int64  // bytes of the file
	Note   string // a sentence when something changed, such as the source
}

// Fetch puts the file of e into dir, trying sources in the order of o, and
// returns its path. What was interrupted, even by the end of the process, goes
// on where it was; only verified bytes are ever given the final name. If the
// file is already there and right, Fetch does nothing. progress may be nil; it
// is called from the calling goroutine.
//
// Errors match [ErrNoSpace] (nothing was fetched, or what was fetched is
// kept), [ErrWrongBytes], [ErrBusy], [ErrNoSource] or the context's error.
func Fetch(ctx context.Context, e Entry, dir string, o Options, progress func(Progress)) (string, error) {
	if err := e.check(); err != nil {
		return "", fmt.Errorf("%w: entry %q: %w", ErrCatalog, e.Name, err)
	}
	if progress == nil {
		progress = func(Progress) {}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("make the models folder: %w", err)
	}
	unlock, err := lock(dir, &e)
	if err != nil {
		return "", err
	}
	defer unlock()

	path := filepath.Join(dir, e.File)
	if there, err := present(ctx, path, &e, progress); there || err != nil {
		return path, err
	}
	deliver, err := o.plan(&e, dir)
	if err != nil {
		return "", err
	}
	f := &fetch{entry: &e, dir: dir, options: o, progress: progress}
	return path, f.run(ctx, deliver)
}

// fetch is one call of Fetch.
type fetch struct {
	entry    *Entry
	dir      string
	options  Options
	progress func(Progress)
	part     *partFile
	source   string
	told     int64 // offset that progress was told last
}

func (f *fetch) run(ctx context.Context, sources []deliverer) (err error) {
	f.part, err = openPart(f.dir, f.entry, f.tell)
	if err != nil {
		return err
	}
	finished := false
	defer func() {
		if !finished {
			err = errors.Join(err, f.part.close())
		}
	}()
	var failures []error
	for _, s := range sources {
		if f.part.complete() {
			break
		}
		if err := f.checkSpace(s.extra()); err != nil {
			return err
		}
		f.source = s.name()
		f.note("from " + f.source)
		err := s.deliver(ctx, f)
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("fetch %s: %w; what was fetched is kept", f.entry.Name, context.Cause(ctx))
		case isFull(err) || errors.Is(err, ErrNoSpace):
			return fmt.Errorf("fetch %s: %w: the disk became full at %s of %s; what was fetched is kept", f.entry.Name, ErrNoSpace, size(f.part.offset), size(f.entry.Bytes))
		case err != nil:
			failures = append(failures, fmt.Errorf("%s: %w", s.name(), err))
			f.note(fmt.Sprintf("%s did not deliver: %v", s.name(), err))
		}
	}
	if !f.part.complete() {
		return fmt.Errorf("fetch %s: %w: %w", f.entry.Name, ErrNoSource, errors.Join(failures...))
	}
	finished = true
	return f.part.finish()
}

// tell passes on the offset, at most once a MiB and at the end.
func (f *fetch) tell(done int64) {
	if done-f.told >= 1<<20 || done < f.told || done == f.entry.Bytes {
		f.report(done, "")
	}
}

func (f *fetch) note(text string) { f.report(f.part.offset, text) }

func (f *fetch) report(done int64, note string) {
	f.told = done
	p := Progress{Model: f.entry.Name, Source: f.source, Parts: len(f.entry.parts()), Done: done, Total: f.entry.Bytes, Note: note}
	if f.part != nil {
		p.Part = min(f.part.index+1, p.Parts)
	}
	f.progress(p)
}

// present reports whether the finished file is there. A file by that name with
// other bytes is an error: it may be somebody's own, so it is not touched.
func present(ctx context.Context, path string, e *Entry, progress func(Progress)) (bool, error) {
	st, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for the model: %w", err)
	}
	if recorded(path) == e.SHA256 {
		return true, nil
	}
	const action = "delete or rename that file, then run again"
	if st.Size() != e.Bytes {
		return false, fmt.Errorf("%w: %s has %d bytes, expected %d; %s", ErrWrongBytes, path, st.Size(), e.Bytes, action)
	}
	got, err := hashFile(ctx, path, func(done int64) {
		progress(Progress{Model: e.Name, Part: 1, Parts: 1, Done: done, Total: e.Bytes, Note: "checking the file that is there"})
	})
	if err != nil {
		return false, fmt.Errorf("check the model: %w", err)
	}
	if got != e.SHA256 {
		return false, &WrongBytes{What: path, Got: got, Want: e.SHA256, Action: action}
	}
	return true, writeRecord(path, got)
}

// hashFile returns the SHA-256 of a file in lower-case hex.
func hashFile(ctx context.Context, path string, progress func(done int64)) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h, buf, done := sha256.New(), make([]byte, 4<<20), int64(0)
	for {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		n, err := f.Read(buf)
		h.Write(buf[:n])
		done += int64(n)
		if progress != nil && n > 0 {
			progress(done)
		}
		if err == io.EOF {
			return hex.EncodeToString(h.Sum(nil)), nil
		}
		if err != nil {
			return "", err
		}
	}
}

// lock keeps two processes from writing the same file. The lock ends with the
// process; the empty lock file stays, since removing it would be a race.
func lock(dir string, e *Entry) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(dir, "."+e.File+".lock"), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", e.Name, err)
	}
	ok, err := tryLock(f)
	if err == nil && ok {
		return func() { f.Close() }, nil
	}
	f.Close()
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", e.Name, err)
	}
	return nil, fmt.Errorf("%w: %s; wait until that one is done", ErrBusy, e.Name)
}

// A deliverer writes bytes of the entry to f.part, from the offset on.
type deliverer interface {
	name() string
	extra() int64 // bytes of disk needed beside the file itself
	deliver(ctx context.Context, f *fetch) error
}

// plan turns the wishes into sources.
func (o *Options) plan(e *Entry, dir string) ([]deliverer, error) {
	folder := folderSource{dir: o.Folder}
	var all []deliverer
	if len(o.Order) == 0 {
		if o.Folder != "" {
			all = append(all, folder)
		}
		for i := range e.Sources {
			all = append(all, o.source(&e.Sources[i]))
		}
		return all, nil
	}
	for _, want := range o.Order {
		found := false
		if want == string(Folder) && o.Folder != "" {
			all, found = append(all, folder), true
		}
		for i := range e.Sources {
			if s := &e.Sources[i]; s.Name == want || string(s.Kind) == want {
				all, found = append(all, o.source(s)), true
			}
		}
		if !found {
			return nil, fmt.Errorf("%w: %s cannot come from %q; it has %s", ErrNoSource, e.Name, want, e.sourceNames())
		}
	}
	return all, nil
}

func (o *Options) source(s *Source) deliverer {
	if s.Kind == Pieces {
		return piecesSource{source: s}
	}
	return httpSource{source: s}
}

func (e *Entry) sourceNames() string {
	names := make([]string, len(e.Sources))
	for i, s := range e.Sources {
		names[i] = s.Name
	}
	return strings.Join(names, ", ")
}
