package storage

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// streaming returns a store with a chat, a prompt and a draft that follows it.
func streaming(t *testing.T) (*Store, Entry, *Draft) {
	t.Helper()
	s := openTest(t, t.TempDir())
	chat := must(s.CreateChat(t.Context(), Chat{Title: "T"}))(t).ID
	prompt := must(s.Append(t.Context(), said(chat, "", "why?")))(t)[0]
	return s, prompt, must(s.Draft(chat, prompt.ID))(t)
}

func write(t *testing.T, d *Draft, kind ChunkKind, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if err := d.Write(Chunk{kind, text}); err != nil {
			t.Fatal(err)
		}
	}
}

// answer decodes an assistant's entry.
func answer(t *testing.T, e Entry) Assistant {
	t.Helper()
	var a Assistant
	if e.Kind != AssistantSaid {
		t.Fatalf("%+v is no answer", e)
	}
	if err := json.Unmarshal(e.Body, &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// reopen closes a store and opens its folder again.
func reopen(t *testing.T, s *Store) *Store {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return openTest(t, s.dir)
}

func drafts(t *testing.T, s *Store) []string {
	t.Helper()
	return must(filepath.Glob(filepath.Join(s.dir, draftsName, "*")))(t)
}

func TestUncommittedDraftBecomesInterruptedAnswer(t *testing.T) {
	s, prompt, d := streaming(t)
	write(t, d, TextChunk, "Because ", "of 1 < 2", " \xe2\x82") // the last one ends inside a "€"
	write(t, d, CodeChunk, "print(", "1)\n")
	write(t, d, "status", "not part of the answer")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := d.Write(Chunk{TextChunk, "x"}); !errors.Is(err, os.ErrClosed) {
		t.Errorf("write after Close: %v", err)
	}
	if _, err := d.Commit(t.Context(), Entry{Kind: AssistantSaid}); !errors.Is(err, os.ErrClosed) {
		t.Errorf("commit after Close: %v", err)
	}

	s = openTest(t, s.dir)
	branch := must(s.Branch(t.Context(), prompt.Chat, ""))(t)
	if len(branch) != 2 || branch[1].ID != d.ID() {
		t.Fatalf("branch: %+v", branch)
	}
	want := Assistant{Text: "Because of 1 < 2 \uFFFD\n\n```\nprint(1)\n```\n", Interrupted: true}
	if diff := cmp.Diff(want, answer(t, branch[1])); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(s.Report().Folded, branch[1:]); diff != "" {
		t.Error(diff)
	}
	if left := drafts(t, s); left != nil {
		t.Errorf("left: %v", left)
	}
	if n := len(must(reopen(t, s).Branch(t.Context(), prompt.Chat, ""))(t)); n != 2 {
		t.Errorf("%d entries after another opening", n)
	}
}

func TestCommitIsOnce(t *testing.T) {
	s, prompt, d := streaming(t)
	write(t, d, TextChunk, "partial")
	file := must(os.ReadFile(d.path))(t)
	body := json.RawMessage(`{"text":"whole","usage":{"prompt":0,"cached":0,"output":0,"seconds":0}}`)
	entry := Entry{Kind: AssistantSaid, Body: body}
	second := said(prompt.Chat, d.ID(), "next")
	if _, err := d.Commit(t.Context(), second); !errors.Is(err, ErrInvalid) {
		t.Errorf("another ID than the draft's: %v", err)
	}
	if _, err := d.Commit(t.Context(), Entry{Kind: AssistantSaid}); !errors.Is(err, ErrInvalid) {
		t.Errorf("no body: %v", err)
	}
	write(t, d, TextChunk, " more") // a refused commit leaves the draft open
	kept := must(d.Commit(t.Context(), entry, second))(t)
	again := must(d.Commit(t.Context(), entry, second))(t)
	if diff := cmp.Diff(kept, again); diff != "" {
		t.Error(diff)
	}
	if kept[0].ID != d.ID() || kept[0].Parent != prompt.ID || kept[0].Chat != prompt.Chat {
		t.Errorf("kept %+v", kept[0])
	}
	if err := d.Discard(); err != nil {
		t.Error(err)
	}
	if left := drafts(t, s); left != nil {
		t.Errorf("left: %v", left)
	}
	// As if the process had died between the transaction and the removal.
	if err := os.WriteFile(d.path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	s = reopen(t, s)
	if got := texts(must(s.Branch(t.Context(), prompt.Chat, ""))(t)); !cmp.Equal(got, []string{"why?", "whole", "next"}) {
		t.Errorf("branch: %v", got)
	}
	if left := drafts(t, s); left != nil || s.Report().Folded != nil {
		t.Errorf("left: %v, report %+v", left, s.Report())
	}
}

func TestDraftsThatLeaveNoEntry(t *testing.T) {
	s, prompt, discarded := streaming(t)
	write(t, discarded, TextChunk, "unwanted")
	if err := discarded.Discard(); err != nil {
		t.Fatal(err)
	}
	must(s.Draft(prompt.Chat, prompt.ID))(t) // nothing was written to it
	doomed := must(s.CreateChat(t.Context(), Chat{}))(t).ID
	write(t, must(s.Draft(doomed, ""))(t), TextChunk, "of a deleted chat")
	must(s.DeleteChat(t.Context(), doomed))(t)
	s = reopen(t, s)
	if got := texts(must(s.Branch(t.Context(), prompt.Chat, ""))(t)); !cmp.Equal(got, []string{"why?"}) {
		t.Errorf("branch: %v", got)
	}
	if chats := must(s.Chats())(t); len(chats) != 1 {
		t.Errorf("chats: %+v", chats)
	}
	if left := drafts(t, s); left != nil || s.Report().Folded != nil || s.Report().SetAside != nil {
		t.Errorf("left: %v, report %+v", left, s.Report())
	}
}

func TestFoldDoesNotMoveALeafElsewhere(t *testing.T) {
	s, prompt, d := streaming(t)
	write(t, d, TextChunk, "background")
	other := must(s.Append(t.Context(), said(prompt.Chat, "", "another branch")))(t)[0]
	s = reopen(t, s)
	if c := must(s.Chat(prompt.Chat))(t); c.Leaf != other.ID {
		t.Errorf("leaf moved to %s", c.Leaf)
	}
	if got := texts(must(s.Branch(t.Context(), prompt.Chat, d.ID()))(t)); !cmp.Equal(got, []string{"why?", "background"}) {
		t.Errorf("branch: %v", got)
	}
}

func TestLongChunks(t *testing.T) {
	s, prompt, d := streaming(t)
	long := strings.Repeat("0123456789abcdef", 3*maxFrame/16)
	write(t, d, TextChunk, long, "", "end")
	s = reopen(t, s)
	if got := answer(t, must(s.Branch(t.Context(), prompt.Chat, ""))(t)[1]).Text; got != long+"end" {
		t.Errorf("%d of %d bytes", len(got), len(long)+3)
	}
}

// Streamed text is synced in time, and nothing runs while nothing streams. The
// clock is synctest's, so that the machine's load does not matter.
func TestDraftIsSyncedInTime(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var synced []time.Duration
		start := time.Now()
		s, err := Open(dir, Options{fault: func(point string) {
			if point == "synced" {
				synced = append(synced, time.Since(start))
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		chat := must(s.CreateChat(t.Context(), Chat{}))(t).ID
		d := must(s.Draft(chat, ""))(t)
		for range 300 { // three seconds of streaming
			write(t, d, TextChunk, "x")
			<-time.After(10 * time.Millisecond)
		}
		<-time.After(time.Hour)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		last := time.Duration(0)
		for _, at := range synced {
			if at-last > time.Second {
				t.Errorf("no sync between %s and %s", last, at)
			}
			last = at
		}
		if n := len(synced); n < 3 || n > 8 || last < 2990*time.Millisecond || last > 4*time.Second {
			t.Errorf("synced at %v", synced)
		}
	})
}
