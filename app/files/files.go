// Package files attaches what people drop: the original is referred to, never
// changed, and a card tells the model what is in it.
package files

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"atoll/app/api"
	"atoll/sandbox"
	"atoll/sandbox/preview"
	"atoll/sandbox/workspace"
	"atoll/storage"
)

// cardBudget bounds a card in bytes. On a CPU 1,000 bytes take some 15 seconds
// to read, once for each chat.
const cardBudget = 2200

// Workspaces returns the workspace of a chat.
type Workspaces interface {
	Workspace(chat string) (*workspace.Workspace, error)
	// SetPlan notes how the programs of a chat load a file: JSON of preview.Plan.
	SetPlan(chat, name string, plan json.RawMessage) error
}

// A Service attaches files.
type Service struct {
	Workspaces Workspaces
	Runner     sandbox.Runner
	Preview    []string // command line of the preview worker
	// Dropped is where content is kept that has no path of its own.
	Dropped func(chat string) string
}

// Attach attaches the file at path to a chat and describes it. The error is a
// sentence for the person: missing, a folder, unreadable.
func (s *Service) Attach(ctx context.Context, chat, path string) (storage.File, error) {
	if !filepath.IsAbs(path) {
		return storage.File{}, fmt.Errorf("%w: %q is not a full path", api.ErrInput, path)
	}
	ws, err := s.Workspaces.Workspace(chat)
	if err != nil {
		return storage.File{}, err
	}
	name, err := ws.Attach(path)
	if err != nil {
		return storage.File{}, err
	}
	f := storage.File{Name: name, Path: path}
	if st, err := os.Stat(path); err == nil {
		f.Size = st.Size()
	}
	card, err := preview.Of(ctx, s.Runner, s.Preview, path)
	if err != nil {
		return storage.File{}, err
	}
	card = card.WithName(name)
	plan, err := card.Plan().JSON()
	if err == nil {
		err = s.Workspaces.SetPlan(chat, name, plan)
	}
	if err != nil {
		return storage.File{}, fmt.Errorf("describe %s: %w", name, err)
	}
	f.Card = card.Prompt(cardBudget)
	f.Summary = card.Summary()
	return f, nil
}

// Keep stores content from a page under name and attaches it.
func (s *Service) Keep(ctx context.Context, chat, name string, r io.Reader) (storage.File, error) {
	name = filepath.Base(filepath.Clean(strings.ReplaceAll(name, `\`, "/")))
	if name == "" || name == "." || name == ".." || name == "/" {
		return storage.File{}, fmt.Errorf("%w: the file has no name", api.ErrInput)
	}
	dir := s.Dropped(chat)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return storage.File{}, fmt.Errorf("keep %s: %w", name, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return storage.File{}, fmt.Errorf("keep %s: %w", name, err)
	}
	defer root.Close()
	f, free, err := Create(root, name, 0o600)
	if err != nil {
		return storage.File{}, fmt.Errorf("keep %s: %w", name, err)
	}
	path := filepath.Join(dir, free)
	_, err = io.Copy(f, r)
	if err = errors.Join(err, f.Close()); err != nil {
		return storage.File{}, errors.Join(fmt.Errorf("keep %s: %w", name, err), os.Remove(path))
	}
	kept, err := s.Attach(ctx, chat, path)
	kept.Path = "" // the person never saw it
	return kept, err
}

// Create makes a new file in root; a name that is taken gets a number. It
// returns the name that the file has now.
func Create(root *os.Root, name string, perm os.FileMode) (*os.File, string, error) {
	ext := filepath.Ext(name)
	for i := 1; ; i++ {
		n := name
		if i > 1 {
			n = fmt.Sprintf("%s (%d)%s", strings.TrimSuffix(name, ext), i, ext)
		}
		f, err := root.OpenFile(n, os.O_CREATE|os.O_EXCL|os.O_WRONLY, perm)
		if !errors.Is(err, os.ErrExist) || i > 1000 {
			return f, n, err
		}
	}
}
