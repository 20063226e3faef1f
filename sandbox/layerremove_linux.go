package sandbox

import (
	"fmt"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// removeLayer removes a layer's folder. Folders that the program has closed are
// opened again, by descriptors: it may still stand in them and put links there.
func removeLayer(dir string) error {
	parent, err := unix.Open(filepath.Dir(dir), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(parent)
	if err := removeAt(parent, filepath.Base(dir), 0); err != nil {
		return fmt.Errorf("remove %s: %w", dir, err)
	}
	return nil
}

func removeAt(at int, name string, depth int) error {
	err := unix.Unlinkat(at, name, 0)
	if err == nil || err == unix.ENOENT {
		return nil
	}
	if err != unix.EISDIR && err != unix.EPERM {
		return err
	}
	const deepest = 4096 // one descriptor for each
	if depth > deepest {
		return errTooDeep
	}
	fd, err := unix.Openat(at, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	own := fmt.Sprintf("/proc/self/fd/%d", fd)
	// The link leads to this very folder. Whether it works shows below.
	_ = unix.Chmod(own, 0o700)
	list, err := unix.Open(own, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	unix.Close(fd)
	if err != nil {
		return err
	}
	defer unix.Close(list)
	names, err := namesIn(list)
	if err != nil {
		return err
	}
	for _, n := range names {
		if err := removeAt(list, n, depth+1); err != nil {
			return err
		}
	}
	return unix.Unlinkat(at, name, unix.AT_REMOVEDIR)
}

// namesIn lists a folder, sorted.
func namesIn(fd int) ([]string, error) {
	var names []string
	buf := make([]byte, 32<<10)
	for {
		n, err := unix.ReadDirent(fd, buf)
		if err != nil {
			return nil, err
		}
		if n <= 0 {
			slices.Sort(names)
			return names, nil
		}
		_, _, names = unix.ParseDirent(buf[:n], -1, names)
	}
}
