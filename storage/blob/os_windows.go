package blob

import (
	"errors"

	"golang.org/x/sys/windows"
)

// cannotSyncDirs says that the system has no call that flushes a folder; NTFS
// keeps names in its own journal.
const cannotSyncDirs = true

// isFull reports whether the disk has no room left.
func isFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}
