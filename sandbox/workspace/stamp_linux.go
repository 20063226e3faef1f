package workspace

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// nonblock keeps a pipe from blocking the one who opens it.
const nonblock = syscall.O_NONBLOCK

func stampOf(st fs.FileInfo) stamp {
	s := stamp{Size: st.Size(), Modified: st.ModTime().UnixNano()}
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		s.Device, s.Inode, s.Changed = uint64(sys.Dev), sys.Ino, sys.Ctim.Nano()
	}
	return s
}

func links(st fs.FileInfo) uint64 {
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		return uint64(sys.Nlink)
	}
	return 1
}

// clone shares the blocks of from, where the file system can do that.
func clone(to, from *os.File) error {
	return unix.IoctlFileClone(int(to.Fd()), int(from.Fd()))
}

// freeSpace returns the bytes free for this user where dir lies.
func freeSpace(dir string) (int64, bool) {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return 0, false
	}
	return int64(st.Bavail) * int64(st.Bsize), true
}
