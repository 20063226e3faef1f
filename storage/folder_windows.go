package storage

import (
	"errors"

	"golang.org/x/sys/windows"
)

// isFull reports whether the disk has no room left.
func isFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}

// syncDir does nothing: NTFS keeps names in its own journal and Windows has
// no call that flushes a folder.
func syncDir(string) error { return nil }
