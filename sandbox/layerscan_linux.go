package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	// maxChanges bounds what one layer can do: more is looked at by nobody.
	maxChanges = 50_000
	// sameBytes is the size up to which a file that was opened for writing is
	// compared by what it holds, and not by its time.
	sameBytes = 4 << 20
	linkBytes = 4096 // the longest link
)

var errTooMany = fmt.Errorf("the layer holds more than %d changes; it can only be discarded", maxChanges)

// A found is a change and what Commit needs for it.
type found struct {
	Change
	tree int
	rel  string      // path in the tree
	was  unix.Stat_t // what the tree has there; Mode 0: nothing
	copy string      // name of the complete new file or link in the folder of copies
	mode uint32      // its permissions
	now  bool        // a deletion that makes way for something else
}

// shot is the folder of the copies.
func (l *layer) shot() string { return filepath.Join(l.dir, "copies-"+strconv.Itoa(l.shots)) }

// look lists and copies what the layer has changed.
func (l *layer) look() error {
	if l.shots > 0 {
		if err := removeLayer(l.shot()); err != nil {
			return err
		}
	}
	l.shots++
	l.found, l.taken = nil, false
	if err := os.Mkdir(l.shot(), 0o700); err != nil {
		return err
	}
	copies, err := unix.Open(l.shot(), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(copies)
	s := scan{copies: copies, at: l.shot()}
	for i, t := range l.trees {
		s.tree, s.root = i, t.path
		up, err := openFolder(unix.AT_FDCWD, t.upper)
		if err != nil {
			return err
		}
		if err := s.folder(up, t.fd, "", false, 0); err != nil {
			return err
		}
	}
	s.repositories()
	l.found, l.taken = s.found, true
	return nil
}

// repositories marks what makes a bare Git repository of a folder, whatever its
// name: Git obeys the settings in it at the next command that is given there.
func (s *scan) repositories() {
	in := map[string]map[string]int{}
	for i, f := range s.found {
		if dir := filepath.Dir(f.Path); f.Kind != "deleted" {
			if in[dir] == nil {
				in[dir] = map[string]int{}
			}
			in[dir][fold(filepath.Base(f.Path))] = i
			if fold(filepath.Base(dir)) == "hooks" && in[filepath.Dir(dir)] == nil {
				in[filepath.Dir(dir)] = map[string]int{}
			}
		}
	}
	for dir, names := range in {
		has := func(name string) bool {
			if _, ok := names[name]; ok {
				return true
			}
			for _, as := range []string{name, strings.ToUpper(name)} {
				if _, err := os.Lstat(filepath.Join(dir, as)); err == nil {
					return true
				}
			}
			return false
		}
		if !has("head") || (!has("objects") || !has("refs")) && !has("commondir") {
			continue
		}
		for _, name := range []string{"head", "config", "hooks", "objects", "refs", "commondir"} {
			if i, ok := names[name]; ok && s.found[i].Runs == "" {
				s.found[i].Runs = whyGit
			}
		}
		for i, f := range s.found {
			if f.Kind != "deleted" && f.Runs == "" && filepath.Dir(f.Path) == filepath.Join(dir, "hooks") {
				s.found[i].Runs = whyGit
			}
		}
	}
}

// A scan goes through the upper folders, which hold what was written, a device
// 0/0 for what was removed, and marked folders for those made anew in the place
// of others.
type scan struct {
	copies int
	at     string
	tree   int
	root   string
	found  []found
}

// folder compares a folder of the layer with the tree's, -1 if there is none;
// anew says that nothing of the tree's shows through. It closes up.
func (s *scan) folder(up, low int, rel string, anew bool, depth int) error {
	defer unix.Close(up)
	if depth > maxDepth {
		return errTooDeep
	}
	names, err := namesIn(up)
	if err != nil {
		return err
	}
	if anew && low >= 0 {
		below, err := relist(low)
		if err != nil {
			return err
		}
		seen := map[string]bool{}
		for _, n := range names {
			seen[n] = true
		}
		for _, n := range below {
			if !seen[n] {
				if err := s.deleted(low, n, filepath.Join(rel, n), false, depth); err != nil {
					return err
				}
			}
		}
	}
	for _, n := range names {
		if err := s.entry(up, low, n, filepath.Join(rel, n), anew, depth); err != nil {
			return fmt.Errorf("%s: %w", filepath.Join(s.root, rel, n), err)
		}
	}
	return nil
}

// entry compares one name.
func (s *scan) entry(up, low int, name, rel string, anew bool, depth int) error {
	var st, was unix.Stat_t
	if err := unix.Fstatat(up, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		if err == unix.ENOENT {
			return nil // gone again
		}
		return err
	}
	if low < 0 || unix.Fstatat(low, name, &was, unix.AT_SYMLINK_NOFOLLOW) != nil {
		was = unix.Stat_t{}
	}
	kind, had := st.Mode&unix.S_IFMT, was.Mode&unix.S_IFMT
	switch {
	case kind == unix.S_IFCHR && st.Rdev == 0:
		if had == 0 {
			return nil
		}
		return s.deleted(low, name, rel, false, depth)
	case kind != unix.S_IFDIR && kind != unix.S_IFREG && kind != unix.S_IFLNK:
		return nil
	case had != 0 && (kind == unix.S_IFDIR) != (had == unix.S_IFDIR):
		if err := s.deleted(low, name, rel, true, depth); err != nil {
			return err
		}
		was, had = unix.Stat_t{}, 0
	}
	switch kind {
	case unix.S_IFDIR:
		return s.subfolder(up, low, name, rel, had != 0, anew, depth)
	case unix.S_IFLNK:
		return s.link(up, low, name, rel, was)
	}
	return s.file(up, low, name, rel, st, was)
}

func (s *scan) subfolder(up, low int, name, rel string, had, anew bool, depth int) error {
	fd, err := openFolder(up, name)
	if err != nil {
		return err
	}
	if !had {
		if err := s.add(found{Change: Change{Kind: "folder"}, rel: rel}); err != nil {
			unix.Close(fd)
			return err
		}
		return s.folder(fd, -1, rel, true, depth+1)
	}
	below, err := openFolder(low, name)
	if err != nil {
		unix.Close(fd)
		return err
	}
	defer unix.Close(below)
	// In a folder made anew those below it are anew, without a mark.
	return s.folder(fd, below, rel, anew || isAnew(fd), depth+1)
}

// isAnew reports whether a folder of the layer hides the tree's.
func isAnew(fd int) bool {
	var mark [8]byte
	n, err := unix.Fgetxattr(fd, "user.overlay.opaque", mark[:])
	return err == nil && n == 1 && mark[0] == 'y'
}

// deleted lists what was removed, a folder after what was in it. now says that
// something else takes its place.
func (s *scan) deleted(low int, name, rel string, now bool, depth int) error {
	if depth > maxDepth {
		return errTooDeep
	}
	var was unix.Stat_t
	if err := unix.Fstatat(low, name, &was, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return nil // removed outside as well
	}
	f := found{Change: Change{Kind: "deleted"}, rel: rel, was: was, now: now}
	if was.Mode&unix.S_IFMT != unix.S_IFDIR {
		f.Was = was.Size
		return s.add(f)
	}
	fd, err := openFolder(low, name)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	names, err := namesIn(fd)
	if err != nil {
		return err
	}
	for _, n := range names {
		if err := s.deleted(fd, n, filepath.Join(rel, n), now, depth+1); err != nil {
			return err
		}
	}
	return s.add(f)
}

func (s *scan) next() string { return strconv.Itoa(s.tree) + "-" + strconv.Itoa(len(s.found)) }

func (s *scan) add(f found) error {
	if len(s.found) == maxChanges {
		return errTooMany
	}
	f.tree, f.Path, f.Runs = s.tree, filepath.Join(s.root, f.rel), RunsLater(f.rel)
	if f.Kind == "folder" || f.Kind == "deleted" && f.was.Mode&unix.S_IFMT == unix.S_IFDIR {
		f.Runs = "" // what lies in it counts
	}
	s.found = append(s.found, f)
	return nil
}

func kindOf(was unix.Stat_t) string {
	if was.Mode == 0 {
		return "created"
	}
	return "changed"
}

// openFolder opens a folder and follows no link.
func openFolder(at int, name string) (int, error) {
	fd, err := unix.Openat(at, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err == unix.EACCES {
		return -1, errClosed
	}
	return fd, err
}

// relist lists a folder whose descriptor may have been read before.
func relist(fd int) ([]string, error) {
	again, err := openFolder(fd, ".")
	if err != nil {
		return nil, err
	}
	defer unix.Close(again)
	return namesIn(again)
}
