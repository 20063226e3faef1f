// Package desktop is the window: it shows the page, passes its requests on to
// the host and does what only a window can. It holds no data.
package desktop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"

	"atoll/app/client"
	"atoll/app/event"
)

// Names of what the window tells the page.
const (
	eventsName = "atoll:events" // a batch of events
	lostName   = "atoll:lost"   // the stream of events has ended; the page calls Watch again

	// openName is what the page's runtime listens to for dropped files. Files
	// that come by the command line or the menu take the same way, so that the
	// page knows one way only.
	openName = "wails:file-drop"
)

// native is what the window system does for the bridge.
type native struct {
	emit      func(name string, data ...any)
	openFiles func() ([]string, error)          // nil: the person changed their mind
	openDir   func() (string, error)            // "": likewise
	saveAs    func(name string) (string, error) // "": the person changed their mind
}

// A Bridge is what the page may ask of the window; it is bound there as
// window.go.desktop.Bridge. Its methods are safe for concurrent use, and none
// panics: the page's promise would never settle.
type Bridge struct {
	door    *client.Door
	win     native
	started chan struct{} // closed when win may be used

	watch sync.Mutex // held while one Watch replaces another
	end   func()     // ends the running watch and waits for it; guarded by watch

	mu    sync.Mutex
	shown bool     // the page listens
	files []string // wait for the page; guarded by mu, as shown is
}

func newBridge(d *client.Door, files []string) *Bridge {
	return &Bridge{door: d, files: files, started: make(chan struct{}), end: func() {}}
}

// start gives the bridge its window. It is called once.
func (b *Bridge) start(win native) {
	b.win = win
	close(b.started)
}

// close ends what runs.
func (b *Bridge) close() {
	b.watch.Lock()
	defer b.watch.Unlock()
	b.end()
	b.end = func() {}
}

// PickFiles lets the person choose files and returns their absolute paths;
// none when they changed their mind.
func (b *Bridge) PickFiles() (paths []string, err error) {
	defer recovered(&err)
	<-b.started
	paths, err = b.win.openFiles()
	if err != nil {
		return nil, fmt.Errorf("choose files: %w", err)
	}
	return append([]string{}, paths...), nil // never null in the page
}

// PickFolder lets the person choose a folder and returns its absolute path; ""
// when they changed their mind.
func (b *Bridge) PickFolder() (path string, err error) {
	defer recovered(&err)
	<-b.started
	if path, err = b.win.openDir(); err != nil {
		return "", fmt.Errorf("choose a folder: %w", err)
	}
	return path, nil
}

// Watch makes the window pass on the host's events after since, as
// "atoll:events" with arrays of events. It returns when the stream is open, so
// that what happens from then on is seen, and replaces an earlier Watch. When
// the host goes away "atoll:lost" is emitted and the stream has ended: the
// page, which alone knows how far it got, calls Watch again, and that finds or
// starts a host.
func (b *Bridge) Watch(since uint64) (err error) {
	defer recovered(&err)
	<-b.started
	b.watch.Lock()
	defer b.watch.Unlock()
	b.end()
	b.end = func() {}
	if err := b.follow(since); err != nil {
		// The host we knew may have been replaced meanwhile.
		if err := b.follow(since); err != nil {
			return err
		}
	}
	b.deliver()
	return nil
}

// follow starts to follow the host's events; b.watch is held.
func (b *Bridge) follow(since uint64) error {
	ctx, cancel := context.WithCancel(context.Background())
	host, err := b.door.Host(ctx)
	if err != nil {
		cancel()
		return err
	}
	open := make(chan struct{})
	ended := make(chan error, 1)
	go func() {
		in := make(chan event.Event)
		passed := make(chan struct{})
		go func() {
			defer close(passed)
			batches(in, func(batch []json.RawMessage) { b.win.emit(eventsName, batch) })
		}()
		ready := false
		err := host.Follow(ctx, since,
			func() error { ready = true; close(open); return nil },
			func(e event.Event) error { in <- e; return nil })
		close(in)
		<-passed
		if ctx.Err() == nil {
			b.door.Forget(host)
			if ready {
				b.win.emit(lostName)
			}
		}
		ended <- err
	}()
	select {
	case <-open:
		b.end = func() { cancel(); <-ended }
		return nil
	case err := <-ended:
		cancel()
		select {
		case <-open: // it was open for a moment, and the page has been told
			return nil
		default:
			return err
		}
	}
}

// SaveBlob lets the person choose where to keep a copy of the kept file hash,
// proposing name, and returns its path; "" when they changed their mind.
func (b *Bridge) SaveBlob(hash, name string) (path string, err error) {
	defer recovered(&err)
	<-b.started
	path, err = b.win.saveAs(fileName(name))
	if err != nil || path == "" {
		return "", err
	}
	ctx := context.Background()
	host, err := b.door.Host(ctx)
	if err != nil {
		return "", err
	}
	r, err := host.Blob(ctx, hash)
	if err != nil {
		return "", err
	}
	defer r.Close()
	return path, save(path, r)
}

// save writes path complete or not at all.
func save(path string, r io.Reader) (err error) {
	part := path + ".part"
	f, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return fmt.Errorf("save a copy: %w", err)
	}
	_, err = io.Copy(f, r)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(part, path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("save a copy as %s: %w", path, err), os.Remove(part))
	}
	return nil
}

// fileName is name without what would make it a path or a hidden file: a
// program that a model wrote may have chosen it.
func fileName(name string) string {
	name = filepath.Base(strings.ReplaceAll(name, `\`, "/"))
	name = strings.TrimLeft(strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`/:*?"<>|`, r) {
			return '_'
		}
		return r
	}, name), ".")
	if name == "" {
		return "file"
	}
	return name
}

// open hands files to the page: at once, or when it is there.
func (b *Bridge) open(paths []string) {
	b.mu.Lock()
	b.files = append(b.files, paths...)
	shown := b.shown
	b.mu.Unlock()
	if shown {
		b.deliver()
	}
}

// deliver hands over the files that wait; the page listens now.
func (b *Bridge) deliver() {
	b.mu.Lock()
	files := b.files
	b.files, b.shown = nil, true
	b.mu.Unlock()
	if len(files) > 0 {
		b.win.emit(openName, 0, 0, files)
	}
}

// recovered turns a panic into an error; where it was is for the log.
func recovered(err *error) {
	if p := recover(); p != nil {
		slog.Error("window", "panic", p, "stack", string(debug.Stack()))
		*err = fmt.Errorf("something went wrong in the window: %v", p)
	}
}
