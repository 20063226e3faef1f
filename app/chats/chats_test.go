package chats_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"atoll/app/agent"
	"atoll/app/api"
	"atoll/app/approval"
	"atoll/app/boundary"
	"atoll/app/chats"
	"atoll/app/event"
	"atoll/llm"
	"atoll/storage"
)

// world is the service on a real store; model, cells and files are made up.
type world struct {
	t     *testing.T
	table api.Table
	store *storage.Store
	svc   *chats.Service

	asked    chan *llm.Request // every request that reaches the model
	answer   chan string       // what it says; a closed channel ends it
	stopped  chan struct{}     // a request was cancelled
	forgot   []string
	renewed  []string
	dropped  []string
	openFail error
}

func open(t *testing.T, dir string) *world {
	t.Helper()
	store, err := storage.Open(dir, storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, store: store, asked: make(chan *llm.Request, 8), answer: make(chan string, 8), stopped: make(chan struct{}, 8)}
	bus := event.NewBus(store)
	w.svc = chats.New(chats.Deps{Store: store, Bus: bus, Gate: approval.NewGate(bus, approval.NewGrants(store)), Models: w, Cells: w, Files: w, Drop: func(hs []string) { w.dropped = append(w.dropped, hs...) }})
	w.svc.Register(&w.table)
	t.Cleanup(func() {
		if err := errors.Join(w.svc.Close(context.Background()), store.Close()); err != nil {
			t.Error(err)
		}
	})
	return w
}

func (w *world) Open(context.Context, string) (llm.Model, string, error) {
	return w, "test/model", w.openFail
}
func (w *world) Info() llm.Info                                   { return llm.Info{Harness: "test"} }
func (w *world) Count(context.Context, *llm.Request) (int, error) { return 0, nil }
func (w *world) Generate(ctx context.Context, r *llm.Request) llm.Stream {
	return func(yield func(llm.Delta, error) bool) {
		w.asked <- r
		for {
			select {
			case <-ctx.Done():
				w.stopped <- struct{}{}
				yield(llm.Delta{}, ctx.Err())
				return
			case s, ok := <-w.answer:
				if !ok || s == "" {
					yield(llm.Delta{Done: &llm.Done{Stop: llm.StopEnd}}, nil)
					return
				}
				if !yield(llm.Delta{Text: s}, nil) {
					return
				}
			}
		}
	}
}
func (w *world) Run(context.Context, string, storage.Call, func(storage.Output), agent.Longer) (storage.Result, error) {
	return storage.Result{}, errors.New("no code in these tests")
}
func (w *world) CanTry(context.Context, string) bool { return false }
func (w *world) Try(context.Context, string, storage.Call, func(storage.Output), agent.Longer) (agent.Trial, storage.Result, error) {
	return nil, storage.Result{}, errors.New("no code in these tests")
}
func (w *world) Boundary(_ context.Context, _ string, p storage.ChatPolicy) (boundary.View, error) {
	return boundary.View{Policy: p}, nil
}
func (w *world) Renew(chat string, _ storage.ChatPolicy) bool {
	w.renewed = append(w.renewed, chat)
	return true
}
func (w *world) Forget(chat string) error { w.forgot = append(w.forgot, chat); return nil }
func (w *world) Attach(_ context.Context, _, path string) (storage.File, error) {
	if strings.Contains(path, "missing") {
		return storage.File{}, errors.New("there is no file " + path)
	}
	return storage.File{Name: filepath.Base(path), Path: path, Card: "Card of " + filepath.Base(path)}, nil
}
func (w *world) Keep(ctx context.Context, chat, name string, _ io.Reader) (storage.File, error) {
	return w.Attach(ctx, chat, name)
}

func do[Out any](w *world, method string, in any) (out Out, err error) {
	w.t.Helper()
	b, err := json.Marshal(in)
	if err != nil {
		w.t.Fatal(err)
	}
	got, err := w.table.Call(w.t.Context(), method, b)
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(got, &out); err != nil {
		w.t.Fatal(err)
	}
	return out, nil
}

func must[Out any](w *world, method string, in any) Out {
	w.t.Helper()
	out, err := do[Out](w, method, in)
	if err != nil {
		w.t.Fatalf("%s: %v", method, err)
	}
	return out
}

func (w *world) kinds(chat string) (kinds []string) {
	v := must[chats.View](w, "chats.get", chats.ID{ID: chat})
	for _, e := range v.Entries {
		kinds = append(kinds, string(e.Kind))
	}
	return kinds
}

func TestPromptIsKeptBeforeTheModelIsAsked(t *testing.T) {
	w := open(t, t.TempDir())
	c := must[storage.Chat](w, "chats.create", chats.Create{})
	must[chats.Sent](w, "chats.send", chats.Send{ID: c.ID, Text: "  Hello there,\nhow are you?  "})
	<-w.asked // the model has the prompt; it has said nothing
	if got := w.kinds(c.ID); fmt.Sprint(got) != "[user]" {
		t.Errorf("entries while the model thinks: %v", got)
	}
	if now := must[chats.View](w, "chats.get", chats.ID{ID: c.ID}); now.Chat.Title != "Hello there," || now.Turn == nil {
		t.Errorf("title %q, turn %v", now.Chat.Title, now.Turn)
	}
	if _, err := do[chats.Sent](w, "chats.send", chats.Send{ID: c.ID, Text: "again"}); !errors.Is(err, chats.ErrBusy) {
		t.Errorf("a second question at the same time: %v", err)
	}
	must[api.Empty](w, "chats.stop", chats.ID{ID: c.ID})
	if got := w.kinds(c.ID); fmt.Sprint(got) != "[user fault]" {
		t.Errorf("entries after the stop: %v", got)
	}
	w.answer <- "Fine."
	w.answer <- ""
	must[chats.Sent](w, "chats.send", chats.Send{ID: c.ID, Text: "hello again"})
	<-w.asked
	for w.svc.Busy() > 0 { // ends with the answer
		runtime.Gosched()
	}
	if got := w.kinds(c.ID); fmt.Sprint(got) != "[user fault user assistant]" {
		t.Errorf("entries: %v", got)
	}
}

func TestRefusals(t *testing.T) {
	w := open(t, t.TempDir())
	c := must[storage.Chat](w, "chats.create", chats.Create{})
	for name, call := range map[string]func() error{
		"empty question": func() error { _, err := do[chats.Sent](w, "chats.send", chats.Send{ID: c.ID, Text: " \n"}); return err },
		"unknown chat":   func() error { _, err := do[chats.Sent](w, "chats.send", chats.Send{ID: "none", Text: "x"}); return err },
		"unknown mode": func() error {
			_, err := do[storage.Chat](w, "chats.create", chats.Create{Approve: "maybe"})
			return err
		},
		"empty title": func() error { _, err := do[storage.Chat](w, "chats.rename", chats.Rename{ID: c.ID}); return err },
		"unknown ask": func() error { _, err := do[api.Empty](w, "chats.answer", chats.Answer{Ask: "none"}); return err },
	} {
		if call() == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	got := must[chats.Attached](w, "chats.attach", chats.Attach{ID: c.ID, Paths: []string{"/missing.csv", "/there.csv"}})
	if got.Files[0].Problem == "" || got.Files[1].Problem != "" {
		t.Errorf("verdicts %+v", got.Files)
	}
	if got := w.kinds(c.ID); len(got) != 0 {
		t.Errorf("refused requests left %v", got)
	}
}

func TestPromptIsReadAhead(t *testing.T) {
	w := open(t, t.TempDir())
	c := must[storage.Chat](w, "chats.create", chats.Create{})
	must[chats.Attached](w, "chats.attach", chats.Attach{ID: c.ID, Paths: []string{"/a.csv"}})
	ahead := <-w.asked
	sent := must[chats.Sent](w, "chats.send", chats.Send{ID: c.ID, Text: "sum of a?", Files: []storage.File{{Name: "a.csv", Card: "Card of a.csv"}}})
	<-w.stopped // the question has priority
	real := <-w.asked
	if sent.Turn == "" || ahead.MaxTokens != 1 {
		t.Errorf("turn %q, %d tokens read ahead", sent.Turn, ahead.MaxTokens)
	}
	if p := ahead.Messages[0].Text; p == "" || !strings.HasPrefix(real.Messages[0].Text, p) {
		t.Errorf("%q was read ahead, the question is %q", p, real.Messages[0].Text)
	}
}

func TestDeleteRemovesEverything(t *testing.T) {
	w := open(t, t.TempDir())
	c := must[storage.Chat](w, "chats.create", chats.Create{})
	must[chats.Sent](w, "chats.send", chats.Send{ID: c.ID, Text: "hello"})
	<-w.asked
	must[api.Empty](w, "chats.delete", chats.ID{ID: c.ID}) // while it answers
	if l := must[chats.List](w, "chats.list", api.Empty{}); len(l.Chats) != 0 || fmt.Sprint(w.forgot) != "["+c.ID+"]" {
		t.Errorf("left %v, workspaces forgotten %v", l.Chats, w.forgot)
	}
}

// TestRecover opens a store that a host was killed over.
func TestRecover(t *testing.T) {
	dir := t.TempDir()
	store, err := storage.Open(dir, storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	chat, err := store.CreateChat(t.Context(), storage.Chat{Approve: "ask"})
	if err != nil {
		t.Fatal(err)
	}
	parent := ""
	for _, e := range []struct {
		kind storage.Kind
		body any
	}{
		{storage.UserSaid, storage.User{Text: "x"}},
		{storage.AssistantSaid, storage.Assistant{Calls: []storage.Call{{ID: "1", Code: "a"}, {ID: "2", Code: "b"}}}},
		{storage.CallEnded, storage.Result{Call: "1", Status: "ok"}},
	} {
		b, _ := json.Marshal(e.body)
		es, err := store.Append(t.Context(), storage.Entry{Chat: chat.ID, Parent: parent, Kind: e.kind, Body: b})
		if err != nil {
			t.Fatal(err)
		}
		parent = es[0].ID
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time there is nothing to do
		w := open(t, dir)
		if err := w.svc.Recover(t.Context()); err != nil {
			t.Fatal(err)
		}
		v := must[chats.View](w, "chats.get", chats.ID{ID: chat.ID})
		var lost storage.Result
		if len(v.Entries) != 5 || json.Unmarshal(v.Entries[3].Body, &lost) != nil || lost.Call != "2" || lost.Status != "lost" || v.Entries[4].Kind != storage.Failed {
			t.Errorf("entries %+v", v.Entries)
		}
		if err := errors.Join(w.svc.Close(t.Context()), w.store.Close()); err != nil {
			t.Fatal(err)
		}
	}
}
