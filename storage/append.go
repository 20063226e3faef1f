package storage

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"
)

// Append keeps entries, all or none, and returns them as they were kept; they
// are on disk when it returns. It sets Seq, and ID and At where empty. Each
// entry becomes the leaf of its chat, and its time the chat's Updated if later. A parent may be an entry of the same call
// (see NewID) or one that was kept before; "" starts a branch at the root.
//
// Errors: ErrNotFound for an unknown chat or a parent that is not in it;
// ErrInvalid for a body that is no JSON or too big, and for an ID that is
// taken; ErrNoSpace.
func (s *Store) Append(ctx context.Context, entries ...Entry) ([]Entry, error) {
	kept, err := prepare(entries)
	if err != nil {
		return nil, fmt.Errorf("append: %w", err)
	}
	err = s.update(ctx, func(tx *bolt.Tx) error { return appendTo(tx, kept, true) })
	if err != nil {
		return nil, fmt.Errorf("append: %w", err)
	}
	return kept, nil
}

// prepare returns copies of entries with ID and At, and checks what needs no
// look into the database.
func prepare(entries []Entry) ([]Entry, error) {
	kept := make([]Entry, len(entries))
	for i, e := range entries {
		if e.ID == "" {
			e.ID = NewID()
		}
		if e.At.IsZero() {
			e.At = time.Now()
		}
		e.At = stored(e.At)
		e.Blobs = slices.Clone(e.Blobs)
		if err := checkName("entry", e.ID); err != nil {
			return nil, err
		}
		for _, h := range e.Blobs {
			if err := checkName("blob", h); err != nil {
				return nil, err
			}
		}
		if e.Kind == "" || e.Kind == Damaged {
			return nil, fmt.Errorf("entry %s: %w: kind %q", e.ID, ErrInvalid, e.Kind)
		}
		if len(e.Body) > MaxBody {
			return nil, fmt.Errorf("entry %s: %w: body of %d bytes, limit is %d", e.ID, ErrInvalid, len(e.Body), MaxBody)
		}
		if !json.Valid(e.Body) {
			return nil, fmt.Errorf("entry %s: %w: body is not JSON", e.ID, ErrInvalid)
		}
		kept[i] = e
	}
	return kept, nil
}

// appendTo keeps prepared entries and fills in their sequence numbers. With
// move unset, a chat's leaf moves only if it is the entry's parent.
func appendTo(tx *bolt.Tx, entries []Entry, move bool) error {
	heads := map[string]*Chat{}
	for i := range entries {
		e := &entries[i]
		c := heads[e.Chat]
		if c == nil {
			h, err := head(tx, e.Chat)
			if err != nil {
				return err
			}
			c = &h
			heads[e.Chat] = c
		}
		if err := appendOne(tx, *c, e); err != nil {
			return err
		}
		if move || c.Leaf == e.Parent {
			c.Leaf = e.ID
		}
		if e.At.After(c.Updated) {
			c.Updated = e.At
		}
	}
	for _, c := range heads {
		if err := putHead(tx, *c); err != nil {
			return err
		}
	}
	return nil
}

// appendOne keeps one entry and what leads to it.
func appendOne(tx *bolt.Tx, c Chat, e *Entry) error {
	n := node{ID: e.ID, Blobs: e.Blobs}
	if tx.Bucket(idsBucket).Get([]byte(e.ID)) != nil {
		return fmt.Errorf("entry %s exists: %w", e.ID, ErrInvalid)
	}
	if e.Parent != "" {
		parent, err := seqIn(tx, c, e.Parent)
		if err != nil {
			return fmt.Errorf("parent: %w", err)
		}
		n.Parent = parent
	}
	// Keys come in order here, so pages need no room for others in between.
	tx.Bucket(entriesBucket).FillPercent = 0.9
	tx.Bucket(idsBucket).FillPercent = 0.9
	seq, err := nextSeq(tx.Bucket(entriesBucket))
	if err != nil {
		return err
	}
	e.Seq = seq
	if err := put(tx, entriesBucket, seqKey(seq), e); err != nil {
		return err
	}
	if err := put(tx, treeBucket, treeKey(e.Chat, seq), n); err != nil {
		return err
	}
	for _, h := range e.Blobs {
		if err := put(tx, blobsBucket, blobKey(h, seqKey(seq)), nil); err != nil {
			return err
		}
	}
	return put(tx, idsBucket, []byte(e.ID), place{Chat: e.Chat, Seq: seq})
}

// nextSeq returns the next sequence number. bbolt's counter has no checksum; a
// damaged one must not overwrite an entry.
func nextSeq(entries *bolt.Bucket) (uint64, error) {
	if last, _ := entries.Cursor().Last(); len(last) == 8 && seqOf(last) > entries.Sequence() {
		if err := entries.SetSequence(seqOf(last)); err != nil {
			return 0, err
		}
	}
	return entries.NextSequence()
}
