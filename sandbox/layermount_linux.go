package sandbox

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/landlock-lsm/go-landlock/landlock"
	"golang.org/x/sys/unix"
)

// The helper's side of layers: process 1, on a thread that still has its rights
// in the namespaces, mounts an overlay file system over each writable tree.

// Where the layers lie inside: below a folder that nobody may enter but who has
// the rights of process 1. The root folder is read-only, so that its mode stays.
const (
	layersHidden = "/.layers"
	layersPlace  = layersHidden + "/at"
)

// stepHeld is the step of a layer that fails because of open files.
const stepHeld = "held"

// layerTrees lists the writable folders that get a layer, as newOrder resolved
// them; their index names their part of a layer's folder.
func layerTrees(o order) []string {
	var trees []string
	for _, b := range policyBinds(o.Read, o.Write) {
		var st unix.Stat_t
		if b.writable && !b.device && hasPath(o.Write, b.dst) && unix.Stat(b.src, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR {
			trees = append(trees, b.dst)
		}
	}
	return trees
}

func hasPath(paths []string, path string) bool {
	for _, p := range paths {
		if p == path {
			return true
		}
	}
	return false
}

// layerAccess lets Landlock pass what is written through a layer. A rule holds
// for a folder of one file system, and the layer that is mounted over a tree is
// another one. So the rule is on the folder in which the tree is mounted, which
// Landlock comes by on its way up. It covers the tree's neighbours too: those
// are kept read-only by their mounts alone.
func layerAccess(o order) []landlock.Rule {
	var rules []landlock.Rule
	if o.Layers == "" {
		return nil
	}
	for _, t := range layerTrees(o) {
		if parent := filepath.Dir(t); parent != "/" {
			rules = append(rules, landlock.RWDirs(parent).WithRefer())
		}
	}
	return rules
}

// held reports whether a path can be written through a layer only: the innermost
// writable tree that has it is such a one.
func (o order) held(path string) bool {
	best, held := -1, false
	for _, w := range o.Write {
		if within(path, w) && len(w) > best {
			best, held = len(w), slices.Contains(o.Held, w)
		}
	}
	return held
}

// layerMounts puts a layer on and takes it off. One goroutine uses it.
type layerMounts struct {
	trees  []string
	binds  []bind // of the policy, in the trees and the trees themselves
	bad    error  // why no layer is to be had
	below  []int  // descriptors of binds while a layer is on
	held   []bool // of binds: read-only without a layer too
	frozen []int  // those of below that were made read-only
	on     []string
}

func newLayerMounts(o order) (*layerMounts, error) {
	if o.Layers == "" {
		return nil, nil
	}
	m := &layerMounts{trees: layerTrees(o)}
	for _, w := range o.Write {
		if !hasPath(m.trees, w) && !within(w, "/dev") {
			m.bad = fmt.Errorf("%s is a single file, and a layer lies over a folder", w)
		}
	}
	for _, b := range policyBinds(o.Read, o.Write) {
		for _, t := range m.trees {
			if filepath.Dir(t) == "/" {
				m.bad = fmt.Errorf("%s lies directly in the root folder", t)
			}
			if within(b.dst, t) {
				m.binds, m.held = append(m.binds, b), append(m.held, o.held(b.dst))
				break
			}
		}
	}
	// Made-up links lead to some places, as from /var/tmp to /tmp. Later, when
	// the program runs, no link is followed any more.
	var err error
	for i := range m.binds {
		if m.binds[i].dst, err = filepath.EvalSymlinks(m.binds[i].dst); err != nil {
			return nil, err
		}
	}
	for i := range m.trees {
		if m.trees[i], err = filepath.EvalSymlinks(m.trees[i]); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// try puts a layer on and takes it off, and returns why that does not work.
func (m *layerMounts) try(name string) string {
	err := m.begin(name)
	if err == nil {
		err = m.end()
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// obey carries out a command of the host.
func (m *layerMounts) obey(line string, out io.Writer) {
	var err error
	if name, ok := strings.CutPrefix(line, cmdLayer+"begin "); ok {
		err = m.begin(strings.TrimSuffix(name, "\n"))
	} else {
		err = m.end()
	}
	r := report{Event: eventLayer}
	if err != nil {
		r.Error = err.Error()
		if s := (*stepError)(nil); errors.As(err, &s) {
			r.Step = s.step
		}
	}
	// The host sees the end of the pipe when this does not arrive.
	_ = send(out, r)
}

// begin mounts the layer whose parts lie in the folder name.
func (m *layerMounts) begin(name string) (err error) {
	if m.bad != nil {
		return m.bad
	}
	if len(m.on) > 0 {
		return errors.New("there is a layer already")
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, m.end())
		}
	}()
	for _, b := range m.binds {
		fd, err := openPlain(b.dst)
		if err != nil {
			return fmt.Errorf("%s: %w", b.dst, err)
		}
		m.below = append(m.below, fd)
	}
	// A folder that the program stands in, or has open, is one below the layer:
	// nothing may be written there meanwhile.
	for i, b := range m.binds {
		if !b.writable || m.held[i] {
			continue
		}
		attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
		switch err := unix.MountSetattr(m.below[i], "", unix.AT_EMPTY_PATH, &attr); err {
		case nil:
			m.frozen = append(m.frozen, m.below[i])
		case unix.EBUSY:
			return failed(stepHeld, fmt.Errorf("in %s", b.dst))
		default:
			return fmt.Errorf("hold %s: %w", b.dst, err)
		}
	}
	for i, b := range m.binds {
		if err := m.cover(b, m.below[i], name); err != nil {
			return fmt.Errorf("%s: %w", b.dst, err)
		}
	}
	return nil
}

// cover puts a layer over a tree, or shows again over it what was mounted in
// the tree. below is that mount.
func (m *layerMounts) cover(b bind, below int, name string) error {
	at, err := openPlain(b.dst)
	if err != nil {
		return err
	}
	defer unix.Close(at)
	for i, t := range m.trees {
		if t != b.dst {
			continue
		}
		part := fmt.Sprintf("%s/%s/%d", layersPlace, name, i)
		options := fmt.Sprintf("userxattr,volatile,lowerdir=/proc/self/fd/%d,upperdir=%s/upper,workdir=%s/work", below, part, part)
		if err := unix.Mount("overlay", fmt.Sprintf("/proc/self/fd/%d", at), "overlay", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
			return fmt.Errorf("mount overlay: %w", err)
		}
		m.on = append(m.on, t)
		return nil
	}
	// A read-only place shows what is below; a folder on the way to one is pinned
	// as part of the layer, see policyBinds.
	from, flags := below, uint(unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_EMPTY_PATH|unix.AT_RECURSIVE)
	if b.writable {
		from, flags = at, flags&^unix.AT_RECURSIVE
	}
	fd, err := unix.OpenTree(from, "", flags)
	if err != nil {
		return fmt.Errorf("clone: %w", err)
	}
	defer unix.Close(fd)
	return unix.MoveMount(fd, "", at, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
}

// end takes off what begin has put on, all of it or a part.
func (m *layerMounts) end() error {
	var errs []error
	for i, t := range m.on {
		inner := false
		for _, outer := range m.on[:i] {
			inner = inner || within(t, outer) // goes with the outer one
		}
		if !inner {
			// A folder that was removed outside has taken its mounts along.
			err := unix.Unmount(t, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW)
			if err != nil && err != unix.EINVAL && err != unix.ENOENT {
				errs = append(errs, fmt.Errorf("%s: %w", t, err))
			}
		}
	}
	attr := unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY}
	for _, fd := range m.frozen {
		if err := unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH, &attr); err != nil && err != unix.EINVAL {
			errs = append(errs, err)
		}
	}
	for _, fd := range m.below {
		unix.Close(fd)
	}
	m.on, m.frozen, m.below = nil, nil, nil
	return errors.Join(errs...)
}

// openPlain opens what is on top at a path that leads through no link.
func openPlain(path string) (int, error) {
	return unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS})
}
