package cells

import (
	"context"
	"path/filepath"
	"time"

	"atoll/app/boundary"
	"atoll/sandbox/kernel"
	"atoll/storage"
)

// options is how the kernel of a chat runs under p.
func (s *Service) options(ctx context.Context, id string, c *chat, p storage.ChatPolicy) (kernel.Options, error) {
	py, env, err := s.Python(ctx)
	if err != nil {
		return kernel.Options{}, err
	}
	o := kernel.Options{
		Runner:      s.Runner,
		Interpreter: Kernel(py, env),
		Dir:         c.ws.Work(),
		Read:        []string{c.ws.Files()},
		LogDir:      filepath.Join(s.Home.Chat(id), "logs"),
		Limits:      s.Limits,
		Timeout:     s.Long,
		// The kernel asks during a run only, and whoever runs holds c.mu.
		Overtime: func(ctx context.Context, ran time.Duration) bool { return c.longer != nil && c.longer(ctx, ran) },
	}
	boundary.Apply(p, &o, s.layers(id), s.Runner.Level(ctx))
	return o, nil
}

// Boundary describes what code of a chat may do when it is run under p. With an
// empty id it is that of a chat which does not exist yet. Error: ErrNoPython.
func (s *Service) Boundary(ctx context.Context, id string, p storage.ChatPolicy) (boundary.View, error) {
	py, env, err := s.Python(ctx)
	if err != nil {
		return boundary.View{}, err
	}
	dir := s.Home.Chat(id)
	if id == "" {
		dir = s.Home.Chat("new")
	}
	files := filepath.Join(dir, "files")
	o := kernel.Options{
		Interpreter: Kernel(py, env), Dir: filepath.Join(dir, "work"), Read: []string{files}, Limits: s.Limits, Timeout: s.Long,
	}
	level := s.Runner.Level(ctx)
	boundary.Apply(p, &o, filepath.Join(dir, "layers"), level)
	return boundary.NewView(p, o, files, level), nil
}

// Renew ends the interpreter of a chat that runs under another boundary than p,
// at once, or after what runs in it now. It reports whether variables are lost.
func (s *Service) Renew(id string, p storage.ChatPolicy) bool {
	s.mu.Lock()
	c := s.chats[id]
	other := c != nil && c.k != nil && !same(p, c.policy)
	s.mu.Unlock()
	if !other {
		return false
	}
	if c.mu.TryLock() { // else session sees it before the next run
		s.end(c)
		c.lost = boundaryChanged
		c.mu.Unlock()
	}
	return true
}

const (
	evicted         = "Python was ended to make room for other chats. Variables and imports of earlier runs are lost; it was started anew."
	boundaryChanged = "The boundary of this chat was changed. Variables and imports of earlier runs are lost; Python was started anew."
)
