package storage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	bolt "go.etcd.io/bbolt"
)

// syncEvery is the longest time that streamed text stays unsynced; a power cut
// loses no more than this. A killed process loses nothing that Write took.
const syncEvery = 500 * time.Millisecond

// A Draft keeps text while it streams in, outside the database: a transaction
// per token would cost some 10 ms each. Its methods may be called from several
// goroutines. It ends with Commit or Discard.
//
//	Draft ──Write──▶ Write … ──Commit──▶ entries in the database, file removed
//	                         ──Discard─▶ file removed
//	                         ──crash, Close──▶ next Open keeps an interrupted answer
type Draft struct {
	store  *Store
	header journalHeader
	path   string

	dirty  chan struct{} // something waits to be synced
	quit   chan struct{}
	ended  chan struct{} // the syncing goroutine has returned
	mu     sync.Mutex    // guards the fields that follow
	file   *os.File      // nil when ended
	size   int64         // of the sound part
	failed error         // of a sync in the background
	kept   []Entry       // what Commit kept
}

// Draft begins to keep an answer that follows parent in a chat. Errors:
// ErrNotFound for the chat or a parent that is not in it; ErrNoSpace.
func (s *Store) Draft(chat, parent string) (*Draft, error) {
	d := &Draft{
		store:  s,
		header: journalHeader{ID: NewID(), Chat: chat, Parent: parent, At: stored(time.Now())},
		dirty:  make(chan struct{}, 1),
		quit:   make(chan struct{}),
		ended:  make(chan struct{}),
	}
	d.path = filepath.Join(s.dir, draftsName, d.header.ID+journalExt)
	err := s.view(context.Background(), func(tx *bolt.Tx) error {
		c, err := head(tx, chat)
		if err == nil && parent != "" {
			_, err = seqIn(tx, c, parent)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("draft: %w", err)
	}
	if err := d.create(); err != nil {
		return nil, fmt.Errorf("draft: %w", explain(err))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, fmt.Errorf("draft: %w", errors.Join(os.ErrClosed, d.file.Close(), os.Remove(d.path)))
	}
	s.drafts[d] = struct{}{}
	go d.syncing() // awaited by end
	return d, nil
}

// create writes the header and makes the file's name durable.
func (d *Draft) create() error {
	h, err := encode(d.header)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(d.path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	n, err := f.Write(frame([]byte(journalMagic), h))
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = syncDir(filepath.Dir(d.path))
	}
	if err != nil {
		return errors.Join(err, f.Close(), os.Remove(d.path))
	}
	d.file, d.size = f, int64(n)
	return nil
}

// ID returns the ID of the entry that the draft becomes.
func (d *Draft) ID() string { return d.header.ID }

// Write keeps chunks: against a crash of the process at once, against a power
// cut within half a second. After an error the text before it is still kept
// and Write may be tried again. Errors: ErrNoSpace; os.ErrClosed.
func (d *Draft) Write(chunks ...Chunk) error {
	var b []byte
	for _, c := range chunks {
		if len(c.Kind) > maxName {
			return fmt.Errorf("draft: %w: kind %.40q", ErrInvalid, c.Kind)
		}
		b = chunkFrames(b, c)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.file == nil {
		return fmt.Errorf("draft: %w", os.ErrClosed)
	}
	if d.failed != nil {
		return fmt.Errorf("draft: %w", d.failed)
	}
	if len(b) == 0 {
		return nil
	}
	if _, err := d.file.WriteAt(b, d.size); err != nil {
		// What was written of it takes no room; the next frame comes here.
		return fmt.Errorf("draft: %w", explain(errors.Join(err, d.file.Truncate(d.size))))
	}
	d.size += int64(len(b))
	select {
	case d.dirty <- struct{}{}:
	default:
	}
	return nil
}

// syncing makes what was written durable, at most every syncEvery.
func (d *Draft) syncing() {
	defer close(d.ended)
	for {
		select {
		case <-d.quit:
			return
		case <-d.dirty:
		}
		select {
		case <-d.quit:
			return
		case <-time.After(syncEvery):
		}
		d.mu.Lock()
		f := d.file
		d.mu.Unlock()
		d.store.fault("syncing")
		err := f.Sync()
		d.store.fault("synced")
		if err != nil {
			d.mu.Lock()
			d.failed = explain(err)
			d.mu.Unlock()
		}
	}
}

// Commit keeps entries in one transaction and removes the draft. The first one
// is what the draft became: its ID is the draft's, and Chat and Parent are the
// draft's where empty; the others are as for Append. When the process dies on
// the way, the next Open finds either the entries or the draft, never both.
// Where Commit fails the draft stays and Commit may be tried again; a second
// Commit after a good one returns the same entries. Errors: as for Append.
func (d *Draft) Commit(ctx context.Context, entries ...Entry) ([]Entry, error) {
	if len(entries) == 0 || entries[0].ID != "" && entries[0].ID != d.header.ID {
		return nil, fmt.Errorf("commit draft: %w: the first entry must have the draft's ID", ErrInvalid)
	}
	d.mu.Lock()
	kept, open := d.kept, d.file != nil
	d.mu.Unlock()
	if kept != nil {
		return kept, nil
	}
	if !open {
		return nil, fmt.Errorf("commit draft: %w", os.ErrClosed)
	}
	first := entries[0]
	first.ID = d.header.ID
	if first.Chat == "" {
		first.Chat = d.header.Chat
	}
	if first.Parent == "" {
		first.Parent = d.header.Parent
	}
	kept, err := d.store.Append(ctx, append([]Entry{first}, entries[1:]...)...)
	if err != nil {
		return nil, fmt.Errorf("commit draft: %w", err)
	}
	d.store.fault("committed")
	d.mu.Lock()
	d.kept = kept
	d.mu.Unlock()
	// The entries are safe; a file that cannot be removed is known by its ID
	// at the next opening.
	_ = d.end(false)
	_ = removeIfThere(d.path)
	return kept, nil
}

// Discard ends the draft and removes what it kept. Discarding an ended draft
// does nothing.
func (d *Draft) Discard() error {
	d.mu.Lock()
	ended := d.file == nil
	d.mu.Unlock()
	if ended {
		return nil
	}
	err := d.end(false)
	if err = errors.Join(err, removeIfThere(d.path), syncDir(filepath.Dir(d.path))); err != nil {
		return fmt.Errorf("discard draft: %w", explain(err))
	}
	return nil
}

// close ends the draft and leaves the file for the next Open.
func (d *Draft) close() error { return d.end(true) }

// end stops the goroutine and closes the file, once.
func (d *Draft) end(flush bool) error {
	d.store.mu.Lock()
	_, mine := d.store.drafts[d]
	delete(d.store.drafts, d)
	d.store.mu.Unlock()
	if !mine {
		return nil
	}
	close(d.quit)
	<-d.ended
	d.mu.Lock()
	defer d.mu.Unlock()
	var err error
	if flush {
		err = d.file.Sync()
	}
	err = errors.Join(err, d.file.Close())
	d.file = nil
	return err
}
