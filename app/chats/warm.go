package chats

import (
	"context"
	"log/slog"

	"atoll/app/agent"
	"atoll/storage"
)

// warmUp is the reading of a prompt's beginning while the person still types.
// The service's mutex guards it.
type warmUp struct {
	chat   string
	files  []storage.File // attached since the last question, in order
	cancel context.CancelFunc
}

// stop ends the reading; what was read stays with the engine.
func (w *warmUp) stop() {
	if w.cancel != nil {
		w.cancel()
	}
	*w = warmUp{}
}

// expect begins to read what is known of the next question: the chat so far
// and the cards of the files that were attached. On a CPU that is most of the
// time until the first word.
func (s *Service) expect(chat string, v Verdict) {
	if v.Problem != "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done || len(s.turns) > 0 { // the model is needed for an answer
		return
	}
	files := []storage.File{v.File}
	if s.warm.chat == chat {
		files = append(s.warm.files, v.File)
	}
	s.warm.stop()
	ctx, cancel := context.WithCancel(context.Background())
	s.warm = warmUp{chat: chat, files: files, cancel: cancel}
	s.wg.Add(1)
	go func() {
		defer s.wg.Done()
		defer cancel()
		if err := s.read(ctx, chat, files); err != nil && ctx.Err() == nil {
			slog.Info("prompt was not read ahead", "chat", chat, "error", err) // the question will say it
		}
	}()
}

func (s *Service) read(ctx context.Context, chat string, files []storage.File) error {
	c, err := s.Store.Chat(chat)
	if err != nil {
		return err
	}
	branch, err := s.Store.Branch(ctx, c.ID, c.Leaf)
	if err != nil {
		return err
	}
	m, _, err := s.Models.Open(ctx, c.Model)
	if err != nil {
		return err
	}
	_, _, err = m.Generate(ctx, agent.Prefix(branch, files)).Collect()
	return err
}
