package sandbox

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// stage is where the new root is put together. The mount hides nothing from
// anybody: it happens in the helper's own mount namespace.
const stage = "/tmp"

const (
	homeSize   = 64 << 20 // bytes of the made-up home folder
	tmpfsFiles = 200_000
)

// buildRoot replaces the helper's root folder by the view that o allows.
// Sources are cloned first, while the machine's own tree is still in place.
func buildRoot(o order) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	v := newView(o)
	clones := make([]int, len(v.binds))
	for i, b := range v.binds {
		fd, err := cloneTree(b)
		if err != nil {
			return err
		}
		clones[i] = fd
	}
	if err := unix.Mount("tmpfs", stage, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=755,size=4m"); err != nil {
		return fmt.Errorf("mount root: %w", err)
	}
	if err := furnish(stage, v.links, o); err != nil {
		return err
	}
	root, err := unix.Open(stage, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(root)
	for i, b := range v.binds {
		if err := attach(root, clones[i], b); err != nil {
			return fmt.Errorf("attach %s: %w", b.dst, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.Links)) { // a folder before what lies in it
		if err := alias(root, name, o.Links[name]); err != nil {
			return fmt.Errorf("link %s: %w", name, err)
		}
	}
	if err := unix.Mount("proc", filepath.Join(stage, "proc"), "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount proc: %w", err)
	}
	// The old root lands on top of the new one and is dropped from there.
	if err := unix.Chdir(stage); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("pivot root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("drop old root: %w", err)
	}
	return unix.Chdir("/")
}

// cloneTree returns a detached copy of a source with its final attributes.
func cloneTree(b bind) (int, error) {
	fd, err := unix.OpenTree(unix.AT_FDCWD, b.src, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
	if err != nil {
		return -1, fmt.Errorf("open %s: %w", b.src, err)
	}
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_NOSUID, Propagation: unix.MS_PRIVATE}
	if !b.writable {
		attr.Attr_set |= unix.MOUNT_ATTR_RDONLY
	}
	if !b.device {
		attr.Attr_set |= unix.MOUNT_ATTR_NODEV
	}
	if err := unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &attr); err != nil {
		return -1, fmt.Errorf("set attributes of %s: %w", b.src, err)
	}
	return fd, nil
}

// attach puts a detached tree at its place below root.
func attach(root, fd int, b bind) error {
	defer unix.Close(fd)
	dir, err := isDir(fd)
	if err != nil {
		return err
	}
	target, err := mountPoint(root, b.dst, dir)
	if err != nil {
		return err
	}
	defer unix.Close(target)
	return unix.MoveMount(fd, "", target, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
}

// alias makes path lead to target, unless the trees that are mounted there show
// the user's own link already. A link and not a second mount: that would lack
// what is mounted over parts of the first.
func alias(root int, path, target string) error {
	if seen, err := openInside(root, path); err == nil {
		return unix.Close(seen)
	}
	parent, err := mountPoint(root, filepath.Dir(path), true)
	if err != nil {
		return err
	}
	defer unix.Close(parent)
	return unix.Symlinkat(target, parent, filepath.Base(path))
}

// mountPoint opens path below root and makes what is missing of it.
func mountPoint(root int, path string, dir bool) (int, error) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	at, err := openInside(root, "/")
	for i := range parts {
		if err != nil {
			return -1, err
		}
		prefix := strings.Join(parts[:i+1], "/")
		next, open := openInside(root, prefix)
		if open == unix.ENOENT {
			if dir || i < len(parts)-1 {
				err = unix.Mkdirat(at, parts[i], 0o755)
			} else {
				err = unix.Mknodat(at, parts[i], unix.S_IFREG|0o644, 0)
			}
			if err == nil {
				next, open = openInside(root, prefix)
			} else {
				open = err
			}
		}
		unix.Close(at)
		at, err = next, open
	}
	return at, err
}

// openInside opens a path as if root were the root folder already: a link in
// the user's folders must not lead our own steps out of it.
func openInside(root int, path string) (int, error) {
	return unix.Openat2(root, path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT})
}

// furnish makes what exists only inside: private file systems and made-up
// system files.
func furnish(root string, links map[string]string, o order) error {
	for _, d := range []string{"proc", "dev/shm", "dev/pts", "tmp", "home", "run", "etc", "var", "sys"} {
		if err := os.MkdirAll(filepath.Join(root, d), 0o755); err != nil {
			return err
		}
	}
	// Half of the memory limit each: pages of a tmpfs are memory.
	size := ""
	if o.Limits.Memory > 0 {
		size = fmt.Sprintf(",size=%d", o.Limits.Memory/2)
	}
	for _, t := range []struct{ dir, options string }{
		{"tmp", fmt.Sprintf("mode=1777,nr_inodes=%d%s", tmpfsFiles, size)},
		{"dev/shm", fmt.Sprintf("mode=1777,nr_inodes=%d%s", tmpfsFiles, size)},
		{"home", fmt.Sprintf("mode=755,nr_inodes=%d,size=%d", tmpfsFiles, homeSize)},
	} {
		if err := unix.Mount("tmpfs", filepath.Join(root, t.dir), "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, t.options); err != nil {
			return fmt.Errorf("mount %s: %w", t.dir, err)
		}
	}
	if err := unix.Mount("devpts", filepath.Join(root, "dev/pts"), "devpts", unix.MS_NOSUID|unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=620"); err != nil {
		return fmt.Errorf("mount dev/pts: %w", err)
	}
	if err := os.Mkdir(filepath.Join(root, "home/user"), 0o700); err != nil {
		return err
	}
	for link, target := range map[string]string{
		"dev/ptmx": "pts/ptmx", "dev/fd": "/proc/self/fd", "dev/stdin": "/proc/self/fd/0",
		"dev/stdout": "/proc/self/fd/1", "dev/stderr": "/proc/self/fd/2", "var/tmp": "/tmp",
	} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			return err
		}
	}
	for link, target := range links {
		at := filepath.Join(root, link)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return err
		}
		if err := os.Symlink(target, at); err != nil {
			return err
		}
	}
	for name, text := range map[string]string{
		"etc/passwd":        fmt.Sprintf("user:x:%d:%d:user:/home/user:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n", o.UID, o.UID),
		"etc/group":         fmt.Sprintf("user:x:%d:\nnogroup:x:65534:\n", o.UID),
		"etc/hosts":         "127.0.0.1 localhost sandbox\n::1 localhost\n",
		"etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// sealRoot sets what /proc can set, and then makes /proc and the root
// read-only. As the machine's root, /proc/sys would be writable by user number
// alone, and core_pattern in it runs programs outside.
func sealRoot(o order) (facts, error) {
	var f facts
	if err := os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0); err != nil {
		return f, err
	}
	// Before 6.14 this number is the whole machine's, and root may change it.
	if o.Limits.Procs > 0 && kernelAtLeast(6, 14) {
		n := lowPids + o.Limits.Procs + spareProcs
		f.PidMax = os.WriteFile("/proc/sys/kernel/pid_max", fmt.Append(nil, n), 0) == nil
	}
	// When memory runs out, the kernel should choose us. Where that is
	// forbidden nothing is lost but courtesy.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	readOnly := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	for _, dir := range []string{"/proc", "/"} {
		if err := unix.MountSetattr(unix.AT_FDCWD, dir, 0, &readOnly); err != nil {
			return f, fmt.Errorf("make %s read-only: %w", dir, err)
		}
	}
	return f, nil
}

func kernelAtLeast(major, minor int) bool {
	var u unix.Utsname
	var a, b int
	if unix.Uname(&u) != nil {
		return false
	}
	if n, _ := fmt.Sscanf(unix.ByteSliceToString(u.Release[:]), "%d.%d", &a, &b); n != 2 {
		return false
	}
	return a > major || a == major && b >= minor
}
