package approval_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"atoll/app/approval"
	"atoll/app/event"
	"atoll/storage"
)

// kept are settings in memory.
type kept map[string]json.RawMessage

func (k kept) Setting(name string) (json.RawMessage, error) {
	if v, ok := k[name]; ok {
		return v, nil
	}
	return nil, storage.ErrNotFound
}

func (k kept) SetSetting(_ context.Context, name string, v json.RawMessage) error {
	k[name] = v
	return nil
}

// A grant ends when its time is over, to the second.
func TestGrantsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := approval.NewGrants(kept{})
		need := []event.Need{{Effect: approval.Network, What: "a.example"}}
		if err := g.Add(t.Context(), approval.Remember{Scope: approval.ScopeChat, Hours: 8}, "c", storage.ChatPolicy{}, need); err != nil {
			t.Fatal(err)
		}
		open := func() int { return len(g.Open("c", storage.ChatPolicy{}, need)) }
		if open() != 0 {
			t.Error("it does not hold")
		}
		if n := len(g.Open("c", storage.ChatPolicy{}, []event.Need{{Effect: approval.Network, What: "b.example"}})); n != 1 {
			t.Error("another host passes")
		}
		time.Sleep(8*time.Hour - time.Second)
		if open() != 0 {
			t.Error("it ended early")
		}
		time.Sleep(2 * time.Second)
		if open() != 1 {
			t.Error("it holds after its time")
		}
	})
}

// A list that cannot be read allows nothing; the next grant replaces it.
func TestGrantsDamaged(t *testing.T) {
	k := kept{"grants": json.RawMessage(`{"not": "a list"}`)}
	g := approval.NewGrants(k)
	need := []event.Need{{Effect: approval.Delete}}
	if n := len(g.Open("c", storage.ChatPolicy{}, need)); n != 1 {
		t.Error("a damaged list allows")
	}
	if err := g.Add(t.Context(), approval.Remember{Scope: approval.ScopeChat}, "c", storage.ChatPolicy{}, need); err != nil {
		t.Error(err)
	}
	if n := len(g.Open("c", storage.ChatPolicy{}, need)); n != 0 {
		t.Error("the new one does not hold")
	}
}

// What cannot be remembered is refused.
func TestGrantsRefused(t *testing.T) {
	g := approval.NewGrants(kept{})
	need := []event.Need{{Effect: approval.Delete}}
	for _, r := range []approval.Remember{{Scope: "project"}, {Scope: "world"}, {}, {Scope: "chat", Hours: -1}, {Scope: "chat", Hours: 1e9}} {
		if err := g.Add(t.Context(), r, "c", storage.ChatPolicy{}, need); err == nil {
			t.Errorf("%+v was remembered", r)
		}
	}
	if l, err := g.List("", storage.ChatPolicy{}); err != nil || len(l) > 0 {
		t.Errorf("%+v, %v", l, err)
	}
}
