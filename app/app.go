// Package app is the composition root: the one package that may know all
// others. It builds the host and runs it.
package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"atoll/app/agent"
	"atoll/app/api"
	"atoll/app/approval"
	"atoll/app/boundary"
	"atoll/app/cells"
	"atoll/app/chats"
	"atoll/app/config"
	"atoll/app/doctor"
	"atoll/app/event"
	"atoll/app/fault"
	"atoll/app/files"
	"atoll/app/models"
	"atoll/app/server"
	"atoll/llm"
	"atoll/llm/catalog"
	"atoll/llm/engine"
	"atoll/llm/fake"
	"atoll/llm/harness"
	"atoll/llm/harness/fenced"
	"atoll/llm/local"
	"atoll/sandbox"
	"atoll/storage"
	"atoll/storage/blob"
)

// Options says which host to run.
type Options struct {
	Home    config.Home
	Self    string        // path of this program, which also is all workers
	Version string        // for people
	Build   string        // identity of the program for its clients
	Idle    time.Duration // the host ends when nobody needed it for so long; 0: never
	Script  string        // file of a scripted model, for tests of the doors; "": none
}

// stopTime bounds how long running turns may take to stop at the end.
const stopTime = 5 * time.Second

// Host runs the host of a data folder until ctx ends or nobody needs it. It
// returns storage.ErrLocked when there is one already.
func Host(ctx context.Context, o Options) (err error) {
	if err := o.Home.Make(); err != nil {
		return err
	}
	store, err := storage.Open(o.Home.Store(), storage.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	blobs, err := blob.Open(filepath.Join(o.Home.Store(), "blobs"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, blobs.Close()) }()
	h, err := build(o, store, blobs)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	if err := h.chats.Recover(ctx); err != nil {
		return err
	}
	if err := tidy(ctx, store, blobs); err != nil {
		return err
	}
	if err := h.cells.Tidy(); err != nil { // a chat whose code is run sees to it again
		slog.Warn("remove what was held back", "error", err)
	}
	ln, token, gone, err := h.server.Listen(o.Home.HostFile())
	if err != nil {
		return err
	}
	defer gone()
	return h.serve(ctx, ln, token, o)
}

// tidy says what opening the store has met, and removes content that no entry
// refers to: of runs that were killed, of chats that were deleted.
func tidy(ctx context.Context, store *storage.Store, blobs *blob.Store) error {
	r := store.Report()
	if r.OneMeta || r.NoSpace || len(r.SetAside) > 0 || len(r.Folded) > 0 {
		slog.Warn("the store was not closed well", "one header unreadable", r.OneMeta, "disk full", r.NoSpace, "answers recovered", len(r.Folded), "set aside", r.SetAside)
	}
	used, err := store.UsedBlobs(ctx)
	if err != nil {
		return err
	}
	_, err = blobs.GC(used, time.Now().Add(-time.Hour))
	return err
}

// host is everything that lives as long as the host.
type host struct {
	chats  *chats.Service
	models *models.Service
	cells  *cells.Service
	local  *local.Provider
	server *server.Server
	leave  chan struct{}
}

// Runner returns the sandbox of the program self.
func Runner(self string) sandbox.Runner {
	return sandbox.New(sandbox.Options{Helper: []string{self, "worker", "jail"}})
}

func build(o Options, store *storage.Store, blobs *blob.Store) (*host, error) {
	cat, err := catalog.Load("")
	if err != nil {
		return nil, err
	}
	run, err := config.FindEngine()
	if err != nil {
		return nil, fault.New("settings", "A setting is not right", "Correct or unset it.").With(err.Error())
	}
	runner := Runner(o.Self)
	bus := event.NewBus(store)
	shelf := catalog.NewShelf(o.Home.Models(), cat)
	h := &host{leave: make(chan struct{}, 1)}
	h.local = local.New(local.Options{
		Shelf: models.Files{Shelf: shelf},
		Engine: engine.Options{
			LibDir: config.EngineDir(), Launch: launcher(runner, o.Self),
			Context: run.Context, Threads: run.Threads, GPULayers: run.GPULayers,
		},
		Pick: func(llm.Info) harness.Harness { return fenced.Harness{} },
	})
	providers := []llm.Provider{h.local}
	if o.Script != "" {
		providers = append(providers, fake.Provider{Path: o.Script, Harness: fenced.Harness{}})
	}
	python := cells.FindPython(o.Home)
	h.models = models.New(models.Deps{Catalog: cat, Shelf: shelf, Registry: llm.NewRegistry(providers...), Bus: bus})
	h.cells = cells.New(cells.Deps{Home: o.Home, Runner: runner, Blobs: blobs, Python: python, Policy: func(chat string) (storage.ChatPolicy, error) {
		c, err := store.Chat(chat)
		return boundary.Of(c), err
	}})
	gate := approval.NewGate(bus, approval.NewGrants(store))
	h.chats = chats.New(chats.Deps{
		Store: store, Bus: bus, Gate: gate, Models: h.models, Cells: agentCells{h.cells}, Data: string(o.Home),
		Files: &files.Service{
			Workspaces: h.cells, Runner: runner, Preview: []string{o.Self, "worker", "preview"},
			Dropped: func(chat string) string { return filepath.Join(o.Home.Chat(chat), "dropped") },
		},
		Drop: func(hashes []string) {
			for _, hash := range hashes {
				if err := blobs.Remove(hash); err != nil {
					slog.Warn("remove kept file", "hash", hash, "error", err)
				}
			}
		},
	})
	examples, err := samples(o.Home.Examples())
	if err != nil {
		slog.Warn("install examples", "error", err)
	}
	table := &api.Table{}
	h.chats.Register(table)
	h.models.Register(table)
	doctor.Register(table, doctor.Status{Version: o.Version, Home: o.Home, Runner: runner, Models: h.models, Python: python, Examples: examples})
	doctor.SandboxTest{Runner: runner, Python: python, Bus: bus}.Register(table)
	api.Add(table, "app.leave", "ends the host if nothing runs in it", func(context.Context, api.Empty) (api.Empty, error) {
		if h.chats.Busy() > 0 {
			return api.Empty{}, chats.ErrBusy
		}
		select {
		case h.leave <- struct{}{}:
		default:
		}
		return api.Empty{}, nil
	})
	h.server = &server.Server{Table: table, Bus: bus, Blobs: blobs, Build: o.Build, Keep: keep(h.chats)}
	return h, nil
}

// agentCells shows the cells to the agent, whose interfaces they cannot name.
type agentCells struct{ *cells.Service }

// Try is documented at [agent.Cells].
func (c agentCells) Try(ctx context.Context, chat string, call storage.Call, out func(storage.Output), longer agent.Longer) (agent.Trial, storage.Result, error) {
	t, res, err := c.Service.Try(ctx, chat, call, out, longer)
	if t == nil {
		return nil, res, err
	}
	return t, res, err
}

// serve answers at the door until the host is to end.
func (h *host) serve(ctx context.Context, ln net.Listener, token string, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	srv := &http.Server{Handler: h.server.Handler(token), ReadHeaderTimeout: 10 * time.Second, BaseContext: func(net.Listener) context.Context { return ctx }}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(ln) }()
	tick := time.NewTicker(2 * time.Second)
	defer tick.Stop()
	for wait := true; wait; {
		select {
		case err := <-done:
			return fmt.Errorf("listen for windows and commands: %w", err)
		case <-ctx.Done():
			wait = false
		case <-h.leave:
			wait = false
		case <-tick.C:
			if _, err := os.Stat(o.Home.HostFile()); errors.Is(err, os.ErrNotExist) {
				wait = false // the data folder is gone
			}
			if o.Idle > 0 && h.chats.Busy() == 0 && h.models.Busy() == 0 && h.server.Idle() > o.Idle {
				wait = false
			}
		}
	}
	cancel() // ends the event streams
	last, end := context.WithTimeout(context.Background(), stopTime)
	defer end()
	if err := srv.Shutdown(last); err != nil { // lets answers get out first
		err = errors.Join(err, srv.Close())
		slog.Warn("close the door", "error", err)
	}
	<-done
	return nil
}

// close stops what runs, the turns first: they write to the store.
func (h *host) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	err := h.chats.Close(ctx)
	h.models.Close()
	return errors.Join(err, h.cells.Close(), h.local.Close())
}

// Report writes err where the client that started this host looks for it: the
// last line of the log is the fault as JSON.
func Report(err error) *fault.Fault {
	f := fault.Of(err)
	fmt.Fprintf(os.Stderr, "%s\n", f.JSON())
	return f
}
