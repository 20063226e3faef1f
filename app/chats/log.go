package chats

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"atoll/app/agent"
	"atoll/storage"
)

// agentLog is the store as the agent sees it.
type agentLog struct{ *storage.Store }

func (l agentLog) NewDraft(chat, parent string) (agent.Draft, error) {
	d, err := l.Store.Draft(chat, parent)
	if err != nil {
		return nil, err
	}
	return agentDraft{d}, nil
}

type agentDraft struct{ *storage.Draft }

func (d agentDraft) Write(kind, text string) error {
	return d.Draft.Write(storage.Chunk{Kind: storage.ChunkKind(kind), Text: text})
}

func (d agentDraft) Commit(ctx context.Context, e storage.Entry) (storage.Entry, error) {
	es, err := d.Draft.Commit(ctx, e)
	if err != nil {
		return e, err
	}
	return es[0], nil
}

// emptyAge is how long a chat without a question is kept.
const emptyAge = 7 * 24 * time.Hour

// Recover closes what a host left open when it was killed: calls without a
// result are marked lost, a question without an answer says so, and chats
// without a question are removed after a week. It runs once, before any turn.
func (s *Service) Recover(ctx context.Context) error {
	chats, err := s.Store.Chats()
	if err != nil {
		return err
	}
	for _, c := range chats {
		if c.Leaf == "" { // nothing was ever asked in it: the disk was full, or the door was closed
			if time.Since(c.Updated) < emptyAge {
				continue // somebody may have attached a file and come back
			}
			if _, err := s.remove(ctx, ID{c.ID}); err != nil {
				slog.Warn("remove an empty chat", "chat", c.ID, "error", err)
			}
			continue
		}
		leaf, err := s.Store.Entry(c.Leaf)
		if errors.Is(err, storage.ErrNotFound) {
			continue // damaged; the chat still opens with what can be read
		}
		if err != nil {
			return err
		}
		es, err := lost(leaf, func() ([]storage.Entry, error) { return s.Store.Branch(ctx, c.ID, c.Leaf) })
		if err != nil {
			return err
		}
		if len(es) == 0 {
			continue
		}
		if _, err := s.Store.Append(ctx, es...); err != nil {
			return err
		}
	}
	return nil
}

// lost returns the entries that close a branch which ends at leaf.
func lost(leaf storage.Entry, branch func() ([]storage.Entry, error)) ([]storage.Entry, error) {
	var said storage.Assistant
	switch leaf.Kind {
	case storage.AssistantSaid:
		if json.Unmarshal(leaf.Body, &said) == nil && len(said.Calls) == 0 && !said.Interrupted && said.Rejected == "" {
			return nil, nil
		}
	case storage.UserSaid, storage.CallDecided, storage.CallEnded:
	default: // a fault says it already; what we do not know we leave
		return nil, nil
	}
	es, err := branch()
	if err != nil {
		return nil, err
	}
	open := map[string]bool{}
	var order []string
	for _, e := range es {
		var a storage.Assistant
		var r storage.Result
		switch {
		case e.Kind == storage.AssistantSaid && json.Unmarshal(e.Body, &a) == nil:
			for _, c := range a.Calls {
				open[c.ID] = true
				order = append(order, c.ID)
			}
		case e.Kind == storage.CallEnded && json.Unmarshal(e.Body, &r) == nil:
			delete(open, r.Call)
		}
	}
	var out []storage.Entry
	parent := leaf.ID
	add := func(k storage.Kind, body any) error {
		b, err := json.Marshal(body)
		if err != nil {
			return err
		}
		e := storage.Entry{ID: storage.NewID(), Parent: parent, Chat: leaf.Chat, Kind: k, Body: b}
		parent = e.ID
		out = append(out, e)
		return nil
	}
	for _, id := range order {
		if open[id] {
			if err := add(storage.CallEnded, storage.Result{Call: id, Status: "lost", Note: "Atoll ended before this code did"}); err != nil {
				return nil, err
			}
		}
	}
	return out, add(storage.Failed, storage.Fault{Code: "lost", Title: "Atoll ended before the answer was there", Hint: "Your question is kept. Send it again to get the answer."})
}
