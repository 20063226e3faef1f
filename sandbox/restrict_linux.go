package sandbox

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Kernel limits of the process numbers of a namespace.
const (
	lowPids    = 300 // numbers that the kernel gives out only once, at the start of a namespace
	spareProcs = 32  // above Limits.Procs: our own threads, and room for the watcher to see the excess
	minFiles   = 64  // open files: fewer and the helper itself could not work
	lockable   = 8 << 20
)

// loopbackUp starts the only interface of the network namespace.
func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	ifr, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	ifr.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, ifr)
}

// dropCapabilities takes every capability from the calling thread, which must
// be locked, and from what it starts. The process's other threads keep theirs:
// the watcher needs to look into folders that the program has closed to itself.
// bounding says that the thread holds CAP_SETPCAP, without which the bounding
// set stays; no_new_privs makes it useless.
func dropCapabilities(bounding bool) error {
	for c := uintptr(0); bounding && c <= 63; c++ {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		if err == unix.EINVAL { // past the last one that this kernel knows
			break
		}
		if err != nil {
			return fmt.Errorf("drop capability %d: %w", c, err)
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("clear ambient capabilities: %w", err)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	// Not AllThreadsSyscall: it does not exist in a program that uses libc.
	if _, _, e := unix.RawSyscall(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&none[0])), 0); e != 0 {
		return fmt.Errorf("set capabilities: %w", e)
	}
	return nil
}

// setLimits sets the kernel's limits of one process. Those of a whole tree are
// the watcher's.
func setLimits(l Limits, procs int) error {
	set := func(name string, resource int, value int64) error {
		var now unix.Rlimit
		if err := unix.Getrlimit(resource, &now); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		v := min(uint64(value), now.Max)
		if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: v, Max: v}); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	}
	type limit struct {
		name     string
		resource int
		value    int64
	}
	limits := []limit{
		{"core", unix.RLIMIT_CORE, 0},
		{"msgqueue", unix.RLIMIT_MSGQUEUE, 819200},
		{"sigpending", unix.RLIMIT_SIGPENDING, 1024},
	}
	if l.Memory > 0 {
		// Not RLIMIT_AS: runtimes reserve address space that they never use.
		limits = append(limits, limit{"data", unix.RLIMIT_DATA, l.Memory}, limit{"memlock", unix.RLIMIT_MEMLOCK, lockable})
	}
	if l.FileSize > 0 {
		limits = append(limits, limit{"fsize", unix.RLIMIT_FSIZE, l.FileSize})
	}
	if l.Files > 0 {
		limits = append(limits, limit{"nofile", unix.RLIMIT_NOFILE, int64(max(l.Files, minFiles))})
	}
	if procs > 0 {
		limits = append(limits, limit{"nproc", unix.RLIMIT_NPROC, int64(procs)})
	}
	for _, r := range limits {
		if err := set(r.name, r.resource, r.value); err != nil {
			return err
		}
	}
	return nil
}
