// Package chats is what people do with conversations: start, ask, stop,
// approve, attach, rename, delete.
package chats

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"atoll/app/agent"
	"atoll/app/api"
	"atoll/app/approval"
	"atoll/app/boundary"
	"atoll/app/event"
	"atoll/app/fault"
	"atoll/llm"
	"atoll/storage"
)

// Models opens models by reference; "" is the default one.
type Models interface {
	Open(ctx context.Context, ref string) (llm.Model, string, error)
}

// Cells runs code and keeps the kernels of the chats.
type Cells interface {
	agent.Cells
	// Boundary describes what code of a chat may do under a policy; an empty chat
	// is one that does not exist yet.
	Boundary(ctx context.Context, chat string, p storage.ChatPolicy) (boundary.View, error)
	// Renew ends an interpreter that runs under another boundary and reports
	// whether there was one.
	Renew(chat string, p storage.ChatPolicy) bool
	// Forget ends a chat's kernel and removes its workspace.
	Forget(chat string) error
}

// Files attaches what a person drops.
type Files interface {
	Attach(ctx context.Context, chat, path string) (storage.File, error)
	Keep(ctx context.Context, chat, name string, r io.Reader) (storage.File, error)
}

// Deps is what the service is built from.
type Deps struct {
	Store  *storage.Store
	Bus    *event.Bus
	Gate   *approval.Gate
	Models Models
	Cells  Cells
	Files  Files
	// Data is the folder of Atoll's own data: it is nobody's project.
	Data string
	// Drop removes blobs that no entry refers to any more.
	Drop func(hashes []string)
}

// A Service holds the running turns, at most one for each chat.
type Service struct {
	Deps

	mu      sync.Mutex
	turns   map[string]*turn
	garbage []string // hashes that deleted chats referred to
	warm    warmUp
	wg      sync.WaitGroup
	done    bool // no new turns
}

// New returns a service; Close ends it.
func New(d Deps) *Service { return &Service{Deps: d, turns: map[string]*turn{}} }

// Register adds the methods of the service to the table.
func (s *Service) Register(t *api.Table) {
	api.Add(t, "chats.list", "lists the chats, newest first", s.list)
	api.Add(t, "chats.create", "starts an empty chat", s.create)
	api.Add(t, "chats.get", "returns a chat with its entries and what runs in it", s.get)
	api.Add(t, "chats.rename", "changes a chat's title", s.rename)
	api.Add(t, "chats.set", "changes a chat's model or approval mode", s.set)
	api.Add(t, "chats.delete", "deletes a chat with its files", s.remove)
	api.Add(t, "chats.attach", "attaches files by path and returns a verdict for each", s.attach)
	api.Add(t, "chats.send", "keeps a prompt and starts to answer it", s.send)
	api.Add(t, "chats.stop", "stops what runs in a chat", s.stop)
	api.Add(t, "chats.answer", "answers an approval question", s.answer)
	api.Add(t, "chats.preview", "runs the code of a question in a layer and tells its effects", s.preview)
	api.Add(t, "policy.show", "tells the boundary of a chat", s.showPolicy)
	api.Add(t, "policy.set", "changes the boundary of a chat", s.setPolicy)
	api.Add(t, "grants.list", "lists what was allowed for longer than once", s.grants)
	api.Add(t, "grants.revoke", "takes back what was allowed", s.revoke)
}

// ID names a chat.
type ID struct {
	ID string `json:"id"`
}

// List is all chats.
type List struct {
	Chats []storage.Chat `json:"chats"`
}

func (s *Service) list(context.Context, api.Empty) (List, error) {
	cs, err := s.Store.Chats()
	if cs == nil {
		cs = []storage.Chat{}
	}
	return List{cs}, err
}

// Create are the settings of a new chat; empty ones are the defaults.
type Create struct {
	Model   string `json:"model,omitempty"`
	Approve string `json:"approve,omitempty"`
}

func (s *Service) create(ctx context.Context, in Create) (storage.Chat, error) {
	if in.Approve == "" {
		in.Approve = approval.ModeAsk
	}
	if !approval.Valid(in.Approve) {
		return storage.Chat{}, badMode(in.Approve)
	}
	c, err := s.Store.CreateChat(ctx, storage.Chat{Model: in.Model, Approve: in.Approve})
	if err == nil {
		s.Bus.Publish(event.Event{Chat: &c})
	}
	return c, err
}

func badMode(m string) error {
	return fmt.Errorf("%w: approval mode %q; it is ask, auto or never", api.ErrInput, m)
}

// View is a chat as a page shows it.
type View struct {
	Chat    storage.Chat    `json:"chat"`
	Entries []storage.Entry `json:"entries"` // the current branch, root first
	Turn    *event.Turn     `json:"turn,omitempty"`
	Asks    []event.Ask     `json:"asks"`
	Live    []event.Delta   `json:"live"` // what streamed so far and is not an entry yet
	Seq     uint64          `json:"seq"`  // events after this are news
}

func (s *Service) get(ctx context.Context, in ID) (View, error) {
	// The turn is read first: what it streamed may meanwhile have become an
	// entry, but nothing can be in neither.
	v := View{Entries: []storage.Entry{}, Asks: s.Gate.Open(in.ID), Live: []event.Delta{}}
	s.mu.Lock()
	if t := s.turns[in.ID]; t != nil {
		state := t.state
		v.Turn, v.Live = &state, append(v.Live, t.live...)
	}
	s.mu.Unlock()
	c, err := s.Store.Chat(in.ID)
	if err != nil {
		return v, err
	}
	v.Chat = c
	es, err := s.Store.Branch(ctx, c.ID, c.Leaf)
	if err != nil {
		return v, err
	}
	v.Entries = append(v.Entries, es...)
	for _, e := range es {
		v.Seq = max(v.Seq, e.Seq)
	}
	return v, nil
}

// Rename is a new title.
type Rename struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

func (s *Service) rename(ctx context.Context, in Rename) (storage.Chat, error) {
	title := strings.TrimSpace(in.Title)
	if title == "" {
		return storage.Chat{}, fmt.Errorf("%w: a chat needs a title", api.ErrInput)
	}
	return s.update(ctx, in.ID, func(c *storage.Chat) error { c.Title = title; return nil })
}

// Set changes settings; nil leaves one as it is.
type Set struct {
	ID      string  `json:"id"`
	Model   *string `json:"model,omitempty"`
	Approve *string `json:"approve,omitempty"`
}

func (s *Service) set(ctx context.Context, in Set) (storage.Chat, error) {
	return s.update(ctx, in.ID, func(c *storage.Chat) error {
		if in.Model != nil {
			c.Model = *in.Model
		}
		if in.Approve != nil {
			if !approval.Valid(*in.Approve) {
				return badMode(*in.Approve)
			}
			c.Approve = *in.Approve
		}
		return nil
	})
}

func (s *Service) update(ctx context.Context, id string, f func(*storage.Chat) error) (storage.Chat, error) {
	if err := s.Store.UpdateChat(ctx, id, f); err != nil {
		return storage.Chat{}, err
	}
	c, err := s.Store.Chat(id)
	if err == nil {
		s.Bus.Publish(event.Event{Chat: &c})
	}
	return c, err
}

func (s *Service) remove(ctx context.Context, in ID) (api.Empty, error) {
	s.halt(in.ID)
	unused, err := s.Store.DeleteChat(ctx, in.ID)
	if err != nil {
		return api.Empty{}, err
	}
	s.Bus.Publish(event.Event{Gone: in.ID})
	s.mu.Lock()
	s.garbage = append(s.garbage, unused...)
	err = s.sweep(ctx)
	s.mu.Unlock()
	return api.Empty{}, errors.Join(err, s.Gate.Grants.Forget(ctx, in.ID), s.Cells.Forget(in.ID))
}

// sweep drops what deleted chats have left, once no turn runs: a running one
// may be about to refer to the same content. It needs s.mu.
func (s *Service) sweep(ctx context.Context) error {
	if len(s.garbage) == 0 || len(s.turns) > 0 {
		return nil
	}
	used, err := s.Store.UsedBlobs(ctx)
	if err != nil {
		return err
	}
	s.Drop(slices.DeleteFunc(s.garbage, func(h string) bool { return used[h] }))
	s.garbage = nil
	return nil
}

// Attach names files to attach.
type Attach struct {
	ID    string   `json:"id"`
	Paths []string `json:"paths"`
}

// Attached has a verdict for each path, in order.
type Attached struct {
	Files []Verdict `json:"files"`
}

// A Verdict is an attached file, or why it could not be attached.
type Verdict struct {
	storage.File
	Problem string `json:"problem,omitempty"`
}

func (s *Service) attach(ctx context.Context, in Attach) (Attached, error) {
	if _, err := s.Store.Chat(in.ID); err != nil {
		return Attached{}, err
	}
	out := Attached{Files: []Verdict{}}
	for _, p := range in.Paths {
		v := verdict(p)(s.Files.Attach(ctx, in.ID, p))
		out.Files = append(out.Files, v)
		s.expect(in.ID, v)
	}
	return out, nil
}

// Keep attaches content that has no path: a browser's drop, the clipboard.
func (s *Service) Keep(ctx context.Context, chat, name string, r io.Reader) (Verdict, error) {
	if _, err := s.Store.Chat(chat); err != nil {
		return Verdict{}, err
	}
	v := verdict(name)(s.Files.Keep(ctx, chat, name, r))
	s.expect(chat, v)
	return v, nil
}

func verdict(name string) func(storage.File, error) Verdict {
	return func(f storage.File, err error) Verdict {
		v := Verdict{File: f}
		if err != nil {
			f := fault.Of(err)
			v.Name, v.Problem = name, f.Title
			if f.Code == "internal" {
				v.Problem = f.Detail
			} else if f.Detail != "" {
				v.Problem += ": " + f.Detail
			}
		}
		return v
	}
}
