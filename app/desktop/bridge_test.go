package desktop

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atoll/app/api"
	"atoll/app/client"
	"atoll/app/config"
	"atoll/app/event"
	"atoll/app/server"
	"atoll/storage"
)

// entries is what a host has on disk.
type entries struct {
	mu  sync.Mutex
	all []storage.Entry
}

func (l *entries) Since(_ context.Context, seq uint64) iter.Seq2[storage.Entry, error] {
	l.mu.Lock()
	defer l.mu.Unlock()
	var rest []storage.Entry
	for _, e := range l.all {
		if e.Seq > seq {
			rest = append(rest, e)
		}
	}
	return func(yield func(storage.Entry, error) bool) {
		for _, e := range rest {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// A fakeHost is a real door with little behind it.
type fakeHost struct {
	home config.Home
	log  *entries
	bus  *event.Bus
	stop func()
}

type blobs string

func (b blobs) Open(hash string) (*os.File, error) { return os.Open(filepath.Join(string(b), hash)) }

// newHome is a data folder with a path short enough for a socket.
func newHome(t *testing.T) config.Home {
	dir, err := os.MkdirTemp("", "win")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	home := config.Home(dir)
	if err := home.Make(); err != nil {
		t.Fatal(err)
	}
	return home
}

func startHost(t *testing.T, home config.Home, log *entries) *fakeHost {
	t.Helper()
	h := &fakeHost{home: home, log: log, bus: event.NewBus(log)}
	table := &api.Table{}
	api.Add(table, "app.status", "says who it is", func(context.Context, api.Empty) (map[string]string, error) {
		return map[string]string{"home": string(home)}, nil
	})
	s := &server.Server{Table: table, Bus: h.bus, Blobs: blobs(home), Build: "test"}
	ln, token, gone, err := s.Listen(home.HostFile())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	srv := &http.Server{Handler: s.Handler(token), BaseContext: func(net.Listener) context.Context { return ctx }}
	done := make(chan struct{})
	go func() { defer close(done); _ = srv.Serve(ln) }()
	h.stop = sync.OnceFunc(func() { cancel(); srv.Close(); <-done; gone() })
	t.Cleanup(h.stop)
	return h
}

func (h *fakeHost) add(seq uint64) {
	e := storage.Entry{Seq: seq, ID: "e", Chat: "c", Kind: "user"}
	h.log.mu.Lock()
	h.log.all = append(h.log.all, e)
	h.log.mu.Unlock()
	h.bus.Publish(event.Event{Seq: seq, Entry: &e})
}

// A page records what the page would get.
type page struct {
	got    chan uint64 // seqs of events
	lost   chan struct{}
	drop   chan []string
	pick   []string
	folder string
	save   string
	err    error
}

func newWindow() *page {
	return &page{got: make(chan uint64, 100), lost: make(chan struct{}, 10), drop: make(chan []string, 10)}
}

func (w *page) native() native {
	return native{
		emit: func(name string, data ...any) {
			switch name {
			case eventsName:
				for _, raw := range data[0].([]json.RawMessage) {
					var e event.Event
					if json.Unmarshal(raw, &e) == nil {
						w.got <- e.Seq
					}
				}
			case lostName:
				w.lost <- struct{}{}
			case openName:
				w.drop <- data[2].([]string)
			}
		},
		openDir: func() (string, error) { return w.folder, w.err },
		openFiles: func() ([]string, error) {
			if w.err != nil {
				return nil, w.err
			}
			if w.pick == nil {
				var dialog func() ([]string, error)
				return dialog() // panics
			}
			return w.pick, nil
		},
		saveAs: func(string) (string, error) { return w.save, w.err },
	}
}

func (w *page) expect(t *testing.T, seqs ...uint64) {
	t.Helper()
	for _, want := range seqs {
		if got := <-w.got; got != want {
			t.Fatalf("got event %d, want %d", got, want)
		}
	}
}

// bridgeTo is a bridge that finds hosts of home, but starts none.
func bridgeTo(t *testing.T, home config.Home, files ...string) (*Bridge, *page) {
	d := &client.Door{Connect: func(ctx context.Context) (*client.Client, error) {
		if _, err := os.Stat(home.HostFile()); err != nil {
			return nil, errors.New("no host here")
		}
		return client.Connect(ctx, home, "test")
	}}
	b, w := newBridge(d, files), newWindow()
	b.start(w.native())
	t.Cleanup(b.close)
	return b, w
}

func TestWatchGoesOnWithAnotherHost(t *testing.T) {
	home, log := newHome(t), &entries{}
	first := startHost(t, home, log)
	first.add(1)
	b, w := bridgeTo(t, home)
	if err := b.Watch(0); err != nil {
		t.Fatal(err)
	}
	first.add(2)
	w.expect(t, 1, 2)

	first.stop()
	<-w.lost
	if err := b.Watch(2); err == nil {
		t.Fatal("Watch without a host succeeded")
	}
	second := startHost(t, home, log)
	second.add(3)
	if err := b.Watch(2); err != nil {
		t.Fatal(err)
	}
	second.add(4)
	w.expect(t, 3, 4)
}

// A host that was replaced while nobody watched is found by the same call.
func TestWatchFindsAReplacedHost(t *testing.T) {
	home, log := newHome(t), &entries{}
	first := startHost(t, home, log)
	b, w := bridgeTo(t, home)
	if _, err := b.door.Host(t.Context()); err != nil {
		t.Fatal(err)
	}
	first.stop()
	startHost(t, home, log).add(1)
	if err := b.Watch(0); err != nil {
		t.Fatal(err)
	}
	w.expect(t, 1)
	if len(w.lost) != 0 {
		t.Error("the page was told of a loss it could not see")
	}
}

func TestWatchReplacesAnEarlierOne(t *testing.T) {
	home := newHome(t)
	h := startHost(t, home, &entries{})
	b, w := bridgeTo(t, home)
	for range 3 {
		if err := b.Watch(0); err != nil {
			t.Fatal(err)
		}
	}
	h.add(1)
	h.add(2)
	w.expect(t, 1, 2) // once each
	b.close()
	if len(w.got) != 0 || len(w.lost) != 0 {
		t.Errorf("%d events and %d losses too many", len(w.got), len(w.lost))
	}
}

func TestFilesWaitForThePage(t *testing.T) {
	home := newHome(t)
	startHost(t, home, &entries{})
	b, w := bridgeTo(t, home, "/a.csv")
	b.open([]string{"/b.csv"}) // a second start while the page loads
	if len(w.drop) != 0 {
		t.Fatal("files were handed to a page that does not listen")
	}
	for range 2 { // the second time there is nothing left
		if err := b.Watch(0); err != nil {
			t.Fatal(err)
		}
	}
	b.open([]string{"/c.csv"})
	got := [][]string{<-w.drop, <-w.drop}
	if d := cmp.Diff([][]string{{"/a.csv", "/b.csv"}, {"/c.csv"}}, got); d != "" {
		t.Error(d)
	}
	if len(w.drop) != 0 {
		t.Error("files came twice")
	}
}

func TestPickFiles(t *testing.T) {
	b, w := bridgeTo(t, newHome(t))
	w.pick = []string{"/x ü.csv", "/y.csv"}
	if got, err := b.PickFiles(); err != nil || !cmp.Equal(got, w.pick) {
		t.Errorf("picked %v, %v", got, err)
	}
	w.pick = []string{}
	if got, err := b.PickFiles(); err != nil || got == nil || len(got) != 0 {
		t.Errorf("nothing picked: %#v, %v", got, err)
	}
	w.pick = nil
	if _, err := b.PickFiles(); err == nil || !strings.Contains(err.Error(), "nil pointer") {
		t.Errorf("a panic became %v", err)
	}
	w.err = errors.New("no portal")
	if _, err := b.PickFiles(); !errors.Is(err, w.err) {
		t.Errorf("the dialog's error became %v", err)
	}
}

func TestPickFolder(t *testing.T) {
	b, w := bridgeTo(t, newHome(t))
	for _, want := range []string{"/home/ada/отчёты", ""} {
		w.folder = want
		if got, err := b.PickFolder(); err != nil || got != want {
			t.Errorf("picked %q, %v", got, err)
		}
	}
	w.err = errors.New("no portal")
	if _, err := b.PickFolder(); !errors.Is(err, w.err) {
		t.Errorf("the dialog's error became %v", err)
	}
}

func TestSaveBlob(t *testing.T) {
	home := newHome(t)
	startHost(t, home, &entries{})
	b, w := bridgeTo(t, home)
	content := bytes.Repeat([]byte("plot"), 1<<16)
	if err := os.WriteFile(filepath.Join(string(home), "hash"), content, 0o600); err != nil {
		t.Fatal(err)
	}
	if path, err := b.SaveBlob("hash", "plot.png"); path != "" || err != nil {
		t.Errorf("a closed dialog gave %q, %v", path, err)
	}
	dir := t.TempDir()
	w.save = filepath.Join(dir, "copy.png")
	for range 2 { // the second one replaces the first
		path, err := b.SaveBlob("hash", "plot.png")
		if err != nil || path != w.save {
			t.Fatalf("saved as %q: %v", path, err)
		}
	}
	if got, err := os.ReadFile(w.save); err != nil || !bytes.Equal(got, content) {
		t.Errorf("the copy has %d bytes: %v", len(got), err)
	}
	if _, err := b.SaveBlob("nothing", "plot.png"); err == nil {
		t.Error("a missing file was saved")
	}
	if got, err := os.ReadFile(w.save); err != nil || !bytes.Equal(got, content) {
		t.Errorf("a failed save left %d bytes: %v", len(got), err)
	}
	if names, _ := os.ReadDir(dir); len(names) != 1 {
		t.Errorf("left over: %v", names)
	}
}

func TestSaveIsAllOrNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	broken := io.MultiReader(strings.NewReader("half"), errReader{})
	if err := save(path, broken); err == nil {
		t.Fatal("half a file counts as saved")
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("half a file is there: %v", err)
	}
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, errors.New("the host is gone") }

func TestFileName(t *testing.T) {
	for in, want := range map[string]string{
		"plot.png": "plot.png", "Übersicht 1.csv": "Übersicht 1.csv", "": "file", "..": "file", "/": "_",
		"../../etc/passwd": "passwd", `C:\Users\x.txt`: "x.txt", ".bashrc": "bashrc", "a:b\n.txt": "a_b_.txt",
	} {
		if got := fileName(in); got != want {
			t.Errorf("fileName(%q) = %q, want %q", in, got, want)
		}
	}
}
