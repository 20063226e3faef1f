package storage

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var writeFixture = flag.Bool("write-fixture", false, "write testdata for a new format; old ones are never written again")

// fixtureEntries is what the fixture holds; every kind once.
func fixtureEntries() (Chat, []Entry) {
	at := time.Date(2026, 11, 30, 22, 0, 0, 123456789, time.UTC)
	chat := Chat{ID: "chat-1", Title: "Größe & <Titel>", Created: at, Updated: at.Add(5 * time.Second),
		Leaf: "e6", Model: "local/some", Approve: "auto"}
	bodies := []struct {
		kind Kind
		body any
	}{
		{UserSaid, User{Text: "Plot it", Files: []File{{Name: "a.csv", Path: "/tmp/a.csv", Size: 7, Card: "2 columns"}}}},
		{AssistantSaid, Assistant{Text: "Like so", Calls: []Call{{ID: "c1", Language: "python", Code: "print(1 < 2)"}},
			Model: "m", Harness: "h", Stop: "calls", Usage: Usage{Prompt: 1, Cached: 2, Output: 3, Seconds: 0.5}}},
		{CallDecided, Decision{Call: "c1", Allow: true, By: "person"}},
		{CallEnded, Result{Call: "c1", Status: "error", Outputs: []Output{{Stream: "stdout", Text: "True\n"}},
			Error: &Error{Name: "E", Message: "m", Line: 1, Trace: "t"}, Seconds: 0.1}},
		{Failed, Fault{Code: "x", Title: "T"}},
		{"from the future", map[string]int{"n": 1}},
	}
	var entries []Entry
	for i, b := range bodies {
		body, err := encode(b.body)
		if err != nil {
			panic(err)
		}
		e := Entry{ID: fmt.Sprintf("e%d", i+1), Chat: chat.ID, At: at.Add(time.Duration(i) * time.Second), Kind: b.kind, Body: body}
		if i > 0 {
			e.Parent = entries[i-1].ID
		}
		if b.kind == CallEnded {
			e.Blobs = []string{"ab12"}
		}
		entries = append(entries, e)
	}
	return chat, entries
}

// Stores that earlier formats wrote must open for ever.
func TestReadsEveryFormat(t *testing.T) {
	if *writeFixture {
		createFixture(t, filepath.Join("testdata", fmt.Sprintf("format%d", Format)))
	}
	for format := 1; format <= Format; format++ {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", fmt.Sprintf("format%d", format)))); err != nil {
			t.Fatal(err)
		}
		s := openTest(t, dir)
		chat, want := fixtureEntries()
		for i := range want {
			want[i].Seq = uint64(i + 1)
		}
		folded := s.Report().Folded
		if len(folded) != 1 || answer(t, folded[0]).Text != "half an answ" || folded[0].Parent != "e6" {
			t.Fatalf("format %d: report %+v", format, s.Report())
		}
		chat.Leaf, chat.Updated = folded[0].ID, folded[0].At
		if diff := cmp.Diff([]Chat{chat}, must(s.Chats())(t)); diff != "" {
			t.Errorf("format %d: %s", format, diff)
		}
		if diff := cmp.Diff(append(want, folded[0]), must(s.Branch(t.Context(), chat.ID, ""))(t)); diff != "" {
			t.Errorf("format %d: %s", format, diff)
		}
		if v := must(s.Setting("theme"))(t); string(v) != `"dark"` {
			t.Errorf("format %d: setting %s", format, v)
		}
		if used := must(s.UsedBlobs(t.Context()))(t); !cmp.Equal(used, map[string]bool{"ab12": true}) {
			t.Errorf("format %d: blobs %v", format, used)
		}
	}
}

// createFixture writes a closed store with an open draft.
func createFixture(t *testing.T, dir string) {
	t.Helper()
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	s := openTest(t, dir)
	chat, entries := fixtureEntries()
	fresh := chat
	fresh.Leaf, fresh.Updated = "", time.Time{}
	must(s.CreateChat(t.Context(), fresh))(t)
	must(s.Append(t.Context(), entries...))(t)
	if err := s.SetSetting(t.Context(), "theme", json.RawMessage(`"dark"`)); err != nil {
		t.Fatal(err)
	}
	write(t, must(s.Draft(chat.ID, chat.Leaf))(t), TextChunk, "half ", "an answ")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, lockName)); err != nil {
		t.Fatal(err)
	}
}
