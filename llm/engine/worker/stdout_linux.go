package worker

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// takeStdout moves the standard output to a descriptor that only this package
// knows and points descriptor 1 at the standard error, so that nothing a
// native library prints can get between two frames.
func takeStdout() (*os.File, error) {
	fd, err := unix.FcntlInt(1, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, fmt.Errorf("keep standard output: %w", err)
	}
	// Dup3, because linux/arm64 has no dup2.
	if err := unix.Dup3(2, 1, 0); err != nil {
		return nil, fmt.Errorf("redirect standard output: %w", err)
	}
	return os.NewFile(uintptr(fd), "frames"), nil
}
