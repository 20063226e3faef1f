//go:build unix

package storage

import (
	"errors"
	"os"
	"syscall"
)

// tryLock locks f or returns errHeld at once.
func tryLock(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EWOULDBLOCK):
			return errHeld
		case err != nil:
			return &os.PathError{Op: "lock", Path: f.Name(), Err: err}
		}
		return nil
	}
}

// unlockDatabase drops the lock of bbolt on f, also where something else keeps f
// open.
func unlockDatabase(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_UN)
}
