package sandbox

import (
	"os"

	"golang.org/x/sys/unix"
)

// eachName calls do for each name of an open folder, until its first error. A
// folder that cannot be read, or no longer, has no more names.
func eachName(fd int, do func(name string) error) error {
	again, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return err
	}
	dir := os.NewFile(uintptr(again), "folder")
	names, _ := dir.Readdirnames(-1) // as far as it can be read
	dir.Close()                      // before the folders below are opened
	for _, name := range names {
		if err := do(name); err != nil {
			return err
		}
	}
	return nil
}
