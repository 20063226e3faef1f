package sandbox

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// link lists a symbolic link. It is carried out as it is, and never followed.
func (s *scan) link(up, low int, name, rel string, was unix.Stat_t) error {
	target, err := readLink(up, name)
	if err != nil {
		return err
	}
	if was.Mode&unix.S_IFMT == unix.S_IFLNK {
		if old, err := readLink(low, name); err == nil && old == target {
			return nil
		}
	}
	f := found{Change: Change{Kind: kindOf(was), Size: int64(len(target)), Was: was.Size}, rel: rel, was: was, copy: s.next()}
	if err := unix.Symlinkat(target, s.copies, f.copy); err != nil {
		return err
	}
	if err := s.add(f); err != nil {
		return err
	}
	last := &s.found[len(s.found)-1]
	if last.Runs == "" {
		last.Runs = leadsLater(rel)
	}
	return nil
}

func readLink(at int, name string) (string, error) {
	buf := make([]byte, linkBytes)
	n, err := unix.Readlinkat(at, name, buf)
	if err != nil {
		return "", err
	}
	return string(buf[:n]), nil
}

// file lists and copies a regular file, unless it is as it was.
func (s *scan) file(up, low int, name, rel string, st, was unix.Stat_t) error {
	src, err := openFile(up, name, st)
	if err != nil {
		return err
	}
	defer src.Close()
	if was.Mode&unix.S_IFMT == unix.S_IFREG && was.Size == st.Size && was.Mode&0o777 == st.Mode&0o777 {
		same := was.Mtim == st.Mtim
		if st.Size <= sameBytes {
			if same, err = sameFile(src, low, name, was); err != nil {
				return err
			}
		}
		if same {
			return nil
		}
	}
	f := found{rel: rel, was: was, copy: s.next(), mode: st.Mode & 0o777}
	fd, err := unix.Openat(s.copies, f.copy, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	dst := os.NewFile(uintptr(fd), f.copy)
	size, err := copySparse(dst, src)
	if err := errors.Join(err, dst.Close()); err != nil {
		return err
	}
	f.Change = Change{Kind: kindOf(was), Size: size, Was: was.Size, New: filepath.Join(s.at, f.copy)}
	return s.add(f)
}

// openFile opens the regular file that st describes; waiting for a pipe and
// following a link are what the program might want.
func openFile(at int, name string, st unix.Stat_t) (*os.File, error) {
	fd, err := unix.Openat(at, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	var now unix.Stat_t
	if err := unix.Fstat(fd, &now); err != nil || now.Mode&unix.S_IFMT != unix.S_IFREG || now.Ino != st.Ino || now.Dev != st.Dev {
		unix.Close(fd)
		return nil, errors.New("it was replaced while it was looked at")
	}
	return os.NewFile(uintptr(fd), name), nil
}

// sameFile compares a small file with the tree's.
func sameFile(src *os.File, low int, name string, was unix.Stat_t) (bool, error) {
	old, err := openFile(low, name, was)
	if err != nil {
		return false, nil // not to be read, so it was not copied from
	}
	defer old.Close()
	a, err := io.ReadAll(io.LimitReader(src, sameBytes+1))
	if err != nil {
		return false, err
	}
	b, err := io.ReadAll(io.LimitReader(old, sameBytes+1))
	if err != nil {
		return false, err
	}
	return bytes.Equal(a, b), nil
}

// copySparse copies a file without filling its holes, and returns its size.
func copySparse(dst, src *os.File) (int64, error) {
	st, err := src.Stat()
	if err != nil {
		return 0, err
	}
	size := st.Size()
	if err := dst.Truncate(size); err != nil {
		return 0, err
	}
	for at := int64(0); at < size; {
		from, err := unix.Seek(int(src.Fd()), at, unix.SEEK_DATA)
		if err == unix.ENXIO { // a hole up to the end
			break
		}
		to := size
		if err == nil {
			if to, err = unix.Seek(int(src.Fd()), from, unix.SEEK_HOLE); err != nil {
				to = size
			}
		} else { // a file system that does not know holes
			from = at
		}
		to = min(to, size)
		if from >= to {
			break
		}
		if _, err := src.Seek(from, io.SeekStart); err != nil {
			return 0, err
		}
		if _, err := dst.Seek(from, io.SeekStart); err != nil {
			return 0, err
		}
		if _, err := io.CopyN(dst, src, to-from); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		at = to
	}
	return size, nil
}
