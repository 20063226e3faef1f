package storage

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"math"
	"slices"

	bolt "go.etcd.io/bbolt"
)

// A row is a copy of a stored entry, decoded after the transaction.
type row struct {
	key []byte // tree key, or the sequence number alone
	id  string
	raw []byte
}

// Branch returns the entries from the first one to leaf; with leaf "" to the
// chat's own leaf. An entry that cannot be read is returned as a Damaged one.
// Error: ErrNotFound for the chat, or when leaf is not one of its entries.
func (s *Store) Branch(ctx context.Context, chat, leaf string) ([]Entry, error) {
	var branch []row
	err := s.view(ctx, func(tx *bolt.Tx) error {
		c, err := head(tx, chat)
		if err != nil {
			return err
		}
		if leaf == "" {
			leaf = c.Leaf
		}
		if leaf == "" {
			return nil
		}
		seq, err := seqIn(tx, c, leaf)
		if err != nil {
			return err
		}
		for seq != 0 { // a node's parent is always older
			key := treeKey(chat, seq)
			n := nodeOf(tx, key)
			raw := bytes.Clone(tx.Bucket(entriesBucket).Get(seqKey(seq)))
			branch = append(branch, row{key: key, id: n.ID, raw: raw})
			seq = n.Parent
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("branch of chat %s: %w", chat, err)
	}
	slices.Reverse(branch)
	entries := make([]Entry, len(branch))
	for i, r := range branch {
		entries[i] = decode(r.key, r.raw, r.id)
		if i > 0 && entries[i].Kind == Damaged {
			entries[i].Parent = entries[i-1].ID
		}
	}
	return entries, nil
}

// Since returns the entries of all chats with a sequence number above seq, in
// order. Numbers of deleted entries are left out. No transaction is open while
// the caller's loop runs; entries that come meanwhile are returned too.
func (s *Store) Since(ctx context.Context, seq uint64) iter.Seq2[Entry, error] {
	const batch = 128
	return func(yield func(Entry, error) bool) {
		for {
			var found []row
			err := s.view(ctx, func(tx *bolt.Tx) error {
				c := tx.Bucket(entriesBucket).Cursor()
				if seq == math.MaxUint64 { // a damaged key; the next number would be the first
					return nil
				}
				for k, raw := c.Seek(seqKey(seq + 1)); k != nil && len(found) < batch; k, raw = c.Next() {
					if len(k) == 8 {
						found = append(found, row{key: bytes.Clone(k), raw: bytes.Clone(raw)})
					}
				}
				return nil
			})
			if err != nil {
				yield(Entry{}, fmt.Errorf("entries since %d: %w", seq, err))
				return
			}
			for _, r := range found {
				seq = seqOf(r.key)
				if !yield(decode(r.key, r.raw, ""), nil) {
					return
				}
			}
			if len(found) < batch {
				return
			}
		}
	}
}

// Entry returns the entry with an ID. Error: ErrNotFound.
func (s *Store) Entry(id string) (Entry, error) {
	var r row
	err := s.view(context.Background(), func(tx *bolt.Tx) error {
		at, err := find(tx, id)
		if err != nil {
			return err
		}
		r = row{key: treeKey(at.Chat, at.Seq), id: id, raw: bytes.Clone(tx.Bucket(entriesBucket).Get(seqKey(at.Seq)))}
		return nil
	})
	if err != nil {
		return Entry{}, err
	}
	return decode(r.key, r.raw, r.id), nil
}

// LastSeq returns the sequence number of the newest entry ever kept, 0 if
// there was none.
func (s *Store) LastSeq() (seq uint64, err error) {
	err = s.view(context.Background(), func(tx *bolt.Tx) error {
		seq = tx.Bucket(entriesBucket).Sequence()
		return nil
	})
	return seq, err
}

// UsedBlobs returns the hashes of all blobs that entries refer to.
func (s *Store) UsedBlobs(ctx context.Context) (map[string]bool, error) {
	used := map[string]bool{}
	err := s.view(ctx, func(tx *bolt.Tx) error {
		return tx.Bucket(blobsBucket).ForEach(func(k, _ []byte) error {
			if hash, _, ok := bytes.Cut(k, []byte{0}); ok {
				used[string(hash)] = true
			}
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("list blobs in use: %w", err)
	}
	return used, nil
}
