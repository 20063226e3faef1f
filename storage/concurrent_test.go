package storage

import (
	"fmt"
	"sync"
	"testing"
)

// Many writers at once lose nothing of one another.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	s := openTest(t, t.TempDir())
	chat := must(s.CreateChat(t.Context(), Chat{}))(t).ID
	const writers, each = 8, 5
	var group sync.WaitGroup
	for range writers {
		group.Go(func() {
			for i := range each {
				if err := s.UpdateChat(t.Context(), chat, func(c *Chat) error { c.Title += "x"; return nil }); err != nil {
					t.Error(err)
				}
				kept, err := s.Append(t.Context(), said(chat, "", fmt.Sprint(i)))
				if err != nil {
					t.Error(err)
					return
				}
				d, err := s.Draft(chat, kept[0].ID)
				if err != nil {
					t.Error(err)
					return
				}
				if err := d.Write(Chunk{TextChunk, "text"}); err != nil {
					t.Error(err)
				}
				if _, err := d.Commit(t.Context(), Entry{Kind: AssistantSaid, Body: []byte(`{"text":"a"}`)}); err != nil {
					t.Error(err)
				}
				if _, err := s.Branch(t.Context(), chat, ""); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if c := must(s.Chat(chat))(t); len(c.Title) != writers*each {
		t.Errorf("%d of %d changes", len(c.Title), writers*each)
	}
	if n := must(s.LastSeq())(t); n != 2*writers*each {
		t.Errorf("%d of %d entries", n, 2*writers*each)
	}
	if left := drafts(t, s); left != nil {
		t.Errorf("left: %v", left)
	}
}
