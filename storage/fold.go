package storage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	bolt "go.etcd.io/bbolt"
)

// foldDrafts keeps what was being streamed when the program died: each draft
// becomes an interrupted answer, then its file is removed. One that was
// committed is only removed; one that cannot be read is set aside.
func (s *Store) foldDrafts() error {
	dir := filepath.Join(s.dir, draftsName)
	files, err := os.ReadDir(dir) // sorted, which is by time of creation
	if err != nil {
		return explain(err)
	}
	for _, f := range files {
		if f.Type().IsRegular() && strings.HasSuffix(f.Name(), journalExt) {
			if err := s.foldDraft(filepath.Join(dir, f.Name())); err != nil {
				return fmt.Errorf("keep interrupted answer %s: %w", f.Name(), err)
			}
		}
	}
	return nil
}

func (s *Store) foldDraft(path string) error {
	h, chunks, err := readJournal(path)
	if errors.Is(err, ErrDamaged) {
		return s.setAside(path)
	}
	if err != nil {
		return explain(err)
	}
	answer := interrupted(chunks)
	body, err := encode(answer)
	if err != nil {
		return err
	}
	e := Entry{ID: h.ID, Chat: h.Chat, Parent: h.Parent, At: h.At, Kind: AssistantSaid, Body: body}
	kept := false
	err = s.update(context.Background(), func(tx *bolt.Tx) error {
		kept = false
		c, err := head(tx, h.Chat)
		if tx.Bucket(idsBucket).Get([]byte(h.ID)) != nil || answer.Text == "" || errors.Is(err, ErrNotFound) {
			return nil // committed, empty, or of a chat that was deleted
		}
		if err != nil {
			return err
		}
		if h.Parent != "" {
			// The parent was on disk before the draft began; where damage took
			// it, the answer still belongs to its chat.
			if _, err := seqIn(tx, c, h.Parent); err != nil {
				e.Parent = c.Leaf
			}
		}
		all := []Entry{e}
		if err := appendTo(tx, all, false); err != nil {
			return err
		}
		kept, e = true, all[0]
		return nil
	})
	if err != nil {
		return err
	}
	s.fault("folded")
	if kept {
		s.report.Folded = append(s.report.Folded, e)
	}
	return explain(removeIfThere(path))
}

// setAside moves a file that cannot be read out of the way and keeps it.
func (s *Store) setAside(path string) error {
	dir := filepath.Join(s.dir, asideName)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return explain(err)
	}
	to := filepath.Join(dir, filepath.Base(path))
	if err := os.Rename(path, to); err != nil {
		return explain(err)
	}
	s.report.SetAside = append(s.report.SetAside, to)
	return nil
}
