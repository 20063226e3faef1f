package catalog

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// inode returns 0: a file's size and time must do on Windows.
func inode(fs.FileInfo) uint64 { return 0 }

// syncDir does nothing: Windows writes folder changes through by itself.
func syncDir(string) error { return nil }

// tryLock takes an exclusive lock that ends with the process; false: taken.
func tryLock(f *os.File) (bool, error) {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

// isFull reports whether err says that the disk has no room left.
func isFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}
