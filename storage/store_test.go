package storage

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// openTest opens a store that the test closes.
func openTest(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// must fails the test on an error.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// said returns a user entry.
func said(chat, parent, text string) Entry {
	body, err := json.Marshal(User{Text: text})
	if err != nil {
		panic(err)
	}
	return Entry{ID: NewID(), Chat: chat, Parent: parent, Kind: UserSaid, Body: body}
}

// texts returns the text of each entry's body.
func texts(entries []Entry) []string {
	var all []string
	for _, e := range entries {
		var u User
		if e.Kind == Damaged {
			u.Text = "<damaged>"
		} else if err := json.Unmarshal(e.Body, &u); err != nil {
			u.Text = err.Error()
		}
		all = append(all, u.Text)
	}
	return all
}

func TestKeepsAcrossOpenings(t *testing.T) {
	dir := t.TempDir()
	s := openTest(t, dir)
	chat := must(s.CreateChat(t.Context(), Chat{Title: "Sales <b>", Model: "local/x", Approve: "ask"}))(t)
	a, b := said(chat.ID, "", "one & <two>"), said(chat.ID, "", "three")
	b.Parent, b.Blobs = a.ID, []string{"aa"}
	kept := must(s.Append(t.Context(), a, b))(t)
	if err := s.SetSetting(t.Context(), "theme", json.RawMessage(`{"dark":true}`)); err != nil {
		t.Fatal(err)
	}
	chat = must(s.Chat(chat.ID))(t)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Chats(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}

	s = openTest(t, dir)
	if r := s.Report(); r.Unclean || r.OneMeta || r.Folded != nil {
		t.Errorf("clean exit reported as %+v", r)
	}
	if diff := cmp.Diff(kept, must(s.Branch(t.Context(), chat.ID, ""))(t)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Chat{chat}, must(s.Chats())(t)); diff != "" {
		t.Error(diff)
	}
	if chat.Leaf != b.ID || !chat.Updated.Equal(kept[1].At) || kept[0].Seq != 1 || kept[1].Seq != 2 {
		t.Errorf("head %+v, entries %+v", chat, kept)
	}
	if v := must(s.Setting("theme"))(t); string(v) != `{"dark":true}` {
		t.Errorf("setting: %s", v)
	}
	if got := must(s.Entry(b.ID))(t); !cmp.Equal(got, kept[1]) {
		t.Error(cmp.Diff(got, kept[1]))
	}
}

func TestBranches(t *testing.T) {
	s := openTest(t, t.TempDir())
	chat := must(s.CreateChat(t.Context(), Chat{}))(t).ID
	a := said(chat, "", "a")
	b := said(chat, a.ID, "b")
	b2 := said(chat, a.ID, "b2")
	r := said(chat, "", "second root")
	must(s.Append(t.Context(), a, b, b2, r))(t)
	for leaf, want := range map[string][]string{
		"": {"second root"}, b.ID: {"a", "b"}, b2.ID: {"a", "b2"}, a.ID: {"a"},
	} {
		if diff := cmp.Diff(want, texts(must(s.Branch(t.Context(), chat, leaf))(t))); diff != "" {
			t.Error(diff)
		}
	}
	err := s.UpdateChat(t.Context(), chat, func(c *Chat) error { c.Leaf = b.ID; c.Title = "T"; return nil })
	if err != nil {
		t.Fatal(err)
	}
	if got := texts(must(s.Branch(t.Context(), chat, ""))(t)); !cmp.Equal(got, []string{"a", "b"}) {
		t.Errorf("leaf was not moved: %v", got)
	}
	var seqs []uint64
	for e, err := range s.Since(t.Context(), 2) {
		if err != nil {
			t.Fatal(err)
		}
		// A write inside the loop would hang if a transaction were open here
		// while the database grows.
		if e.Seq == 3 {
			big := said(chat, a.ID, strings.Repeat("x", 1<<20))
			must(s.Append(t.Context(), big))(t)
		}
		seqs = append(seqs, e.Seq)
	}
	if want := []uint64{3, 4, 5}; !cmp.Equal(seqs, want) && !cmp.Equal(seqs, want[:2]) {
		t.Errorf("since 2: %v", seqs)
	}
}

func TestRefusals(t *testing.T) {
	s := openTest(t, t.TempDir())
	chat := must(s.CreateChat(t.Context(), Chat{}))(t).ID
	other := must(s.CreateChat(t.Context(), Chat{}))(t).ID
	good := must(s.Append(t.Context(), said(chat, "", "x")))(t)[0]
	foreign := must(s.Append(t.Context(), said(other, "", "y")))(t)[0]
	with := func(change func(*Entry)) Entry {
		e := said(chat, good.ID, "z")
		change(&e)
		return e
	}
	for name, row := range map[string]struct {
		entry Entry
		want  error
	}{
		"no chat":             {with(func(e *Entry) { e.Chat = "nope" }), ErrNotFound},
		"no parent":           {with(func(e *Entry) { e.Parent = "nope" }), ErrNotFound},
		"parent elsewhere":    {with(func(e *Entry) { e.Parent = foreign.ID }), ErrNotFound},
		"taken ID":            {with(func(e *Entry) { e.ID = good.ID }), ErrInvalid},
		"ID with NUL":         {with(func(e *Entry) { e.ID = "a\x00b" }), ErrInvalid},
		"long ID":             {with(func(e *Entry) { e.ID = strings.Repeat("x", 300) }), ErrInvalid},
		"blob with NUL":       {with(func(e *Entry) { e.Blobs = []string{"a\x00b"} }), ErrInvalid},
		"no kind":             {with(func(e *Entry) { e.Kind = "" }), ErrInvalid},
		"kind damaged":        {with(func(e *Entry) { e.Kind = Damaged }), ErrInvalid},
		"no body":             {with(func(e *Entry) { e.Body = nil }), ErrInvalid},
		"body is not JSON":    {with(func(e *Entry) { e.Body = json.RawMessage("{") }), ErrInvalid},
		"body is far too big": {with(func(e *Entry) { e.Body = make([]byte, MaxBody+1) }), ErrInvalid},
	} {
		first := said(chat, good.ID, "must not be kept alone")
		if _, err := s.Append(t.Context(), first, row.entry); !errors.Is(err, row.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := must(s.LastSeq())(t); n != 2 {
		t.Errorf("refused entries used up numbers: %d", n)
	}
	must(s.Append(t.Context(), with(func(*Entry) {})))(t) // the control
	if _, err := s.Branch(t.Context(), chat, foreign.ID); !errors.Is(err, ErrNotFound) {
		t.Errorf("branch with a foreign leaf: %v", err)
	}
	if err := s.UpdateChat(t.Context(), chat, func(c *Chat) error { c.Leaf = foreign.ID; return nil }); !errors.Is(err, ErrNotFound) {
		t.Errorf("foreign leaf: %v", err)
	}
	mine := errors.New("mine")
	if err := s.UpdateChat(t.Context(), chat, func(*Chat) error { return mine }); err != mine {
		t.Errorf("error of the change: %v", err)
	}
	if _, err := s.CreateChat(t.Context(), Chat{ID: chat}); !errors.Is(err, ErrInvalid) {
		t.Errorf("same chat twice: %v", err)
	}
	for name, err := range map[string]error{
		"Chat":       second(s.Chat("nope")),
		"DeleteChat": second(s.DeleteChat(t.Context(), "nope")),
		"UpdateChat": s.UpdateChat(t.Context(), "nope", func(*Chat) error { return nil }),
		"Entry":      second(s.Entry("nope")),
		"Setting":    second(s.Setting("nope")),
		"Draft":      second(s.Draft("nope", "")),
		"Draft2":     second(s.Draft(chat, foreign.ID)),
	} {
		if !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestDeleteChatKeepsSharedBlobs(t *testing.T) {
	s := openTest(t, t.TempDir())
	one := must(s.CreateChat(t.Context(), Chat{}))(t).ID
	two := must(s.CreateChat(t.Context(), Chat{}))(t).ID
	a, b, c := said(one, "", "a"), said(one, "", "b"), said(two, "", "c")
	a.Blobs, b.Blobs, c.Blobs = []string{"only", "shared"}, []string{"only"}, []string{"shared", "other"}
	must(s.Append(t.Context(), a, b, c))(t)
	unused := must(s.DeleteChat(t.Context(), one))(t)
	if !cmp.Equal(unused, []string{"only"}) {
		t.Errorf("unused: %v", unused)
	}
	used := must(s.UsedBlobs(t.Context()))(t)
	if !cmp.Equal(used, map[string]bool{"shared": true, "other": true}) {
		t.Errorf("used: %v", used)
	}
	if err := second(s.Entry(a.ID)); !errors.Is(err, ErrNotFound) {
		t.Errorf("entry of a deleted chat: %v", err)
	}
	if got := texts(must(s.Branch(t.Context(), two, ""))(t)); !cmp.Equal(got, []string{"c"}) {
		t.Errorf("other chat: %v", got)
	}
	if e := must(s.Append(t.Context(), said(two, "", "d")))(t)[0]; e.Seq != 4 {
		t.Errorf("a number was used again: %d", e.Seq)
	}
}

func TestLockNamesTheHolder(t *testing.T) {
	dir := t.TempDir()
	s := openTest(t, dir)
	_, err := Open(dir, Options{Wait: time.Millisecond})
	if !errors.Is(err, ErrLocked) {
		t.Fatalf("second opening: %v", err)
	}
	if text := err.Error(); !strings.Contains(text, dir) || !strings.Contains(text, fmt.Sprint(os.Getpid())) {
		t.Errorf("text does not name folder and process: %s", text)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, ownerName)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("owner file after Close: %v", err)
	}
	openTest(t, dir) // the control: free again
}
