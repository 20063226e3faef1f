package storage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// Names in the data folder; docs/storage.md describes each.
const (
	dbName       = "store.db"
	sentinelName = "store.json"
	lockName     = "lock"
	ownerName    = "owner.json"
	draftsName   = "drafts"
	asideName    = "damaged"
)

// Options say how to open a store; the zero value is right for the program.
type Options struct {
	// Wait is how long to wait for another process to leave the folder; zero
	// is one second.
	Wait time.Duration
	// VerifyUpTo is the database size in bytes up to which the whole file is
	// read and checked at each opening; bigger files only after an unclean
	// exit. Zero is 256 MiB, which takes about half a second.
	VerifyUpTo int64

	fault func(point string) // called where a crash test may want to die
}

// A Report says what Open had to do.
type Report struct {
	Unclean  bool     // the program before did not close the store
	OneMeta  bool     // one of the database's two headers is unreadable; the other one was used
	Folded   []Entry  // interrupted answers that were found and kept
	SetAside []string // files that could not be read, where they are now
	NoSpace  bool     // the disk is full: interrupted answers wait for the next Open
}

// A Store keeps chats, entries and settings in one folder. Its methods may be
// called from several goroutines.
type Store struct {
	dir    string
	db     *bolt.DB
	file   *os.File // of db
	lock   *lock
	report Report
	fault  func(point string)
	broken atomic.Bool // a write panicked; bbolt's writer lock may be stuck

	mu     sync.Mutex // guards the fields that follow
	drafts map[*Draft]struct{}
	closed bool
}

// Open opens the data folder dir and creates it if there is none. Answers that
// were being streamed when the program died are kept as entries, see
// [Store.Report].
//
// Errors: ErrLocked, ErrNewer, ErrDamaged, ErrReadOnly, and ErrNoSpace where
// there was no data yet; existing data opens on a full disk. None of them
// changed the data; with ErrDamaged the file stays where it is.
func Open(dir string, o Options) (*Store, error) {
	s, err := open(dir, o)
	if err != nil {
		return nil, fmt.Errorf("open data folder %s: %w", dir, err)
	}
	return s, nil
}

func open(dir string, o Options) (*Store, error) {
	if o.Wait == 0 {
		o.Wait = time.Second
	}
	if o.VerifyUpTo == 0 {
		o.VerifyUpTo = 256 << 20
	}
	if o.fault == nil {
		o.fault = func(string) {}
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(dir, draftsName), 0o700); err != nil {
		return nil, explain(err)
	}
	l, unclean, err := takeLock(dir, o.Wait)
	if err != nil {
		return nil, err
	}
	s := &Store{dir: dir, lock: l, fault: o.fault, drafts: map[*Draft]struct{}{}}
	s.report.Unclean = unclean
	if err := s.openDatabase(o.VerifyUpTo); err != nil {
		return nil, errors.Join(err, l.release(false))
	}
	err = s.foldDrafts()
	if errors.Is(err, ErrNoSpace) { // what is there can still be read
		s.report.NoSpace, err = true, nil
	}
	if err != nil {
		return nil, errors.Join(err, s.db.Close(), l.release(false))
	}
	return s, nil
}

// Report returns what Open had to do.
func (s *Store) Report() Report { return s.report }

// Close ends what is being streamed, closes the database and gives the folder
// back. Drafts that were not committed are kept as interrupted answers by the
// next Open. Closing twice is fine.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	drafts := make([]*Draft, 0, len(s.drafts))
	for d := range s.drafts {
		drafts = append(drafts, d)
	}
	s.mu.Unlock()
	var errs []error
	for _, d := range drafts {
		errs = append(errs, d.close())
	}
	if s.broken.Load() { // bbolt's Close could wait for the stuck writer for ever
		errs = append(errs, unlockDatabase(s.file), s.lock.release(false))
		return errors.Join(errs...)
	}
	err := errors.Join(append(errs, s.db.Close())...)
	return explain(errors.Join(err, s.lock.release(err == nil)))
}

// view runs f in a read transaction. f must not call the caller's code.
func (s *Store) view(ctx context.Context, f func(*bolt.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return explain(s.guard(func() error { return s.db.View(f) }))
}

// update runs f in a write transaction that is on disk when update returns.
func (s *Store) update(ctx context.Context, f func(*bolt.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.broken.Load() {
		return fmt.Errorf("%w: a write failed half way; restart Atoll", ErrDamaged)
	}
	done := false
	defer func() {
		if !done {
			s.broken.Store(true)
		}
	}()
	err := s.guard(func() error {
		err := s.db.Update(f)
		done = true
		return err
	})
	return explain(err)
}

// guard turns a panic of bbolt, which is how it says that a page makes no
// sense, and a fault in its memory map into ErrDamaged.
func (s *Store) guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %s: %v; the file is kept; %s",
				ErrDamaged, filepath.Join(s.dir, dbName), p, whatToDo)
		}
	}()
	if err = f(); errors.Is(err, berrors.ErrDatabaseNotOpen) {
		return fmt.Errorf("data folder %s: %w", s.dir, os.ErrClosed)
	}
	return err
}

// NewID returns an ID for an entry or a chat: a UUID of version 7, which sorts
// by time of creation (RFC 9562).
func NewID() string {
	return uuid.Must(uuid.NewV7()).String()
}
