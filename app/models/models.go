// Package models is what people do with models: see which there are, fetch
// one, load one. It joins the catalog, the models folder and the engine.
package models

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/google/uuid"

	"atoll/app/api"
	"atoll/app/event"
	"atoll/app/fault"
	"atoll/llm"
	"atoll/llm/catalog"
	"atoll/llm/local"
)

// Deps is what the service is built from.
type Deps struct {
	Catalog  *catalog.Catalog
	Shelf    *catalog.Shelf
	Registry *llm.Registry
	Bus      *event.Bus
	Fetch    catalog.Options
}

// A Service opens models and runs downloads, one for each model at most.
type Service struct {
	Deps

	mu     sync.Mutex
	tasks  map[string]event.Task // running downloads by catalog name
	loaded llm.Model             // the model that was opened last
	ref    string

	ctx    context.Context // ends with Close; downloads outlive the request that started them
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

// New returns a service; Close ends its downloads.
func New(d Deps) *Service {
	s := &Service{Deps: d, tasks: map[string]event.Task{}}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// Close stops the downloads; they go on where they were the next time.
func (s *Service) Close() {
	s.cancel()
	s.wg.Wait()
}

// Busy returns how many downloads run.
func (s *Service) Busy() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.tasks)
}

// Register adds the methods of the service to the table.
func (s *Service) Register(t *api.Table) {
	api.Add(t, "models.list", "lists the models of the catalog and of the models folder", s.list)
	api.Add(t, "models.pull", "fetches a model of the catalog", s.pull)
	api.Add(t, "models.load", "loads a model into memory", s.load)
}

// A Row is a model as a list shows it.
type Row struct {
	Ref       string `json:"ref"`
	Name      string `json:"name"` // for people
	Installed bool   `json:"installed"`
	Default   bool   `json:"default"`
	Size      int64  `json:"size"`    // bytes
	Context   int    `json:"context"` // tokens it was trained for
	License   string `json:"license"`
	Note      string `json:"note,omitempty"`
	Problem   string `json:"problem,omitempty"` // why it cannot be used
	Path      string `json:"path,omitempty"`
	Fetched   int64  `json:"fetched,omitempty"` // bytes of an interrupted download
}

// Rows is all models.
type Rows struct {
	Models []Row `json:"models"`
}

func (s *Service) list(context.Context, api.Empty) (Rows, error) { return s.Rows() }

// Rows returns the models of the catalog, then other files of the folder.
func (s *Service) Rows() (Rows, error) {
	items, err := s.Shelf.List()
	if err != nil {
		return Rows{}, err
	}
	byName := map[string]catalog.Item{}
	for _, it := range items {
		byName[it.Name] = it
	}
	def := s.defaultName(byName)
	out := Rows{Models: []Row{}}
	for _, e := range s.Catalog.Entries() {
		r := Row{Ref: local.ID + "/" + e.Name, Name: e.Title, Size: e.Bytes, Context: e.Context, License: e.License, Note: e.Description, Default: e.Name == def}
		if it, ok := byName[e.Name]; ok {
			r.Installed, r.Problem, r.Path = it.Problem == "", it.Problem, it.Path
			delete(byName, e.Name)
		} else {
			r.Fetched = s.Shelf.Fetched(e)
		}
		out.Models = append(out.Models, r)
	}
	for _, it := range items {
		if _, ok := byName[it.Name]; ok {
			out.Models = append(out.Models, Row{Ref: local.ID + "/" + it.Name, Name: it.Name, Installed: it.Problem == "", Size: it.Bytes, Problem: it.Problem, Path: it.Path, Default: it.Name == def})
		}
	}
	// ATOLL_MODEL can name a model that is in no list: a file elsewhere, or
	// another provider's.
	if isPath(def) || s.known(def) && !strings.HasPrefix(def, local.ID+"/") {
		r := Row{Ref: def, Name: filepath.Base(def), Installed: true, Default: true}
		if isPath(def) {
			r.Path = def
			if st, err := os.Stat(def); err != nil || !st.Mode().IsRegular() {
				r.Installed, r.Problem = false, "ATOLL_MODEL names a file that is not there"
			} else {
				r.Size = st.Size()
			}
		}
		out.Models = append(out.Models, r)
	}
	return out, nil
}

// defaultName is the model that ATOLL_MODEL names, else the catalog's default
// if it is installed, else an installed one, else the catalog's default.
func (s *Service) defaultName(items map[string]catalog.Item) string {
	if m := os.Getenv("ATOLL_MODEL"); m != "" {
		return strings.TrimPrefix(m, local.ID+"/")
	}
	def := s.Catalog.Default().Name
	if it, ok := items[def]; ok && it.Problem == "" {
		return def
	}
	for _, e := range s.Catalog.Entries() { // the catalog's order is one of preference
		if it, ok := items[e.Name]; ok && it.Problem == "" {
			return e.Name
		}
	}
	for _, name := range slices.Sorted(maps.Keys(items)) {
		if items[name].Problem == "" {
			return name
		}
	}
	return def
}

// Open opens a model by reference, by the plain name of a local one, or by the
// path of a .gguf file; "" is the default. It returns the full reference too.
func (s *Service) Open(ctx context.Context, ref string) (llm.Model, string, error) {
	if ref == "" {
		items, err := s.Shelf.List()
		if err != nil {
			return nil, "", err
		}
		byName := map[string]catalog.Item{}
		for _, it := range items {
			byName[it.Name] = it
		}
		ref = s.defaultName(byName)
		if _, ok := byName[ref]; !ok && !isPath(ref) && !s.known(ref) {
			return nil, "", ErrNone.With("the models folder is " + s.Shelf.Dir())
		}
	}
	full := ref
	if isPath(ref) || !s.known(ref) {
		full = local.ID + "/" + ref
	}
	m, err := s.Registry.Open(ctx, llm.Ref(full))
	if err != nil {
		return nil, full, err
	}
	s.mu.Lock()
	s.loaded, s.ref = m, full
	s.mu.Unlock()
	return m, full, nil
}

// ErrNone means that there is no model at all.
var ErrNone = fault.WithExit(fault.ExitModel, "model.none", "There is no model on this machine yet", "Fetch the starter model with atoll models pull, or put a .gguf file into the models folder.")

func isPath(ref string) bool {
	return strings.EqualFold(filepath.Ext(ref), ".gguf") && filepath.IsAbs(ref)
}

// known reports whether ref names a provider there is.
func (s *Service) known(ref string) bool {
	id, _, ok := strings.Cut(ref, "/")
	return ok && (id == local.ID || s.Registry.Has(id))
}

// Ref names a model.
type Ref struct {
	Ref string `json:"ref"`
}

// Task names a task whose progress comes as events.
type Task struct {
	Task string `json:"task"`
}

// pull starts to fetch a model, or joins the download that runs.
func (s *Service) pull(_ context.Context, in Ref) (Task, error) {
	name := strings.TrimPrefix(in.Ref, local.ID+"/")
	e, err := s.Catalog.Find(name)
	if err != nil {
		return Task{}, fmt.Errorf("%w: %w", llm.ErrUnknownModel, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if t, ok := s.tasks[e.Name]; ok {
		return Task{t.ID}, nil
	}
	t := event.Task{ID: uuid.NewString(), Label: e.Title, Total: e.Bytes, Unit: "bytes", State: "running"}
	s.tasks[e.Name] = t
	s.wg.Add(1)
	go s.fetch(e, t)
	return Task{t.ID}, nil
}

func (s *Service) fetch(e catalog.Entry, t event.Task) {
	defer s.wg.Done()
	show := func(t event.Task) { s.Bus.Publish(event.Event{Task: &t}) }
	show(t)
	var shown int64
	_, err := catalog.Fetch(s.ctx, e, s.Shelf.Dir(), s.Fetch, func(p catalog.Progress) {
		if t.Done = p.Done; p.Done-shown >= p.Total/200 || p.Done < shown {
			shown = p.Done
			show(t)
		}
	})
	s.mu.Lock()
	delete(s.tasks, e.Name)
	s.mu.Unlock()
	t.State, t.Done = "done", t.Total
	if err != nil {
		f := fault.Of(err)
		t.State, t.Error = "failed", f.Body()
	}
	show(t)
}

func (s *Service) load(ctx context.Context, in Ref) (api.Empty, error) {
	m, ref, err := s.Open(ctx, in.Ref)
	if err != nil {
		return api.Empty{}, err
	}
	l, ok := m.(llm.Loader)
	if !ok {
		return api.Empty{}, nil // nothing to load
	}
	t := event.Task{ID: uuid.NewString(), Label: ref, Total: 100, Unit: "steps", State: "running"}
	err = l.Load(ctx, func(done float64) {
		t.Done = int64(done * 100)
		s.Bus.Publish(event.Event{Task: &t})
	})
	t.State, t.Done = "done", t.Total
	if err != nil {
		f := fault.Of(err)
		t.State, t.Error = "failed", f.Body()
	}
	s.Bus.Publish(event.Event{Task: &t})
	return api.Empty{}, err
}

// Loaded returns what is known of the model that was used last: nil before.
func (s *Service) Loaded() (*llm.Info, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.loaded == nil {
		return nil, ""
	}
	i := s.loaded.Info()
	if i.Context == 0 {
		return nil, ""
	}
	return &i, s.ref
}

// Files is the models folder as the local provider sees it.
type Files struct{ Shelf *catalog.Shelf }

// List implements [local.Shelf].
func (f Files) List() ([]local.File, error) {
	items, err := f.Shelf.List()
	if err != nil {
		return nil, err
	}
	out := make([]local.File, 0, len(items))
	for _, it := range items {
		out = append(out, file(it))
	}
	return out, nil
}

// Find implements [local.Shelf].
func (f Files) Find(name string) (local.File, error) {
	it, err := f.Shelf.Find(name)
	return file(it), err
}

func file(it catalog.Item) local.File {
	lf := local.File{Name: it.Name, Path: it.Path, Size: it.Bytes, Problem: it.Problem}
	if it.Entry != nil {
		lf.Title, lf.Context = it.Entry.Title, it.Entry.Context
	}
	return lf
}
