// Package cells runs the code of chats: each chat has a workspace and, once
// code ran, a kernel that keeps its variables.
package cells

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"atoll/app/config"
	"atoll/app/fault"
	"atoll/sandbox"
	"atoll/sandbox/kernel"
	"atoll/sandbox/toolchain"
	"atoll/sandbox/workspace"
	"atoll/storage/blob"
)

const (
	timeout = 10 * time.Minute // of one run
	maxIdle = 8                // kernels that stay alive without running
	maxKeep = 512 << 20        // bytes of one file that a run made and that is kept in the store
)

// Deps is what the service is built from.
type Deps struct {
	Home   config.Home
	Runner sandbox.Runner
	Blobs  *blob.Store
	Python Python
}

// Python finds the interpreter and the managed libraries, anew each time a
// kernel starts: they may have been installed meanwhile.
type Python func(context.Context) (toolchain.Interpreter, toolchain.Env, error)

// ErrNoPython means that there is no Python that can be used.
var ErrNoPython = fault.New("python.none", "There is no Python that Atoll can use", "Install Python 3.9 or newer, or set ATOLL_PYTHON to its path.")

// FindPython is the [Python] of the data folder home. To ask an interpreter who
// it is takes up to a second, so one that was found is kept until it is gone.
// Missing libraries are no error: the kernel then has the standard library
// only.
func FindPython(home config.Home) Python {
	var mu sync.Mutex
	var py toolchain.Interpreter // guarded by mu
	return func(ctx context.Context) (toolchain.Interpreter, toolchain.Env, error) {
		mu.Lock()
		defer mu.Unlock()
		if _, err := os.Stat(py.Path); err != nil || !py.OK() {
			py = toolchain.Python(ctx, "")
		}
		if !py.OK() {
			return py, toolchain.Env{}, ErrNoPython.With(py.Problem + " " + py.Fix)
		}
		env, err := toolchain.Find(home.Python(), py)
		if errors.Is(err, toolchain.ErrNotInstalled) {
			err = nil
		}
		return py, env, err
	}
}

// Kernel joins what was found to what a kernel needs.
func Kernel(py toolchain.Interpreter, env toolchain.Env) kernel.Interpreter {
	return kernel.Interpreter{Path: py.Path, Read: py.Prefixes, Site: env.Site, Config: env.Config}
}

// A Service holds the kernels.
type Service struct {
	Deps

	mu    sync.Mutex
	chats map[string]*chat
}

type chat struct {
	mu    sync.Mutex // one run at a time
	ws    *workspace.Workspace
	k     *kernel.Python
	plans *plans
	used  time.Time // guarded by Service.mu
	busy  int       // guarded by Service.mu
}

// New returns a service; Close ends its kernels.
func New(d Deps) *Service { return &Service{Deps: d, chats: map[string]*chat{}} }

// Workspace returns the workspace of a chat; it is made when there is none.
func (s *Service) Workspace(id string) (*workspace.Workspace, error) {
	c, err := s.take(id)
	if err != nil {
		return nil, err
	}
	defer s.give(c)
	return c.ws, nil
}

func (s *Service) take(id string) (*chat, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.chats[id]
	if c == nil {
		ws, err := workspace.Open(s.Home.Chat(id))
		if err != nil {
			return nil, err
		}
		c = &chat{ws: ws, plans: newPlans(s.Home.Chat(id))}
		s.chats[id] = c
	}
	c.busy++
	return c, nil
}

// give lets a chat go; the kernel that was used longest ago is ended when too
// many idle ones hold memory.
func (s *Service) give(c *chat) {
	s.mu.Lock()
	c.busy--
	c.used = time.Now()
	var oldest *chat
	n := 0
	for _, o := range s.chats {
		if o.busy > 0 || o.k == nil {
			continue
		}
		if n++; oldest == nil || o.used.Before(oldest.used) {
			oldest = o
		}
	}
	var end *kernel.Python
	if n > maxIdle {
		end, oldest.k = oldest.k, nil
	}
	s.mu.Unlock()
	if end != nil {
		_ = end.Close() // its variables are gone; the next run says so
	}
}

// session returns the kernel of c, which is held by its lock.
func (s *Service) session(ctx context.Context, id string, c *chat) (*kernel.Python, error) {
	if c.k != nil {
		return c.k, nil
	}
	py, env, err := s.Python(ctx)
	if err != nil {
		return nil, err
	}
	k, err := kernel.New(kernel.Options{
		Runner:      s.Runner,
		Interpreter: Kernel(py, env),
		Dir:         c.ws.Work(),
		Read:        []string{c.ws.Files()},
		LogDir:      filepath.Join(s.Home.Chat(id), "logs"),
		Timeout:     timeout,
		Plans:       c.plans.all,
	})
	if err != nil {
		return nil, fmt.Errorf("start the interpreter: %w", err)
	}
	s.mu.Lock()
	c.k = k
	s.mu.Unlock()
	return k, nil
}

// Forget ends a chat's kernel and removes its workspace. The originals of
// attached files are not touched.
func (s *Service) Forget(id string) error {
	s.mu.Lock()
	c := s.chats[id]
	delete(s.chats, id)
	s.mu.Unlock()
	var err error
	if c != nil {
		if c.k != nil {
			err = c.k.Close()
		}
		err = errors.Join(err, c.ws.Close())
	}
	if id == "" {
		return err
	}
	return errors.Join(err, os.RemoveAll(s.Home.Chat(id)))
}

// Close ends all kernels.
func (s *Service) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, c := range s.chats {
		if c.k != nil {
			errs = append(errs, c.k.Close())
		}
		errs = append(errs, c.ws.Close())
	}
	s.chats = map[string]*chat{}
	return errors.Join(errs...)
}
