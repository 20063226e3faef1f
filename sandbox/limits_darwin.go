package sandbox

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	spareProcs = 32 // above Limits.Procs: room for the watcher to see the excess
	minFiles   = 64 // open files: fewer and the helper itself could not work
)

// setLimits sets the kernel's limits of one process, for the helper and all that
// it starts. There is none for memory: RLIMIT_AS would end runtimes that reserve
// address space which they never use, and the system does not obey RLIMIT_RSS.
// Not [unix.Setrlimit]: only of the other one does Go know, which else sets the
// number of files back in what it starts.
func setLimits(l Limits) error {
	set := func(name string, resource int, value int64) error {
		var now syscall.Rlimit
		if err := syscall.Getrlimit(resource, &now); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		most := now.Max
		if resource == unix.RLIMIT_NOFILE {
			most = now.Cur // Go has raised it as far as the system lets it
		}
		v := min(uint64(value), most)
		if err := syscall.Setrlimit(resource, &syscall.Rlimit{Cur: v, Max: v}); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	}
	if err := set("core", unix.RLIMIT_CORE, 0); err != nil {
		return err
	}
	if l.FileSize > 0 {
		if err := set("fsize", unix.RLIMIT_FSIZE, l.FileSize); err != nil {
			return err
		}
	}
	if l.Files > 0 {
		if err := set("nofile", unix.RLIMIT_NOFILE, int64(max(l.Files, minFiles))); err != nil {
			return err
		}
	}
	if l.Procs > 0 {
		// The kernel counts all of the user's processes here.
		table, err := processTable()
		if err != nil {
			return fmt.Errorf("count processes: %w", err)
		}
		procs := l.Procs + spareProcs
		for _, r := range table {
			if r.own {
				procs++
			}
		}
		return set("nproc", unix.RLIMIT_NPROC, int64(procs))
	}
	return nil
}
