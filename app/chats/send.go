package chats

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"atoll/app/agent"
	"atoll/app/api"
	"atoll/app/approval"
	"atoll/app/boundary"
	"atoll/app/event"
	"atoll/app/fault"
	"atoll/storage"
)

// ErrBusy means the chat still answers the question before.
var ErrBusy = fault.New("chat.busy", "This chat is still answering", "Wait for the answer or stop it, then send again.")

// liveMax bounds what is kept of a running turn for pages that open late.
const liveMax = 512 << 10

// turn is a running answer. mu of the service guards state, live and size.
type turn struct {
	id     string
	cancel context.CancelFunc
	done   chan struct{}
	state  event.Turn
	live   []event.Delta
	size   int
}

// Send is a question with the files that came with it.
type Send struct {
	ID    string         `json:"id"`
	Text  string         `json:"text"`
	Files []storage.File `json:"files,omitempty"` // as chats.attach returned them
}

// Sent names the turn that answers.
type Sent struct {
	Turn string `json:"turn"`
}

// send returns when the prompt is on disk.
func (s *Service) send(ctx context.Context, in Send) (Sent, error) {
	text := strings.TrimSpace(in.Text)
	if text == "" {
		return Sent{}, fmt.Errorf("%w: there is no question", api.ErrInput)
	}
	c, err := s.Store.Chat(in.ID)
	if err != nil {
		return Sent{}, err
	}
	run, cancel := context.WithCancel(context.Background())
	t := &turn{id: uuid.NewString(), cancel: cancel, done: make(chan struct{})}
	t.state = event.Turn{Chat: c.ID, Turn: t.id, Phase: event.Queued}
	s.mu.Lock()
	if s.done || s.turns[c.ID] != nil {
		s.mu.Unlock()
		cancel()
		return Sent{}, ErrBusy
	}
	s.turns[c.ID] = t
	s.wg.Add(1)
	s.warm.stop()
	s.mu.Unlock()

	e, err := s.keepPrompt(ctx, c, text, in.Files)
	if err != nil {
		s.finish(c.ID, t)
		return Sent{}, err
	}
	go func() {
		defer s.finish(c.ID, t)
		s.run(run, c.ID, e.ID, t)
	}()
	return Sent{t.id}, nil
}

// place says what lies in the project's folder, when the model has not been told
// just that.
func (s *Service) place(ctx context.Context, c storage.Chat) string {
	now := boundary.Listing(boundary.Of(c))
	if now == "" {
		return ""
	}
	branch, err := s.Store.Branch(ctx, c.ID, c.Leaf)
	if err != nil {
		return now
	}
	for _, e := range slices.Backward(branch) {
		var u storage.User
		if e.Kind == storage.UserSaid && json.Unmarshal(e.Body, &u) == nil && u.Place != "" {
			if u.Place == now {
				return ""
			}
			break
		}
	}
	return now
}

func (s *Service) keepPrompt(ctx context.Context, c storage.Chat, text string, files []storage.File) (storage.Entry, error) {
	body, err := json.Marshal(storage.User{Text: text, Files: files, Place: s.place(ctx, c)})
	if err != nil {
		return storage.Entry{}, err
	}
	es, err := s.Store.Append(ctx, storage.Entry{Chat: c.ID, Parent: c.Leaf, Kind: storage.UserSaid, Body: body})
	if err != nil {
		return storage.Entry{}, err
	}
	s.Bus.Publish(event.Event{Seq: es[0].Seq, Entry: &es[0]})
	_, err = s.update(ctx, c.ID, func(c *storage.Chat) error {
		if c.Title == "" {
			c.Title = title(text)
		}
		return nil
	})
	return es[0], err
}

// title is the first line of a prompt, cut at a word near 60 characters.
func title(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	line = strings.Join(strings.Fields(line), " ")
	if utf8.RuneCountInString(line) <= 60 {
		return line
	}
	cut := string([]rune(line)[:60])
	if i := strings.LastIndexByte(cut, ' '); i > 30 {
		cut = cut[:i]
	}
	return cut + "…"
}

func (s *Service) run(ctx context.Context, chat, leaf string, t *turn) {
	r := &agent.Runner{Log: s.log(), Gate: s.Gate, Cells: s.Cells, Show: func(e event.Event) { s.show(t, e) }}
	c, err := s.Store.Chat(chat)
	if err != nil {
		return // deleted meanwhile; there is nowhere to say it
	}
	at := agent.Turn{ID: t.id, Chat: chat, Leaf: leaf, Mode: func() string {
		if now, err := s.Store.Chat(chat); err == nil {
			return now.Approve
		}
		return approval.ModeNever // the chat is being deleted
	}, Policy: func() storage.ChatPolicy {
		now, _ := s.Store.Chat(chat) // of a chat that is being deleted: the sealed one
		return boundary.Of(now)
	}}
	at.Model, at.Ref, err = s.Models.Open(ctx, c.Model)
	if err == nil {
		err = r.Run(ctx, at)
	} else {
		err = r.Fail(ctx, at, err)
	}
	if err == nil {
		return
	}
	f := fault.Of(err)
	slog.Info("turn ended without an answer", "chat", chat, "code", f.Code)
	if errors.Is(err, agent.ErrUnkept) {
		s.mu.Lock()
		t.state.Fault = f.Body()
		s.mu.Unlock()
	}
}

// log returns the store as the agent sees it.
func (s *Service) log() agent.Log { return agentLog{s.Store} }

// show keeps what a page that opens later needs, and publishes e.
func (s *Service) show(t *turn, e event.Event) {
	s.mu.Lock()
	switch {
	case e.Turn != nil:
		used, context := t.state.Used, t.state.Context
		t.state = *e.Turn
		if t.state.Used == 0 {
			t.state.Used = used
		}
		if t.state.Context == 0 {
			t.state.Context = context
		}
		state := t.state
		e.Turn = &state
	case e.Delta != nil:
		t.add(*e.Delta)
	case e.Entry != nil:
		t.replaced(*e.Entry)
	}
	s.mu.Unlock()
	s.Bus.Publish(e)
}

func (t *turn) add(d event.Delta) {
	if t.size += len(d.Text) + 64; t.size > liveMax {
		return
	}
	if n := len(t.live); n > 0 && d.Output == nil && t.live[n-1].Kind == d.Kind && t.live[n-1].Call == d.Call {
		t.live[n-1].Text += d.Text
		return
	}
	t.live = append(t.live, d)
}

// replaced drops what an entry now says.
func (t *turn) replaced(e storage.Entry) {
	if e.Kind == storage.AssistantSaid || e.Kind == storage.CallEnded || e.Kind == storage.Failed {
		t.live, t.size = nil, 0
	}
}

// finish ends a turn for all who watch.
func (s *Service) finish(chat string, t *turn) {
	t.cancel()
	s.mu.Lock()
	delete(s.turns, chat)
	t.state.Phase, t.state.Done = event.Ended, 0
	state := t.state
	err := s.sweep(context.Background())
	s.mu.Unlock()
	if err != nil { // it is tried again at the next start
		slog.Warn("remove what deleted chats have left", "error", err)
	}
	s.Bus.Publish(event.Event{Turn: &state})
	close(t.done)
	s.wg.Done()
}

func (s *Service) stop(_ context.Context, in ID) (api.Empty, error) {
	s.halt(in.ID)
	return api.Empty{}, nil
}

// halt stops a chat's turn and waits until it is gone.
func (s *Service) halt(chat string) {
	s.mu.Lock()
	t := s.turns[chat]
	s.mu.Unlock()
	if t != nil {
		t.cancel()
		<-t.done
	}
}

// Answer is a person's decision about a call.
type Answer struct {
	Ask    string `json:"ask"`
	Allow  bool   `json:"allow"`
	Note   string `json:"note,omitempty"`
	Code   string `json:"code,omitempty"`   // the edited version to run instead
	Always bool   `json:"always,omitempty"` // do not ask again in this chat
	// Remember lets the same effects pass without a question.
	Remember *approval.Remember `json:"remember,omitempty"`
}

func (s *Service) answer(ctx context.Context, in Answer) (api.Empty, error) {
	chat, err := s.Gate.Answer(ctx, in.Ask, approval.Answer{Allow: in.Allow, Note: in.Note, Code: in.Code}, in.Remember)
	if err != nil {
		return api.Empty{}, fmt.Errorf("%w: %w", api.ErrInput, err)
	}
	if in.Allow && in.Always {
		_, err = s.update(ctx, chat, func(c *storage.Chat) error { c.Approve = approval.ModeAuto; return nil })
	}
	return api.Empty{}, err
}

// Busy returns how many turns run.
func (s *Service) Busy() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.turns)
}

// Close stops all turns and waits for them, at most as long as ctx lasts.
func (s *Service) Close(ctx context.Context) error {
	s.mu.Lock()
	s.done = true
	s.warm.stop()
	for _, t := range s.turns {
		t.cancel()
	}
	s.mu.Unlock()
	gone := make(chan struct{})
	go func() { s.wg.Wait(); close(gone) }()
	select {
	case <-gone:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stop the running answers: %w", ctx.Err())
	}
}
