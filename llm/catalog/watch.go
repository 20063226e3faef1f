package catalog

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// quiet is how long nothing must happen before a change is told: copying a
// model into the folder is thousands of writes.
const quiet = 300 * time.Millisecond

// Watch calls changed after model files appeared in the folder, changed or
// went, until ctx is done; then it returns nil. The folder is made if it is
// missing, and waited for if it goes away. changed is called from the calling
// goroutine.
func (s *Shelf) Watch(ctx context.Context, changed func()) error {
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return fmt.Errorf("watch the models folder: %w", err)
	}
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch the models folder: %w", err)
	}
	defer w.Close()
	if err := s.watchAll(w); err != nil {
		return fmt.Errorf("watch the models folder: %w", err)
	}
	var due <-chan time.Time
	back := time.NewTicker(2 * time.Second)
	defer back.Stop()
	lost := false
	for {
		select {
		case <-ctx.Done():
			return nil
		case e, ok := <-w.Events:
			if !ok {
				return nil
			}
			if e.Name == s.dir && e.Has(fsnotify.Remove|fsnotify.Rename) {
				lost = true
			}
			if s.concerns(w, e) {
				due = time.After(quiet)
			}
		case err, ok := <-w.Errors:
			if !ok {
				return nil
			}
			// An overflow means that events were lost: look at everything.
			if err != nil {
				due = time.After(quiet)
			}
		case <-due:
			due = nil
			changed()
		case <-back.C:
			if lost && s.watchAll(w) == nil {
				lost, due = false, time.After(quiet)
			}
		}
	}
}

// watchAll watches the folder and those below it. Only a folder that cannot be
// watched itself is an error.
func (s *Shelf) watchAll(w *fsnotify.Watcher) error {
	if err := w.Add(s.dir); err != nil {
		return err
	}
	return filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() || path == s.dir {
			return nil
		}
		if strings.HasPrefix(d.Name(), ".") || s.level(path) >= depth {
			return fs.SkipDir
		}
		_ = w.Add(path) // unreadable: List leaves it out too
		return nil
	})
}

// level counts the folders from the shelf down to path.
func (s *Shelf) level(path string) int {
	rel, err := filepath.Rel(s.dir, path)
	if err != nil {
		return depth
	}
	return strings.Count(rel, string(filepath.Separator)) + 1
}

// concerns reports whether e can change what List returns; a new folder is
// watched too.
func (s *Shelf) concerns(w *fsnotify.Watcher, e fsnotify.Event) bool {
	name := filepath.Base(e.Name)
	if strings.HasPrefix(name, ".") || e.Op == fsnotify.Chmod {
		return false
	}
	if strings.EqualFold(filepath.Ext(name), ".gguf") || strings.HasSuffix(name, recordSuffix) {
		return true
	}
	if e.Has(fsnotify.Create) {
		if st, err := os.Stat(e.Name); err == nil && st.IsDir() {
			_ = s.watchAll(w)
			return true
		}
	}
	return e.Has(fsnotify.Remove|fsnotify.Rename) && filepath.Ext(name) == ""
}
