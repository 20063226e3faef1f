package sandbox

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// maxrssUnit is what getrusage counts a process's memory in.
const maxrssUnit = 1

// The call proc_info behind libproc, which a program without cgo does not have,
// from bsd/sys/proc_info_private.h and sys/resource.h.
const (
	infoOfProcess = 2 // PROC_INFO_CALL_PIDINFO
	infoTask      = 4 // PROC_PIDTASKINFO
	infoUsage     = 9 // PROC_INFO_CALL_PIDRUSAGE
	infoUsageV1   = 1 // RUSAGE_INFO_V1
)

// ticksPerSecond is the unit of times in struct rusage_info; 0 when the system
// does not say.
var ticksPerSecond = sync.OnceValue(func() uint64 {
	n, err := unix.SysctlUint64("hw.tbfrequency")
	if err != nil {
		return 0
	}
	return n
})

func usageOf(pid int) (*[rusageSize]byte, error) {
	var b [rusageSize]byte
	// The kernel knows the size by the version.
	_, _, e := syscall.Syscall6(syscall.SYS_PROC_INFO, infoUsage, uintptr(pid), infoUsageV1, 0, uintptr(unsafe.Pointer(&b[0])), 0)
	if e != 0 {
		return nil, e
	}
	return &b, nil
}

// usage returns a process's memory in bytes and its threads. A process that is
// gone has none.
func usage(pid int) (memory int64, threads int) {
	b, err := usageOf(pid)
	if err != nil {
		return 0, 0
	}
	var task [taskSize]byte
	n, _, e := syscall.Syscall6(syscall.SYS_PROC_INFO, infoOfProcess, uintptr(pid), infoTask, 0, uintptr(unsafe.Pointer(&task[0])), taskSize)
	if e != 0 || n < taskSize {
		return rusageMemory(b), 1
	}
	return rusageMemory(b), max(taskThreadCount(&task), 1)
}

// exactUsage is the memory of usage, in which shared pages do not count twice.
func exactUsage(pid int) int64 {
	memory, _ := usage(pid)
	return memory
}

// cpuOf returns the processor time of a process and of its children that it has
// looked after; 0 when it is gone.
func cpuOf(pid int) time.Duration {
	b, err := usageOf(pid)
	if err != nil {
		return 0
	}
	return rusageCPU(b, ticksPerSecond())
}

// checkMeasures tries on the helper itself whether processes can be measured: a
// limit that counts nothing would be none.
func checkMeasures() error {
	self := os.Getpid()
	if _, err := usageOf(self); err != nil {
		return fmt.Errorf("ask for the memory of a process: %w", err)
	}
	if memory, threads := usage(self); memory <= 0 || threads < 2 { // Go has more than one
		return fmt.Errorf("the system counts %d bytes and %d threads of a program of Go", memory, threads)
	}
	if ticksPerSecond() == 0 || cpuOf(self) <= 0 {
		return errors.New("the system counts no processor time")
	}
	if r, ok := processRow(self); !ok || r.parent != os.Getppid() || r.start <= 0 || r.session == 0 {
		return errors.New("the system does not show the processes")
	}
	return nil
}
