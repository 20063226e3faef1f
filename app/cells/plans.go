package cells

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// plansFile holds how to load the files of a chat, beside its workspace, where
// no program of the chat can write.
const plansFile = "plans.json"

// maxPlans bounds the bytes of plansFile.
const maxPlans = 8 << 20

// plans is how to load the files of one chat.
type plans struct {
	path string
	mu   sync.Mutex
	read bool                       // guarded by mu: the file was read
	by   map[string]json.RawMessage // guarded by mu: by name of the file
	list []json.RawMessage          // guarded by mu: the same, for the kernel
}

// SetPlan notes how load() is to read a file of a chat: JSON of preview.Plan.
// It is kept for later starts of the program.
func (s *Service) SetPlan(id, name string, plan json.RawMessage) error {
	c, err := s.take(id)
	if err != nil {
		return err
	}
	defer s.give(c)
	return c.plans.set(name, plan)
}

func (p *plans) set(name string, plan json.RawMessage) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open()
	p.by[name] = plan
	p.list = append(p.list[:len(p.list):len(p.list)], plan) // the last of a name counts
	b, err := json.Marshal(p.by)
	if err != nil || len(b) > maxPlans {
		return errors.Join(err, fmt.Errorf("keep plan of %s: %d bytes of plans", name, len(b)))
	}
	tmp := p.path + ".new"
	if err := os.WriteFile(tmp, b, 0o600); err != nil {
		return fmt.Errorf("keep plan of %s: %w", name, err)
	}
	if err := os.Rename(tmp, p.path); err != nil {
		return fmt.Errorf("keep plan of %s: %w", name, err)
	}
	return nil
}

// open reads the file once. A damaged one is no loss: load() then guesses.
func (p *plans) open() {
	if p.read {
		return
	}
	p.read, p.by = true, map[string]json.RawMessage{}
	if st, err := os.Stat(p.path); err != nil || st.Size() > maxPlans {
		return
	}
	b, err := os.ReadFile(p.path)
	if err != nil || json.Unmarshal(b, &p.by) != nil || p.by == nil {
		p.by = map[string]json.RawMessage{}
	}
	for _, plan := range p.by {
		p.list = append(p.list, plan)
	}
}

// all is what the kernel asks before each run.
func (p *plans) all() []json.RawMessage {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open()
	return p.list
}

func newPlans(dir string) *plans { return &plans{path: filepath.Join(dir, plansFile)} }
