// Package storage keeps what happened. A chat is a tree of entries that only
// grows; everything shown is read back from here. It imports no sibling
// package.
package storage

import (
	"encoding/json"
	"errors"
	"time"
)

// A Kind says what an entry records. Unknown kinds are kept and shown as such.
type Kind string

// The kinds there are; bodies.go has one struct for each.
const (
	UserSaid      Kind = "user"
	AssistantSaid Kind = "assistant"
	CallDecided   Kind = "decision"
	CallEnded     Kind = "result"
	Failed        Kind = "fault"
	Damaged       Kind = "damaged" // stands for an entry that cannot be read; never stored
)

// An Entry is one thing that happened in a chat. Entries are immutable.
type Entry struct {
	Seq    uint64          `json:"seq"` // store-wide, dense, assigned by Append
	ID     string          `json:"id"`
	Parent string          `json:"parent,omitempty"` // "" for the first
	Chat   string          `json:"chat"`
	At     time.Time       `json:"at"`
	Kind   Kind            `json:"kind"`
	Body   json.RawMessage `json:"body"`            // one struct per Kind, see bodies.go
	Blobs  []string        `json:"blobs,omitempty"` // hashes of the files it refers to
}

// A Chat is the head of a conversation.
type Chat struct {
	ID      string    `json:"id"`
	Title   string    `json:"title"`
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
	Leaf    string    `json:"leaf"`                          // the entry that the next one follows
	Model   string    `json:"model"`                         // model reference; "" is the default
	Approve string    `json:"approve" enum:"ask,auto,never"` // "ask", "auto" or "never"
	// Policy is the boundary of the chat's code; nil is the sealed one.
	Policy *ChatPolicy `json:"policy,omitempty"`
}

// ChatPolicy is what a person chose about the boundary of a chat's code.
type ChatPolicy struct {
	// Preset is "sealed": nothing but the chat's own folder is writable and no
	// network is there; "offline-project": a folder of the person's is writable
	// too; or "network": hosts can be reached.
	Preset  string   `json:"preset" enum:"sealed,offline-project,network"`
	Project string   `json:"project,omitempty"` // absolute path, with "offline-project"
	Hosts   []string `json:"hosts,omitempty"`   // with "network"; none: every public one
	GPU     bool     `json:"gpu,omitempty"`
}

// A Grant is an answer that a person wants to be remembered.
type Grant struct {
	ID     string    `json:"id"`
	Effect string    `json:"effect"` // as in app/event.Need
	What   string    `json:"what"`   // a host, a package; "" means any
	Scope  string    `json:"scope" enum:"chat,project"`
	Where  string    `json:"where"` // the chat's ID, or the project's folder
	At     time.Time `json:"at"`
	Until  time.Time `json:"until,omitzero"` // zero: without end
}

var (
	// ErrLocked means another process owns the data folder.
	ErrLocked = errors.New("data folder is in use")
	// ErrNewer means a newer version wrote the data.
	ErrNewer = errors.New("data was written by a newer version")
	// ErrDamaged means a check failed; the error's text says which.
	ErrDamaged = errors.New("data is damaged")
	// ErrNotFound means there is no such record.
	ErrNotFound = errors.New("not found")
	// ErrNoSpace means the disk is full; nothing was changed.
	ErrNoSpace = errors.New("no space left on disk")
	// ErrReadOnly means the data folder cannot be written.
	ErrReadOnly = errors.New("data folder cannot be written")
	// ErrInvalid means the caller asked for something that cannot be kept.
	ErrInvalid = errors.New("invalid record")
)

// Limits on what is kept.
const (
	// MaxBody is the size limit of an entry's body in bytes; bigger things
	// belong into blobs.
	MaxBody = 16 << 20
	// maxName is the size limit of IDs, blob hashes and setting names in bytes.
	maxName = 200
)
