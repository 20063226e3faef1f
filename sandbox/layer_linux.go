package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// The host's side of layers. What a layer holds is hostile: it is opened by
// descriptors, and no link in it is followed. Changes copies what it lists to
// where the program cannot reach, and Commit carries out those copies: nothing
// that the program does in between has an effect.

// layered is a process with layers.
type layered struct {
	*process
	dir   string // of all layers
	trees []string
	born  []os.FileInfo // of trees, at the start

	mu        sync.Mutex
	now       *layer
	permitted map[string]bool
}

var (
	_ Layerer   = (*layered)(nil)
	_ Permitter = (*layered)(nil)
)

// A layer is one that was begun.
type layer struct {
	dir   string // holds a folder for each tree and one for the copies
	trees []layerTree
	begun unix.Timespec // when, by the clock of the file system
	shots int           // how often changes were looked for
	found []found
	taken bool // found is set
	off   bool // it is taken off inside
}

// A layerTree is a writable tree and what lies over it.
type layerTree struct {
	path  string
	fd    int    // of the tree itself, so that a renamed one stays the same
	upper string // folder of what was written
}

var errNoLayer = errors.New("there is no layer")

func newLayered(p *process, o order) *layered {
	l := &layered{process: p, dir: o.Layers, trees: layerTrees(o)}
	for _, t := range l.trees {
		st, err := os.Lstat(t)
		if err != nil {
			st = nil // Begin says so
		}
		l.born = append(l.born, st)
	}
	return l
}

// moved returns an error when a tree is not the folder any more that it was at
// the start, which the program still sees.
func (p *layered) moved() error {
	for i, t := range p.trees {
		if st, err := os.Lstat(t); err != nil || p.born[i] == nil || !os.SameFile(st, p.born[i]) {
			return fmt.Errorf("the folder %s is not there any more, or is another one now", t)
		}
	}
	return nil
}

// Begin is documented at [Layerer]. Without layers on this machine the error
// wraps [ErrUnsupported]; it wraps [ErrHeld] when a file is open for writing.
// What the program has open or stands in from before is read-only meanwhile.
// Inside a layer, renaming a folder that was there before fails as it does
// between two disks (EXDEV), for which most programs copy. The host should not
// write into the trees while a layer is on: the program may or may not see it,
// and Commit keeps the host's version.
func (p *layered) Begin() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.now != nil {
		return errors.New("begin layer: there is one already")
	}
	if err := p.moved(); err != nil {
		return fmt.Errorf("begin layer: %w", err)
	}
	l, err := newLayer(p.dir, p.trees)
	if err != nil {
		return fmt.Errorf("begin layer: %w", err)
	}
	if err := p.tell("begin " + filepath.Base(l.dir)); err != nil {
		return errors.Join(fmt.Errorf("begin layer: %w", err), l.remove())
	}
	p.now, p.permitted = l, map[string]bool{}
	return nil
}

// tell gives the helper a command and awaits the answer.
func (p *layered) tell(what string) error {
	select {
	case <-p.layers: // of a command that was waited for in vain
	default:
	}
	if err := p.command(cmdLayer + what + "\n"); err != nil {
		return err
	}
	late := time.NewTimer(layerWait)
	defer late.Stop()
	select {
	case r := <-p.layers:
		switch {
		case r.Error == "":
			return nil
		case r.Step == stepHeld:
			return fmt.Errorf("%w: %s", ErrHeld, r.Error)
		}
		return refusal{"no layer can be put over the folders (" + r.Error + ")."}
	case <-p.done:
		return os.ErrProcessDone
	case <-late.C:
		return errors.New("the sandbox helper does not answer")
	}
}

// layerWait is far longer than the helper takes for a few mounts.
const layerWait = 10 * time.Second

// newLayer makes the folders of an empty layer.
func newLayer(dir string, trees []string) (l *layer, err error) {
	at, err := os.MkdirTemp(dir, layerPrefix)
	if err != nil {
		return nil, err
	}
	begun := &layer{dir: at} // not the result, which a return sets to nil
	l = begun
	defer func() {
		if err != nil {
			err = errors.Join(err, begun.remove())
		}
	}()
	for i, t := range trees {
		part := filepath.Join(at, strconv.Itoa(i))
		fd, err := unix.Open(t, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err == unix.ENOENT || err == unix.ENOTDIR || err == unix.ELOOP {
			return nil, fmt.Errorf("the folder %s is not there any more: %w", t, err)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t, err)
		}
		l.trees = append(l.trees, layerTree{t, fd, part + "/upper"})
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil {
			return nil, err
		}
		for _, d := range []string{part, part + "/upper", part + "/work"} {
			if err := os.Mkdir(d, 0o700); err != nil {
				return nil, err
			}
		}
		// The folder of the layer is the tree's own, as the program sees it.
		if err := os.Chmod(part+"/upper", os.FileMode(st.Mode&0o777)); err != nil {
			return nil, err
		}
	}
	var st unix.Stat_t
	if err := unix.Stat(at, &st); err != nil {
		return nil, err
	}
	l.begun = st.Ctim
	return l, nil
}

// remove lets go of a layer and removes its folder.
func (l *layer) remove() error {
	l.close()
	return removeLayer(l.dir)
}

func (l *layer) close() {
	for _, t := range l.trees {
		unix.Close(t.fd)
	}
	l.trees = nil
}

// Changes is documented at [Layerer]. What it lists is what Commit will carry
// out: what is written after it is not. It fails, and the layer can only be
// discarded, when there are more than some ten thousand changes or the program
// has closed a folder to its owner. A folder or link is listed without New;
// pipes, sockets and devices are left out.
func (p *layered) Changes() ([]Change, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.now == nil {
		return nil, fmt.Errorf("list changes: %w", errNoLayer)
	}
	if err := p.now.look(); err != nil {
		return nil, fmt.Errorf("list changes: %w", err)
	}
	out := make([]Change, len(p.now.found))
	for i, f := range p.now.found {
		out[i] = f.Change
	}
	return out, nil
}

// Permit is documented at [Permitter].
func (p *layered) Permit(paths ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, path := range paths {
		if p.now != nil {
			p.permitted[path] = true
		}
	}
}

// Commit is documented at [Layerer]: it carries out what the last Changes has
// listed, or would list now. Files that changed outside since Begin stay, see
// [CommitError]. Set-id bits are never carried out. Without Permit it refuses
// with [ErrRunsLater], and does nothing, when a change has Runs set.
func (p *layered) Commit() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.now
	if l == nil {
		return fmt.Errorf("commit layer: %w", errNoLayer)
	}
	if !l.taken {
		if err := l.look(); err != nil {
			return fmt.Errorf("commit layer: %w", err)
		}
	}
	var asked []string
	for _, f := range l.found {
		if f.Runs != "" && !p.permitted[f.Path] {
			asked = append(asked, f.Path)
		}
	}
	if len(asked) > 0 {
		slices.Sort(asked)
		return fmt.Errorf("commit layer: %w: %s", ErrRunsLater, strings.Join(asked[:min(len(asked), 10)], ", "))
	}
	if err := p.takeOff(); err != nil {
		return fmt.Errorf("commit layer: %w", err)
	}
	p.now = nil
	return l.carryOut()
}

// Discard is documented at [Layerer]. It does nothing when there is no layer.
func (p *layered) Discard() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.now
	if l == nil {
		return nil
	}
	if err := p.takeOff(); err != nil {
		return fmt.Errorf("discard layer: %w", err)
	}
	p.now = nil
	return l.remove()
}

// takeOff takes the layer from the program's view. With the last process the
// view itself has gone.
func (p *layered) takeOff() error {
	if p.now.off {
		return nil
	}
	err := ignoreDone(p.tell("end"))
	p.now.off = err == nil
	return err
}
