// Package local offers the models on this machine: files from a shelf, run by
// the inference engine, one in memory at a time.
package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"atoll/llm"
	"atoll/llm/engine"
	"atoll/llm/harness"
)

// ID is the provider's part of a [llm.Ref].
const ID = "local"

// A File is a model file that can be opened.
type File struct {
	Name    string // the provider's name of the model, after the slash of a Ref
	Title   string // for people; "" takes Name
	Path    string
	Size    int64  // bytes
	Context int    // tokens it was trained for, 0 if not known before loading
	Problem string // a sentence why it cannot be used; "" when it can
}

// A Shelf knows the model files. It is asked anew each time, as files come and
// go while the program runs.
type Shelf interface {
	// List returns all files, those with a problem too.
	List() ([]File, error)
	// Find returns the file called name. Its error says what there is instead.
	Find(name string) (File, error)
}

// Options configures a Provider.
type Options struct {
	Shelf Shelf
	// Engine holds what all models share. Ref, Name and Path are set here.
	Engine engine.Options
	// Pick chooses the dialect to speak with a model. It is asked whenever that
	// is needed, so that it can go by what only a loaded model tells, and
	// answers alike for the same Info.
	Pick func(llm.Info) harness.Harness
}

// A Provider opens models and keeps at most one of them in memory: loading
// another unloads the first, after its generation ended. It is safe for
// concurrent use.
type Provider struct {
	o    Options
	turn chan struct{} // holds one token: whoever has it computes and may change current

	current *engine.Engine // guarded by turn; the last that was loaded

	mu     sync.Mutex                // guards the fields that follow
	opened map[string]*engine.Engine // by path
	closed bool
}

var (
	_ llm.Provider = (*Provider)(nil)
	_ llm.Loader   = (*model)(nil)
)

// New returns a provider for o.
func New(o Options) *Provider {
	p := &Provider{o: o, turn: make(chan struct{}, 1), opened: map[string]*engine.Engine{}}
	p.turn <- struct{}{}
	return p
}

// ID returns the constant ID.
func (p *Provider) ID() string { return ID }

// Models lists the files on the shelf that have no problem.
func (p *Provider) Models(context.Context) ([]llm.Info, error) {
	files, err := p.o.Shelf.List()
	if err != nil {
		return nil, fmt.Errorf("list local models: %w", err)
	}
	infos := make([]llm.Info, 0, len(files))
	for _, f := range files {
		if f.Problem == "" {
			infos = append(infos, f.info())
		}
	}
	return infos, nil
}

func (f File) info() llm.Info {
	i := llm.Info{Ref: ref(f.Name), Name: f.Title, ContextTrain: f.Context, Local: true, Size: f.Size}
	if i.Name == "" {
		i.Name = f.Name
	}
	return i
}

func ref(name string) llm.Ref { return llm.Ref(ID + "/" + name) }

// Open returns the model that the shelf calls name, or that is in the .gguf
// file at the path name. The model is also a [llm.Loader]. Its methods take
// turns with those of every other model of p, so none may be called from
// within a range over another's stream.
func (p *Provider) Open(_ context.Context, name string) (llm.Model, error) {
	f, err := p.find(name)
	if err != nil {
		return nil, err
	}
	if f.Problem != "" {
		return nil, fmt.Errorf("%w: %s: %s", llm.ErrBadModel, f.Name, f.Problem)
	}
	e, err := p.engine(f)
	if err != nil {
		return nil, err
	}
	return &model{&completer{p, e, f.info()}}, nil
}

func (p *Provider) find(name string) (File, error) {
	isPath := strings.EqualFold(filepath.Ext(name), ".gguf") && (filepath.IsAbs(name) || strings.ContainsAny(name, `/\`))
	if !isPath {
		f, err := p.o.Shelf.Find(name)
		if err != nil {
			return File{}, fmt.Errorf("%w: %w", llm.ErrUnknownModel, err)
		}
		return f, nil
	}
	path, err := filepath.Abs(name)
	if err != nil {
		return File{}, fmt.Errorf("%w: %w", llm.ErrUnknownModel, err)
	}
	st, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return File{}, fmt.Errorf("%w: there is no file %s", llm.ErrUnknownModel, path)
	case err != nil:
		return File{}, fmt.Errorf("%w: %w", llm.ErrUnknownModel, err)
	}
	title := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	return File{Name: path, Title: title, Path: path, Size: st.Size()}, nil
}

// engine returns the one engine for f's file.
func (p *Provider) engine(f File) (*engine.Engine, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, engine.ErrClosed
	}
	e := p.opened[f.Path]
	if e == nil {
		o := p.o.Engine
		i := f.info()
		o.Ref, o.Name, o.Path = i.Ref, i.Name, f.Path
		e = engine.New(o)
		p.opened[f.Path] = e
	}
	return e, nil
}

// Loaded returns the model that is in memory now, if any.
func (p *Provider) Loaded() (llm.Info, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.opened {
		if e.Loaded() {
			return e.Info(), true
		}
	}
	return llm.Info{}, false
}

// Close ends all workers at once and waits until they are gone. Models of p
// cannot be used any more.
func (p *Provider) Close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	var errs []error
	for _, e := range p.opened { // unchanged from here on
		errs = append(errs, e.Close())
	}
	return errors.Join(errs...)
}

// use waits for the turn to compute with e and frees the memory of whichever
// other model was loaded. The caller calls release.
func (p *Provider) use(ctx context.Context, e *engine.Engine) (release func(), err error) {
	select {
	case <-p.turn:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if p.current != nil && p.current != e {
		if err := p.current.Unload(); err != nil {
			p.turn <- struct{}{}
			return nil, err
		}
	}
	p.current = e
	return func() { p.turn <- struct{}{} }, nil
}
