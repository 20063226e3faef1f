// Package cells runs the code of chats: each chat has a workspace and, once
// code ran, a kernel that keeps its variables.
package cells

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"atoll/app/boundary"
	"atoll/app/config"
	"atoll/app/fault"
	"atoll/sandbox"
	"atoll/sandbox/kernel"
	"atoll/sandbox/toolchain"
	"atoll/sandbox/workspace"
	"atoll/storage"
	"atoll/storage/blob"
)

const (
	long    = 10 * time.Minute // that a run goes on before a person is asked
	maxIdle = 8                // kernels that stay alive without running
	maxKeep = 512 << 20        // bytes of one file that a run made and that is kept in the store
)

// Deps is what the service is built from.
type Deps struct {
	Home   config.Home
	Runner sandbox.Runner
	Blobs  *blob.Store
	Python Python
	// Policy returns what was chosen about a chat's boundary.
	Policy func(chat string) (storage.ChatPolicy, error)
	Limits sandbox.Limits // of a run and all that it starts; what is zero is the default
	Long   time.Duration  // that a run goes on before it needs to be allowed more; 0: ten minutes
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
	mu sync.Mutex // one run at a time
	ws *workspace.Workspace
	k  *kernel.Python
	// policy is the boundary that k was started under.
	policy storage.ChatPolicy
	hashes map[string]hashed // of the attached files, by name
	list   string            // path of the list of files outside that the chat's code has made
	lost   string            // a sentence for the next result: why variables are gone
	plans  *plans
	longer Longer    // of the run that goes on
	used   time.Time // guarded by Service.mu
	busy   int       // guarded by Service.mu
}

// New returns a service; Close ends its kernels.
func New(d Deps) *Service {
	if d.Long == 0 {
		d.Long = long
	}
	return &Service{Deps: d, chats: map[string]*chat{}}
}

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
		c = &chat{ws: ws, list: filepath.Join(s.Home.Chat(id), "made.json"), plans: newPlans(s.Home.Chat(id))}
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
		oldest.lost = evicted // nobody holds it, so nobody holds its lock
	}
	s.mu.Unlock()
	if end != nil {
		_ = end.Close()
	}
}

// session returns the kernel of c under the boundary that is chosen now, making
// it when there is none; the caller holds c.mu.
func (s *Service) session(ctx context.Context, id string, c *chat) (*kernel.Python, error) {
	p, err := s.Policy(id)
	if err != nil {
		return nil, err
	}
	if c.k != nil && same(p, c.policy) {
		return c.k, nil
	}
	o, err := s.options(ctx, id, c, p)
	if err != nil {
		return nil, err
	}
	if c.k != nil {
		s.end(c)
		c.lost = boundaryChanged
	}
	if err := errors.Join(sandbox.SweepLayers(o.Layers), os.MkdirAll(o.Layers, 0o700)); err != nil {
		return nil, fmt.Errorf("remove what was held back: %w", err)
	}
	if err := c.ws.Link(boundary.ProjectLink, p.Project); err != nil {
		return nil, err
	}
	o.Plans = c.plans.all
	k, err := kernel.New(o)
	if err != nil {
		return nil, fmt.Errorf("start the interpreter: %w", err)
	}
	s.mu.Lock()
	c.k, c.policy = k, p
	s.mu.Unlock()
	return k, nil
}

func same(a, b storage.ChatPolicy) bool {
	return a.Preset == b.Preset && a.Project == b.Project && a.GPU == b.GPU && slices.Equal(a.Hosts, b.Hosts)
}

// end closes the kernel of c.
func (s *Service) end(c *chat) {
	s.mu.Lock()
	k := c.k
	c.k = nil
	s.mu.Unlock()
	if k != nil {
		_ = k.Close() // whoever calls this has the next run say so
	}
}

// Tidy removes what hosts that ended half-way have left of the layers of any
// chat. It is for a start, before code runs.
func (s *Service) Tidy() error {
	dirs, err := os.ReadDir(s.Home.Chats())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove what was held back: %w", err)
	}
	var errs []error
	for _, d := range dirs {
		errs = append(errs, sandbox.SweepLayers(s.layers(d.Name())))
	}
	return errors.Join(errs...)
}

// layers is where the writes of a chat's code are held back.
func (s *Service) layers(id string) string { return filepath.Join(s.Home.Chat(id), "layers") }

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
