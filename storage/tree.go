package storage

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	bolt "go.etcd.io/bbolt"
)

// A place says where an entry is.
type place struct {
	Chat string `json:"chat"`
	Seq  uint64 `json:"seq"`
}

// A node is the part of an entry that holds the tree together. It is kept a
// second time, apart from the entry, so that an unreadable entry does not take
// those before it along.
type node struct {
	ID     string   `json:"id"`
	Parent uint64   `json:"parent,omitempty"` // sequence number; 0 for the first
	Blobs  []string `json:"blobs,omitempty"`
}

func seqKey(seq uint64) []byte { return binary.BigEndian.AppendUint64(nil, seq) }

func treeKey(chat string, seq uint64) []byte {
	return binary.BigEndian.AppendUint64(append([]byte(chat), 0), seq)
}

func blobKey(hash string, seq []byte) []byte {
	return append(append([]byte(hash), 0), seq...)
}

// seqOf returns the sequence number at the end of a key.
func seqOf(key []byte) uint64 { return binary.BigEndian.Uint64(key[len(key)-8:]) }

// rows returns copies of the keys of a chat's nodes, oldest first.
func rows(tx *bolt.Tx, chat string) [][]byte {
	var keys [][]byte
	prefix := append([]byte(chat), 0)
	c := tx.Bucket(treeBucket).Cursor()
	for k, _ := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, _ = c.Next() {
		if len(k) == len(prefix)+8 {
			keys = append(keys, bytes.Clone(k))
		}
	}
	return keys
}

// nodeOf reads a node. Where it is damaged the entry itself says the same, and
// where that is damaged too, the entry before it in the chat is the best guess
// for the parent.
func nodeOf(tx *bolt.Tx, key []byte) node {
	seq := seqOf(key)
	var n node
	if get(tx, treeBucket, key, &n) == nil && n.Parent < seq {
		return n
	}
	var e Entry
	if get(tx, entriesBucket, key[len(key)-8:], &e) == nil && e.Seq == seq {
		n = node{ID: e.ID, Blobs: e.Blobs}
		if e.Parent == "" {
			return n
		}
		if at, err := find(tx, e.Parent); err == nil && at.Chat == e.Chat && at.Seq < seq {
			n.Parent = at.Seq
			return n
		}
	}
	n.Parent = 0
	c := tx.Bucket(treeBucket).Cursor()
	c.Seek(key)
	if k, _ := c.Prev(); len(k) == len(key) && bytes.Equal(k[:len(k)-8], key[:len(key)-8]) {
		n.Parent = seqOf(k)
	}
	return n
}

// find returns where the entry with an ID is. A row that is not in the index or
// damaged there is searched for.
func find(tx *bolt.Tx, id string) (place, error) {
	var at place
	if get(tx, idsBucket, []byte(id), &at) == nil {
		return at, nil
	}
	c := tx.Bucket(treeBucket).Cursor()
	for k, raw := c.First(); k != nil; k, raw = c.Next() {
		var n node
		if len(k) > 9 && unseal(treeBucket, k, raw, &n) == nil && n.ID == id {
			return place{Chat: string(k[:len(k)-9]), Seq: seqOf(k)}, nil
		}
	}
	return place{}, fmt.Errorf("entry %q: %w", id, ErrNotFound)
}

// seqIn finds an entry of a chat. With a lost index row the chat's rows are
// searched, and the chat's own leaf is at worst its last entry, so that the chat
// opens and goes on.
func seqIn(tx *bolt.Tx, c Chat, id string) (uint64, error) {
	at, err := find(tx, id)
	if err == nil && at.Chat == c.ID {
		return at.Seq, nil
	}
	keys := rows(tx, c.ID)
	for _, k := range keys {
		if nodeOf(tx, k).ID == id {
			return seqOf(k), nil
		}
	}
	if id == c.Leaf && len(keys) > 0 {
		return seqOf(keys[len(keys)-1]), nil
	}
	return 0, fmt.Errorf("entry %q: %w in chat %s", id, ErrNotFound, c.ID)
}

// entryAt reads the entry of a tree key, a damaged one as such.
func entryAt(tx *bolt.Tx, key []byte) Entry {
	return decode(key, tx.Bucket(entriesBucket).Get(key[len(key)-8:]), nodeOf(tx, key).ID)
}

// decode reads an entry; what cannot be read becomes a Damaged entry, so that
// the rest of the chat can be shown. id is the entry's ID as far as it is known
// from elsewhere.
func decode(key, raw []byte, id string) Entry {
	var e Entry
	err := unseal(entriesBucket, key[len(key)-8:], raw, &e)
	if err == nil {
		return e
	}
	reason := strings.TrimSuffix(err.Error(), ": "+ErrDamaged.Error())
	body, err := json.Marshal(Damage{Size: len(raw), Reason: reason})
	if err != nil { // a struct of a number and a string
		panic(err)
	}
	e = Entry{Seq: seqOf(key), ID: id, Kind: Damaged, Body: body}
	if len(key) > 9 {
		e.Chat = string(key[:len(key)-9])
	}
	return e
}

// unreferenced returns those of the hashes that no entry refers to.
func unreferenced(tx *bolt.Tx, hashes []string) []string {
	slices.Sort(hashes)
	var free []string
	c := tx.Bucket(blobsBucket).Cursor()
	for _, h := range slices.Compact(hashes) {
		prefix := append([]byte(h), 0)
		if k, _ := c.Seek(prefix); !bytes.HasPrefix(k, prefix) {
			free = append(free, h)
		}
	}
	return free
}
