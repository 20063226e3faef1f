//go:build unix

package blob

import (
	"errors"
	"syscall"
)

// cannotSyncDirs says that the system has no call that flushes a folder.
const cannotSyncDirs = false

// isFull reports whether the disk or the person's quota has no room left.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
