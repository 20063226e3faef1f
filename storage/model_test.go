package storage

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// model is what a store must do, in memory.
type model struct {
	chats   map[string]Chat
	entries []Entry
	seq     uint64
	drafts  map[*Draft]string // open ones, with their text
	chatIDs []string          // in order of creation, deleted ones too
}

// Random operations and closings on a store and on a model give the same.
func TestAgainstModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "atoll-model-")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		s, err := Open(dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { s.Close() }()
		m := &model{chats: map[string]Chat{}, drafts: map[*Draft]string{}}
		t.Repeat(map[string]func(*rapid.T){
			"":       func(t *rapid.T) { m.compare(t, s) },
			"create": func(t *rapid.T) { m.create(t, s) },
			"append": func(t *rapid.T) { m.append(t, s) },
			"rename": func(t *rapid.T) { m.rename(t, s) },
			"delete": func(t *rapid.T) { m.delete(t, s) },
			"draft":  func(t *rapid.T) { m.draft(t, s) },
			"write":  func(t *rapid.T) { m.write(t) },
			"commit": func(t *rapid.T) { m.commit(t) },
			"reopen": func(t *rapid.T) {
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				if s, err = Open(dir, Options{}); err != nil {
					t.Fatal(err)
				}
				m.fold(t, s)
			},
		})
	})
}

// chat draws a chat, one time in ten one that does not exist.
func (m *model) chat(t *rapid.T) string {
	if len(m.chatIDs) == 0 || rapid.IntRange(0, 9).Draw(t, "missing chat") == 0 {
		return "none"
	}
	return rapid.SampledFrom(m.chatIDs).Draw(t, "chat")
}

// parent draws the ID of an entry, mostly one of the chat, or "".
func (m *model) parent(t *rapid.T, chat string) string {
	own := []string{""}
	for _, e := range m.entries {
		if e.Chat == chat || rapid.IntRange(0, 19).Draw(t, "foreign") == 0 {
			own = append(own, e.ID)
		}
	}
	return rapid.SampledFrom(own).Draw(t, "parent")
}

// has reports whether an entry is in a chat; "" always is.
func (m *model) has(chat, id string) bool {
	return id == "" || slices.ContainsFunc(m.entries, func(e Entry) bool { return e.ID == id && e.Chat == chat })
}

// add takes kept entries in.
func (m *model) add(t *rapid.T, move bool, entries ...Entry) {
	for _, e := range entries {
		m.seq++
		if e.Seq != m.seq {
			t.Fatalf("entry has number %d, want %d", e.Seq, m.seq)
		}
		m.entries = append(m.entries, e)
		c := m.chats[e.Chat]
		if move || c.Leaf == e.Parent {
			c.Leaf = e.ID
		}
		if e.At.After(c.Updated) {
			c.Updated = e.At
		}
		m.chats[e.Chat] = c
	}
}

func (m *model) create(t *rapid.T, s *Store) {
	c, err := s.CreateChat(t.Context(), Chat{Title: rapid.String().Draw(t, "title")})
	if err != nil {
		t.Fatal(err)
	}
	m.chats[c.ID] = c
	m.chatIDs = append(m.chatIDs, c.ID)
}

func (m *model) append(t *rapid.T, s *Store) {
	chat := m.chat(t)
	parent := m.parent(t, chat)
	var batch []Entry
	for range rapid.IntRange(1, 3).Draw(t, "entries") {
		e := said(chat, parent, rapid.String().Draw(t, "text"))
		if rapid.Bool().Draw(t, "blob") {
			e.Blobs = []string{fmt.Sprint(rapid.IntRange(0, 5).Draw(t, "hash"))}
		}
		batch, parent = append(batch, e), e.ID
	}
	kept, err := s.Append(t.Context(), batch...)
	_, exists := m.chats[chat]
	if ok := exists && m.has(chat, batch[0].Parent); ok != (err == nil) || !ok && !errors.Is(err, ErrNotFound) {
		t.Fatalf("append: %v", err)
	}
	if err == nil {
		m.add(t, true, kept...)
	}
}

func (m *model) rename(t *rapid.T, s *Store) {
	id := m.chat(t)
	title, leaf := rapid.String().Draw(t, "title"), m.parent(t, id)
	var policy *ChatPolicy
	if rapid.Bool().Draw(t, "policy") {
		policy = &ChatPolicy{Preset: "network", Hosts: []string{title}}
	}
	err := s.UpdateChat(t.Context(), id, func(c *Chat) error {
		c.Title, c.Leaf, c.ID, c.Policy = title, leaf, "ignored", policy
		return nil
	})
	c, exists := m.chats[id]
	if ok := exists && m.has(id, leaf); ok != (err == nil) || !ok && !errors.Is(err, ErrNotFound) {
		t.Fatalf("update: %v", err)
	}
	if err == nil {
		c.Title, c.Leaf, c.Policy = title, leaf, policy
		m.chats[id] = c
	}
}

func (m *model) delete(t *rapid.T, s *Store) {
	id := m.chat(t)
	unused, err := s.DeleteChat(t.Context(), id)
	if _, exists := m.chats[id]; exists != (err == nil) || !exists && !errors.Is(err, ErrNotFound) {
		t.Fatalf("delete: %v", err)
	}
	before := m.blobs()
	delete(m.chats, id)
	m.entries = slices.DeleteFunc(m.entries, func(e Entry) bool { return e.Chat == id })
	for h := range m.blobs() {
		delete(before, h)
	}
	for _, h := range unused {
		if !before[h] {
			t.Fatalf("blob %s is still in use or never was", h)
		}
		delete(before, h)
	}
	if len(before) > 0 {
		t.Fatalf("blobs %v were not returned", before)
	}
}

func (m *model) blobs() map[string]bool {
	used := map[string]bool{}
	for _, e := range m.entries {
		for _, h := range e.Blobs {
			used[h] = true
		}
	}
	return used
}

func (m *model) draft(t *rapid.T, s *Store) {
	chat := m.chat(t)
	parent := m.parent(t, chat)
	d, err := s.Draft(chat, parent)
	_, exists := m.chats[chat]
	if ok := exists && m.has(chat, parent); ok != (err == nil) || !ok && !errors.Is(err, ErrNotFound) {
		t.Fatalf("draft: %v", err)
	}
	if err == nil {
		m.drafts[d] = ""
	}
}

// open draws one of the open drafts, nil if there is none.
func (m *model) open(t *rapid.T) *Draft {
	var open []*Draft
	for d := range m.drafts {
		open = append(open, d)
	}
	if open == nil {
		return nil
	}
	slices.SortFunc(open, func(a, b *Draft) int { return a.header.At.Compare(b.header.At) })
	return rapid.SampledFrom(open).Draw(t, "draft")
}

func (m *model) write(t *rapid.T) {
	if d := m.open(t); d != nil {
		text := rapid.String().Draw(t, "text")
		if err := d.Write(Chunk{TextChunk, text}); err != nil {
			t.Fatal(err)
		}
		m.drafts[d] += text
	}
}

func (m *model) commit(t *rapid.T) {
	d := m.open(t)
	if d == nil {
		return
	}
	if rapid.Bool().Draw(t, "discard") {
		if err := d.Discard(); err != nil {
			t.Fatal(err)
		}
		delete(m.drafts, d)
		return
	}
	e := said("", "", m.drafts[d])
	e.ID = ""
	kept, err := d.Commit(t.Context(), e)
	if _, exists := m.chats[d.header.Chat]; exists != (err == nil) || !exists && !errors.Is(err, ErrNotFound) {
		t.Fatalf("commit: %v", err)
	}
	if err == nil {
		m.add(t, true, kept...)
		delete(m.drafts, d)
	}
}

// fold takes in what an opening made of the drafts.
func (m *model) fold(t *rapid.T, s *Store) {
	want := map[string]string{}
	for d, text := range m.drafts {
		if _, exists := m.chats[d.header.Chat]; exists && text != "" {
			want[d.ID()] = text
		}
	}
	for _, e := range s.Report().Folded {
		if got := texts([]Entry{e})[0]; got != want[e.ID] {
			t.Fatalf("folded %q, want %q", got, want[e.ID])
		}
		delete(want, e.ID)
		m.add(t, false, e)
	}
	if len(want) > 0 {
		t.Fatalf("not folded: %v", want)
	}
	clear(m.drafts)
}

// compare looks at everything.
func (m *model) compare(t *rapid.T, s *Store) {
	chats, err := s.Chats()
	if err != nil {
		t.Fatal(err)
	}
	if len(chats) != len(m.chats) {
		t.Fatalf("%d chats, want %d", len(chats), len(m.chats))
	}
	for i, c := range chats {
		if !cmp.Equal(c, m.chats[c.ID]) {
			t.Fatal(cmp.Diff(m.chats[c.ID], c))
		}
		if i > 0 && c.Updated.After(chats[i-1].Updated) {
			t.Fatalf("chat %d is newer than the one before", i)
		}
	}
	var all []Entry
	for e, err := range s.Since(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	if len(all)+len(m.entries) > 0 && !cmp.Equal(all, m.entries) {
		t.Fatal(cmp.Diff(m.entries, all))
	}
	byID := map[string]Entry{}
	for _, e := range all {
		byID[e.ID] = e
	}
	for _, c := range chats {
		var want []Entry
		for id := c.Leaf; id != ""; id = byID[id].Parent {
			want = append(want, byID[id])
		}
		slices.Reverse(want)
		branch, err := s.Branch(t.Context(), c.ID, "")
		if err != nil {
			t.Fatal(err)
		}
		if len(branch)+len(want) > 0 && !cmp.Equal(branch, want) {
			t.Fatal(cmp.Diff(want, branch))
		}
	}
	used, err := s.UsedBlobs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !cmp.Equal(used, m.blobs()) {
		t.Fatal(cmp.Diff(m.blobs(), used))
	}
}
