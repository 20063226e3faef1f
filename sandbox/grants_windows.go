package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sys/windows"
)

// grantSuffix ends the names of journals.
const grantSuffix = ".grants"

// grantMu keeps two goroutines from changing one list at the same time, which
// would lose one of the changes; the lock file does it for two hosts.
var grantMu sync.Mutex

// grantsDir is where hosts of this person keep their journals. Containers
// cannot get at it.
func grantsDir() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(base, "atoll", "grants")
	return dir, os.MkdirAll(dir, 0o700)
}

// lockLists waits until no other host changes access lists.
func lockLists(dir string) (unlock func(), err error) {
	grantMu.Lock()
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err == nil {
		if err = windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK, 0, 1, 0, new(windows.Overlapped)); err != nil {
			f.Close()
		}
	}
	if err != nil {
		grantMu.Unlock()
		return nil, fmt.Errorf("lock access lists: %w", err)
	}
	return func() {
		f.Close() // and the lock with it
		grantMu.Unlock()
	}, nil
}

// grants is what one run changes on the machine: a container's profile, and
// entries in access lists that name the container. The journal has it all before
// it is done, and stays open without sharing as long as this host lives.
type grants struct {
	container
	dir     string // of the journal
	journal *os.File
	trees   []string
}

// newGrants makes a container with its journal.
func newGrants() (*grants, error) {
	c, err := newContainer()
	if err != nil {
		return nil, err
	}
	dir, err := grantsDir()
	if err != nil {
		return nil, fmt.Errorf("journal of grants: %w", err)
	}
	g := &grants{container: c, dir: dir}
	if g.journal, err = openAlone(filepath.Join(dir, c.name+grantSuffix), windows.CREATE_NEW); err != nil {
		return nil, fmt.Errorf("journal of grants: %w", err)
	}
	if err := g.note(grantNote{Container: c.name, SID: c.text}); err != nil {
		return nil, errors.Join(err, g.undo())
	}
	if err := c.make(); err != nil {
		return nil, errors.Join(err, g.undo())
	}
	return g, nil
}

// openAlone opens a journal that nobody else has open, and keeps others from it.
func openAlone(path string, how uint32) (*os.File, error) {
	p, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	h, err := windows.CreateFile(p, windows.GENERIC_READ|windows.GENERIC_WRITE, 0, nil, how, windows.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(h), path), nil
}

// note writes a line and returns when it is on the disk.
func (g *grants) note(n grantNote) error {
	line, err := n.line()
	if err == nil {
		_, err = g.journal.Write(line)
	}
	if err == nil {
		err = g.journal.Sync()
	}
	if err != nil {
		return fmt.Errorf("journal of grants: %w", err)
	}
	return nil
}

// allow grants the container what kind says, object by object.
func (g *grants) allow(ctx context.Context, tree string, kind func(path string) grantKind) error {
	unlock, err := lockLists(g.dir)
	if err != nil {
		return err
	}
	defer unlock()
	if err := g.note(grantNote{Path: tree}); err != nil {
		return err
	}
	g.trees = append(g.trees, tree)
	sid := g.bytes()
	err = aclWalk{ctx: ctx, change: func(path string, folder bool, acl []byte) ([]byte, error) {
		return aclGrant(acl, sid, kind(path).entries(folder))
	}}.tree(tree)
	if err == nil || ctx.Err() != nil {
		return err
	}
	return refusal{fmt.Sprintf("%s cannot be passed on to a program (%v). When it belongs to another program that is installed for you alone, install that for all users.", tree, err)}
}

// undo takes everything back. What cannot be taken back stays in the journal,
// for the next host that starts.
func (g *grants) undo() error {
	err := takeBack(g.dir, g.container, g.trees)
	path := g.journal.Name()
	g.journal.Close()
	if err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("journal of grants: %w", err)
	}
	return nil
}

// takeBack removes a container and what was granted to it. The program has ended.
func takeBack(dir string, c container, trees []string) error {
	unlock, err := lockLists(dir)
	if err != nil {
		return err
	}
	defer unlock()
	sid := c.bytes()
	var errs []error
	for _, tree := range trees {
		err := aclWalk{ctx: context.Background(), change: func(_ string, _ bool, acl []byte) ([]byte, error) {
			out, _, err := aclRevoke(acl, sid)
			return out, err
		}}.tree(tree)
		// A link in the place of a tree is not the tree: that was carried away, and
		// takes with it what is granted to nobody any more.
		if err != nil && !gone(err) && !errors.Is(err, errLink) {
			errs = append(errs, fmt.Errorf("take back what was granted on %s: %w", tree, err))
		}
	}
	return errors.Join(append(errs, c.remove())...)
}

// SweepGrants takes back what hosts that ended half-way have granted to their
// programs, and removes those programs' containers. The journals of hosts that
// live are left alone. What cannot be taken back now is tried again by the next
// call; the error says what it is. The runner does this before its first start.
func SweepGrants() error {
	dir, err := grantsDir()
	if err != nil {
		return fmt.Errorf("sweep grants: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("sweep grants: %w", err)
	}
	var errs []error
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), grantSuffix) {
			if err := sweepJournal(dir, filepath.Join(dir, e.Name())); err != nil {
				errs = append(errs, fmt.Errorf("sweep grants: %w", err))
			}
		}
	}
	return errors.Join(errs...)
}

func sweepJournal(dir, path string) error {
	f, err := openAlone(path, windows.OPEN_EXISTING)
	if errors.Is(err, windows.ERROR_SHARING_VIOLATION) || gone(err) {
		return nil // its host lives, or has just removed it
	}
	if err != nil {
		return err
	}
	defer f.Close()
	text, err := io.ReadAll(f) // not by its name: nobody else can open it, not even this host
	if err != nil {
		return err
	}
	j, err := parseGrants(text)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if j.container != "" { // else nothing was begun
		c, err := containerOf(j.container)
		if err != nil {
			return err
		}
		if c.text != j.sid {
			return fmt.Errorf("%s: the name and the identifier do not belong together", path)
		}
		if err := takeBack(dir, c, j.trees); err != nil {
			return err
		}
	}
	f.Close()
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
