package storage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"
)

// unreadableTitle is shown for a chat whose head is damaged; its entries are
// kept apart and still open.
const unreadableTitle = "Chat with unreadable title"

// CreateChat keeps a new chat and returns it. ID, Created and Updated are set
// where empty. Errors: ErrInvalid, also when the ID is taken; ErrNoSpace.
func (s *Store) CreateChat(ctx context.Context, c Chat) (Chat, error) {
	if c.ID == "" {
		c.ID = NewID()
	}
	if c.Created.IsZero() {
		c.Created = time.Now()
	}
	if c.Updated.IsZero() {
		c.Updated = c.Created
	}
	if err := checkName("chat", c.ID); err != nil {
		return Chat{}, err
	}
	if c.Leaf != "" {
		return Chat{}, fmt.Errorf("create chat: %w: a new chat has no leaf", ErrInvalid)
	}
	c.Created, c.Updated = stored(c.Created), stored(c.Updated)
	err := s.update(ctx, func(tx *bolt.Tx) error {
		if tx.Bucket(chatsBucket).Get([]byte(c.ID)) != nil {
			return fmt.Errorf("%s exists: %w", c.ID, ErrInvalid)
		}
		return put(tx, chatsBucket, []byte(c.ID), c)
	})
	if err != nil {
		return Chat{}, fmt.Errorf("create chat: %w", err)
	}
	return c, nil
}

// Chat returns the head of a chat. A damaged head is built again from the
// chat's entries, with a title that says so. Error: ErrNotFound.
func (s *Store) Chat(id string) (Chat, error) {
	var c Chat
	err := s.view(context.Background(), func(tx *bolt.Tx) (err error) {
		c, err = head(tx, id)
		return err
	})
	return c, err
}

// Chats returns all chats, the most recently updated first.
func (s *Store) Chats() ([]Chat, error) {
	var all []Chat
	err := s.view(context.Background(), func(tx *bolt.Tx) error {
		for _, id := range chatIDs(tx) {
			c, err := head(tx, id)
			if err != nil {
				return err
			}
			all = append(all, c)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list chats: %w", err)
	}
	slices.SortStableFunc(all, func(a, b Chat) int {
		if c := b.Updated.Compare(a.Updated); c != 0 {
			return c
		}
		return bytes.Compare([]byte(b.ID), []byte(a.ID))
	})
	return all, nil
}

// UpdateChat lets change edit a copy of the chat's head and keeps it. change
// may run more than once when others write at the same time, and it cannot
// change ID. An error of change is returned as it is and nothing is kept.
// Errors: ErrNotFound, also when Leaf is no entry of the chat; ErrNoSpace.
func (s *Store) UpdateChat(ctx context.Context, id string, change func(*Chat) error) error {
	for {
		before, err := s.Chat(id)
		if err != nil {
			return err
		}
		after := before
		if err := change(&after); err != nil {
			return err
		}
		after.ID, after.Created, after.Updated = id, stored(after.Created), stored(after.Updated)
		raced := false
		err = s.update(ctx, func(tx *bolt.Tx) error {
			now, err := head(tx, id)
			if err != nil {
				return err
			}
			if raced = !reflect.DeepEqual(now, before); raced {
				return nil
			}
			if after.Leaf != "" {
				if _, err := seqIn(tx, now, after.Leaf); err != nil {
					return fmt.Errorf("leaf: %w", err)
				}
			}
			return putHead(tx, after)
		})
		if err != nil {
			return fmt.Errorf("update chat %s: %w", id, err)
		}
		if !raced {
			return nil
		}
	}
}

// DeleteChat removes a chat with its entries and returns the hashes of blobs
// that nothing refers to any more; the caller removes them. Error: ErrNotFound.
func (s *Store) DeleteChat(ctx context.Context, id string) (unused []string, err error) {
	err = s.update(ctx, func(tx *bolt.Tx) error {
		unused = nil
		if _, err := head(tx, id); err != nil {
			return err
		}
		var blobs []string
		for _, k := range rows(tx, id) {
			seq := k[len(k)-8:]
			n := nodeOf(tx, k)
			blobs = append(blobs, n.Blobs...)
			err := errors.Join(tx.Bucket(treeBucket).Delete(k), tx.Bucket(entriesBucket).Delete(seq),
				tx.Bucket(idsBucket).Delete([]byte(n.ID)))
			for _, h := range n.Blobs {
				err = errors.Join(err, tx.Bucket(blobsBucket).Delete(blobKey(h, seq)))
			}
			if err != nil {
				return err
			}
		}
		unused = unreferenced(tx, blobs)
		return tx.Bucket(chatsBucket).Delete([]byte(id))
	})
	if err != nil {
		return nil, fmt.Errorf("delete chat: %w", err)
	}
	return unused, nil
}

// chatIDs returns the IDs of all chats: those with a head, and those whose
// head is lost while entries are there.
func chatIDs(tx *bolt.Tx) []string {
	var ids []string
	heads := tx.Bucket(chatsBucket)
	c := heads.Cursor()
	for k, _ := c.First(); k != nil; k, _ = c.Next() {
		ids = append(ids, string(k))
	}
	c = tx.Bucket(treeBucket).Cursor()
	for k, _ := c.First(); k != nil; {
		// A damaged key may lack the byte that the seek below counts on: it would
		// be found again without end.
		if len(k) <= 9 || k[len(k)-9] != 0 {
			k, _ = c.Next()
			continue
		}
		id := bytes.Clone(k[:len(k)-9])
		if heads.Get(id) == nil {
			ids = append(ids, string(id))
		}
		k, _ = c.Seek(append(id, 1)) // past all entries of this chat
	}
	return ids
}

// head reads the head of a chat, or builds it from the entries when it is
// damaged or lost.
func head(tx *bolt.Tx, id string) (Chat, error) {
	var c Chat
	err := get(tx, chatsBucket, []byte(id), &c)
	if err == nil {
		return c, nil
	}
	keys := rows(tx, id)
	if len(keys) == 0 && errors.Is(err, ErrNotFound) {
		return Chat{}, fmt.Errorf("chat %q: %w", id, ErrNotFound)
	}
	c = Chat{ID: id, Title: unreadableTitle, Approve: "ask"}
	for i, k := range keys {
		e := entryAt(tx, k)
		if i == 0 || c.Created.IsZero() {
			c.Created = e.At
		}
		if e.At.After(c.Updated) {
			c.Updated = e.At
		}
		if e.ID != "" {
			c.Leaf = e.ID
		}
	}
	return c, nil
}

// putHead keeps the head of a chat. What it replaces is set aside first if it
// is damaged: it holds the only copy of the title.
func putHead(tx *bolt.Tx, c Chat) error {
	key := []byte(c.ID)
	if raw := tx.Bucket(chatsBucket).Get(key); raw != nil && unseal(chatsBucket, key, raw, new(Chat)) != nil {
		if err := tx.Bucket(asideBucket).Put(key, bytes.Clone(raw)); err != nil {
			return err
		}
	}
	return put(tx, chatsBucket, key, c)
}

// stored returns t as it will be read back.
func stored(t time.Time) time.Time { return t.UTC().Round(0) }
