package sandbox

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// otherDisk makes tests take the way of a tree on another disk.
var otherDisk bool

// errChanged means that the tree has something else than when it was looked at.
var errChanged = errors.New("it was changed by another program meanwhile")

// errNotDeleted keeps what a program has moved when only half of that worked.
var errNotDeleted = errors.New("it is still there, because another change failed")

// carryOut does in the trees what was found: first what makes way, then folders
// and files, then the deletions. Every file is old or new at any moment.
func (l *layer) carryOut() error {
	defer l.close()
	c := commit{layer: l, result: CommitError{Beside: map[string]string{}, Failed: map[string]error{}}, aside: map[string]string{}}
	var err error
	if c.copies, err = openFolder(unix.AT_FDCWD, l.shot()); err != nil {
		return fmt.Errorf("commit layer: %w", err)
	}
	defer unix.Close(c.copies)
	// What is renamed must be on the disk, or a loss of power leaves it empty.
	// For many files it is faster to write everything out once.
	const many = 32
	c.written = len(l.found) > many && unix.Syncfs(c.copies) == nil
	failed := false
	for i, turn := range []func(found) bool{
		func(f found) bool { return f.Kind == "deleted" && f.now },
		func(f found) bool { return f.Kind != "deleted" },
		func(f found) bool { return f.Kind == "deleted" && !f.now },
	} {
		for _, f := range l.found {
			switch {
			case !turn(f):
			case i == 2 && failed:
				// What is deleted may have been moved to where it could not be written.
				c.result.Failed[f.Path] = errNotDeleted
			default:
				c.one(f)
			}
		}
		failed = len(c.result.Failed) > 0
	}
	c.leave()
	r := &c.result
	if len(r.Failed) > 0 {
		kept := filepath.Join(filepath.Dir(l.dir), keptPrefix+strings.TrimPrefix(filepath.Base(l.dir), layerPrefix))
		if err := os.Rename(l.shot(), kept); err != nil {
			return errors.Join(r, err) // with the layer's folder left as it is
		}
		if r.Kept = kept; c.names(kept) == 0 { // nothing but deletions failed
			r.Kept = ""
			_ = os.RemoveAll(kept)
		}
	}
	err = removeLayer(l.dir)
	if len(r.Failed) > 0 || len(r.Beside) > 0 {
		return errors.Join(r, err)
	}
	return err
}

// keptNames is a file beside what is kept: a line for each, with its name there
// and its path, quoted.
const keptNames = "names.txt"

// names removes from the folder what was carried out, writes that file, and
// returns how many files are kept. Without the list they are still there.
func (c *commit) names(folder string) int {
	var lines strings.Builder
	n := 0
	keep := func(copied, path string) {
		fmt.Fprintf(&lines, "%s %s\n", copied, strconv.Quote(path))
		n++
	}
	for _, f := range c.found {
		_, failed := c.result.Failed[f.Path]
		switch aside := c.aside[f.Path]; {
		case aside != "":
			keep(aside, f.Path)
		case f.copy == "":
		case failed:
			keep(f.copy, f.Path)
		default:
			_ = unix.Unlinkat(c.copies, f.copy, 0) // most were moved
		}
	}
	_ = os.WriteFile(filepath.Join(folder, keptNames), []byte(lines.String()), 0o600)
	return n
}

// A commit is one that is under way. The folder of the last file stays open.
type commit struct {
	*layer
	copies  int
	written bool // the copies are on the disk
	result  CommitError
	aside   map[string]string // what made way for something new: name among the copies, by path

	dir    int
	dirOf  string // tree and folder
	opened bool
}

func (c *commit) one(f found) {
	err := c.do(f)
	switch beside := ""; {
	case err == nil:
		c.result.Done = append(c.result.Done, f.Path)
	case errors.Is(err, errChanged) && f.copy != "":
		if beside, err = c.placeBeside(f); err == nil {
			c.result.Beside[f.Path] = beside
			return
		}
		fallthrough
	default:
		c.result.Failed[f.Path] = err
	}
}

func (c *commit) do(f found) error {
	dir, err := c.enter(f.tree, filepath.Dir(f.rel))
	if err != nil {
		return err
	}
	name := filepath.Base(f.rel)
	switch f.Kind {
	case "folder":
		err := unix.Mkdirat(dir, name, 0o755)
		if err == unix.EEXIST {
			var st unix.Stat_t
			if err = unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW); err == nil && st.Mode&unix.S_IFMT != unix.S_IFDIR {
				err = errChanged
			}
		}
		return err
	case "deleted":
		if f.was.Mode&unix.S_IFMT == unix.S_IFDIR {
			err := unix.Unlinkat(dir, name, unix.AT_REMOVEDIR)
			if err == unix.ENOTEMPTY {
				err = errors.New("there is something new in it")
			}
			return gone(err)
		}
		if err := c.unchanged(dir, name, f); err != nil {
			return err
		}
		return c.remove(f, dir, name)
	}
	if err := c.unchanged(dir, name, f); err != nil {
		return err
	}
	return c.place(f, dir, name, 0)
}

// remove deletes a file, unless somebody has saved under its name just now: it is
// looked at once more under a name that nobody knows. What only makes way for
// something new is kept until that is written.
func (c *commit) remove(f found, dir int, name string) error {
	temp := copyPrefix + rand.Text()
	to := dir
	if f.now {
		to = c.copies
	}
	err := unix.Renameat2(dir, name, to, temp, unix.RENAME_NOREPLACE)
	if err == unix.EXDEV {
		to = dir
		err = unix.Renameat2(dir, name, to, temp, unix.RENAME_NOREPLACE)
	}
	switch {
	case err == unix.EINVAL: // a file system without it
		return gone(unix.Unlinkat(dir, name, 0))
	case err != nil:
		return gone(err)
	}
	var now unix.Stat_t
	if err := unix.Fstatat(to, temp, &now, unix.AT_SYMLINK_NOFOLLOW); err != nil || !f.same(now) {
		return errors.Join(errChanged, err, unix.Renameat2(to, temp, dir, name, unix.RENAME_NOREPLACE))
	}
	if f.now && to == c.copies {
		c.aside[f.Path] = temp
		return nil
	}
	return unix.Unlinkat(to, temp, 0)
}

// same compares a file with what was there. Not the time of the change of its
// entry: renaming it is such a change.
func (f found) same(now unix.Stat_t) bool {
	return now.Ino == f.was.Ino && now.Dev == f.was.Dev && now.Size == f.was.Size && now.Mtim == f.was.Mtim
}

func gone(err error) error {
	if err == unix.ENOENT {
		return nil
	}
	return err
}

// enter opens a folder of a tree. No link on the way is followed.
func (c *commit) enter(tree int, rel string) (int, error) {
	key := fmt.Sprint(tree, " ", rel)
	if c.opened && c.dirOf == key {
		return c.dir, nil
	}
	c.leave()
	fd, err := unix.Openat2(c.trees[tree].fd, rel, &unix.OpenHow{
		Flags: unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS,
	})
	if err != nil {
		return -1, fmt.Errorf("open its folder: %w", err)
	}
	c.dir, c.dirOf, c.opened = fd, key, true
	return fd, nil
}

// leave closes the folder that is open, when its names are on the disk.
func (c *commit) leave() {
	if c.opened {
		// An error leaves it to the next time that the system writes.
		_ = unix.Fsync(c.dir)
		unix.Close(c.dir)
		c.opened = false
	}
}

// unchanged compares what the tree has with what it had: when it was looked at,
// and, by the time that nobody can forge, when the layer was begun.
func (c *commit) unchanged(dir int, name string, f found) error {
	var now unix.Stat_t
	err := unix.Fstatat(dir, name, &now, unix.AT_SYMLINK_NOFOLLOW)
	switch {
	case err == unix.ENOENT:
		return nil // nothing that could be lost
	case err != nil:
		return err
	case f.was.Mode == 0, now.Ino != f.was.Ino, now.Dev != f.was.Dev, now.Size != f.was.Size, now.Mtim != f.was.Mtim, now.Ctim != f.was.Ctim,
		now.Ctim.Nano() > c.begun.Nano():
		return errChanged
	}
	return nil
}

// placeBeside puts the new version of a file next to the one that has changed.
func (c *commit) placeBeside(f found) (string, error) {
	dir, err := c.enter(f.tree, filepath.Dir(f.rel))
	if err != nil {
		return "", err
	}
	name := filepath.Base(f.rel)
	ext := filepath.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	if stem == "" { // .profile
		stem, ext = name, ""
	}
	const most = 1000
	for i := 1; i < most; i++ {
		free := stem + " (from Atoll)" + ext
		if i > 1 {
			free = fmt.Sprintf("%s (from Atoll %d)%s", stem, i, ext)
		}
		err := c.place(f, dir, free, unix.RENAME_NOREPLACE)
		if err == nil {
			return filepath.Join(filepath.Dir(f.Path), free), nil
		}
		if err != unix.EEXIST {
			return "", err
		}
	}
	return "", unix.EEXIST
}

// place moves the copy of a file or link to its name, at once and complete.
func (c *commit) place(f found, dir int, name string, flags uint) error {
	link := f.mode == 0 && f.New == ""
	if !link {
		fd, err := unix.Openat(c.copies, f.copy, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		if err := unix.Fchmod(fd, f.mode); err != nil {
			return err
		}
		if !c.written {
			if err := unix.Fsync(fd); err != nil {
				return err
			}
		}
	}
	err := error(unix.EXDEV)
	if !otherDisk {
		err = c.swap(c.copies, f.copy, dir, name, flags, f)
	}
	if err != unix.EXDEV {
		return err
	}
	return c.placeFar(f, dir, name, flags, link)
}

// swap renames a file to its name in a tree. Somebody may save under that name
// at any moment, also after unchanged has looked: so the new file changes places
// with what is there, and back when that is not what it was. With NOREPLACE the
// name must be free.
func (c *commit) swap(from int, temp string, dir int, name string, flags uint, f found) error {
	if flags != 0 {
		return unix.Renameat2(from, temp, dir, name, flags)
	}
	err := unix.Renameat2(from, temp, dir, name, unix.RENAME_NOREPLACE)
	if err == unix.EEXIST {
		if f.was.Mode == 0 {
			return errChanged
		}
		if err = unix.Renameat2(from, temp, dir, name, unix.RENAME_EXCHANGE); err == nil {
			return c.keepSwapped(from, temp, dir, name, f)
		}
	}
	if err == unix.EINVAL { // a file system without these
		if err = c.unchanged(dir, name, f); err == nil {
			err = unix.Renameat(from, temp, dir, name)
		}
	}
	return err
}

// keepSwapped ends an exchange: what was there goes, or comes back when it is not
// what was looked at.
func (c *commit) keepSwapped(from int, temp string, dir int, name string, f found) error {
	var now unix.Stat_t
	if err := unix.Fstatat(from, temp, &now, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return err
	}
	if !f.same(now) {
		if err := unix.Renameat2(from, temp, dir, name, unix.RENAME_EXCHANGE); err != nil {
			return err // both are there, ours under the name, theirs among what is kept
		}
		return errChanged
	}
	_ = unix.Unlinkat(from, temp, 0) // what was there; the change is carried out
	return nil
}

// placeFar is place for a tree on another disk: a copy with a name of its own,
// and then the rename.
func (c *commit) placeFar(f found, dir int, name string, flags uint, link bool) error {
	temp := copyPrefix + rand.Text()
	if err := c.note(filepath.Join(filepath.Dir(f.Path), temp)); err != nil {
		return err
	}
	err := c.copyTo(f, dir, temp, link)
	if err == nil {
		err = c.swap(dir, temp, dir, name, flags, f)
	}
	if err != nil {
		_ = unix.Unlinkat(dir, temp, 0) // it may not be there
	}
	return err
}

func (c *commit) copyTo(f found, dir int, temp string, link bool) error {
	if link {
		target, err := readLink(c.copies, f.copy)
		if err != nil {
			return err
		}
		return unix.Symlinkat(target, dir, temp)
	}
	from, err := unix.Openat(c.copies, f.copy, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	src := os.NewFile(uintptr(from), f.copy)
	defer src.Close()
	to, err := unix.Openat(dir, temp, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	dst := os.NewFile(uintptr(to), temp)
	defer dst.Close()
	if _, err := copySparse(dst, src); err != nil {
		return err
	}
	if err := unix.Fchmod(to, f.mode); err != nil {
		return err
	}
	return dst.Sync()
}

// note writes down a copy before it is made, for [SweepLayers].
func (c *commit) note(path string) error {
	j, err := os.OpenFile(filepath.Join(c.layer.dir, journalName), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = j.WriteString(strconv.Quote(path) + "\n") // a name may hold anything
	return errors.Join(err, j.Close())
}
