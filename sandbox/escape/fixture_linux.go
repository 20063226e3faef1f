package escape

import (
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// calls are the system calls that attempts make by number.
var calls = map[string]int{
	"open_by_handle_at": unix.SYS_OPEN_BY_HANDLE_AT, "name_to_handle_at": unix.SYS_NAME_TO_HANDLE_AT,
	"inotify_init1": unix.SYS_INOTIFY_INIT1, "inotify_add_watch": unix.SYS_INOTIFY_ADD_WATCH,
	"fchmodat2": unix.SYS_FCHMODAT2, "openat2": unix.SYS_OPENAT2, "tgkill": unix.SYS_TGKILL,
	"pidfd_open": unix.SYS_PIDFD_OPEN, "pidfd_send_signal": unix.SYS_PIDFD_SEND_SIGNAL, "pidfd_getfd": unix.SYS_PIDFD_GETFD,
	"ptrace": unix.SYS_PTRACE, "process_vm_readv": unix.SYS_PROCESS_VM_READV, "prlimit64": unix.SYS_PRLIMIT64,
	"setpriority": unix.SYS_SETPRIORITY, "sched_setaffinity": unix.SYS_SCHED_SETAFFINITY,
	"sched_setscheduler": unix.SYS_SCHED_SETSCHEDULER, "ioprio_set": unix.SYS_IOPRIO_SET, "kcmp": unix.SYS_KCMP,
	"shmget": unix.SYS_SHMGET, "shmat": unix.SYS_SHMAT, "mq_open": unix.SYS_MQ_OPEN,
	"keyctl": unix.SYS_KEYCTL, "add_key": unix.SYS_ADD_KEY, "request_key": unix.SYS_REQUEST_KEY,
	"socket": unix.SYS_SOCKET, "io_uring_setup": unix.SYS_IO_URING_SETUP, "unshare": unix.SYS_UNSHARE,
	"clone": unix.SYS_CLONE, "clone3": unix.SYS_CLONE3, "setns": unix.SYS_SETNS, "mount": unix.SYS_MOUNT,
	"umount2": unix.SYS_UMOUNT2, "fsopen": unix.SYS_FSOPEN, "open_tree": unix.SYS_OPEN_TREE,
	"mount_setattr": unix.SYS_MOUNT_SETATTR, "chroot": unix.SYS_CHROOT, "pivot_root": unix.SYS_PIVOT_ROOT,
	"bpf": unix.SYS_BPF, "perf_event_open": unix.SYS_PERF_EVENT_OPEN, "userfaultfd": unix.SYS_USERFAULTFD,
	"fanotify_init": unix.SYS_FANOTIFY_INIT, "personality": unix.SYS_PERSONALITY, "reboot": unix.SYS_REBOOT,
	"kexec_load": unix.SYS_KEXEC_LOAD, "init_module": unix.SYS_INIT_MODULE, "swapon": unix.SYS_SWAPON,
	"acct": unix.SYS_ACCT, "settimeofday": unix.SYS_SETTIMEOFDAY, "sethostname": unix.SYS_SETHOSTNAME,
	"syslog": unix.SYS_SYSLOG, "vhangup": unix.SYS_VHANGUP, "ioctl": unix.SYS_IOCTL, "memfd_create": unix.SYS_MEMFD_CREATE,
	"memfd_secret": unix.SYS_MEMFD_SECRET, "renameat2": unix.SYS_RENAMEAT2, "rt_sigqueueinfo": unix.SYS_RT_SIGQUEUEINFO,
	"process_vm_writev": unix.SYS_PROCESS_VM_WRITEV, "process_madvise": unix.SYS_PROCESS_MADVISE, "move_pages": unix.SYS_MOVE_PAGES,
	"semget": unix.SYS_SEMGET, "msgget": unix.SYS_MSGGET, "delete_module": unix.SYS_DELETE_MODULE, "quotactl": unix.SYS_QUOTACTL,
	"clock_settime": unix.SYS_CLOCK_SETTIME, "adjtimex": unix.SYS_ADJTIMEX, "capset": unix.SYS_CAPSET, "fchmodat": unix.SYS_FCHMODAT,
}

// fixtures tells those of one process apart.
var fixtures atomic.Int32

// kernelObjects makes what lies in no folder: abstract sockets, shared memory,
// a message queue.
func (fx *fixture) kernelObjects(id string) error {
	shm := filepath.Join("/dev/shm", id)
	if err := os.WriteFile(shm, []byte(secret), 0o644); err != nil {
		return err
	}
	fx.later(func() { os.Remove(shm) })
	if _, err := fx.serve("unix", "@"+id); err != nil {
		return err
	}
	d, err := net.ListenPacket("unixgram", "@"+id+"-d")
	if err != nil {
		return err
	}
	fx.later(func() { d.Close() })
	key := 0x41000000 + os.Getpid()<<4&0xffffff + int(fixtures.Add(1)&0xf)
	segment, err := unix.SysvShmGet(key, 16, unix.IPC_CREAT|0o666)
	if err != nil {
		return os.NewSyscallError("shmget", err)
	}
	fx.later(func() { unix.SysvShmCtl(segment, unix.IPC_RMID, nil) })
	fx.sysv(key)
	fx.queue(id)
	fx.facts["left_key"] = key + 1<<24
	fx.later(func() {
		if left, err := unix.SysvShmGet(key+1<<24, 0, 0); err == nil {
			unix.SysvShmCtl(left, unix.IPC_RMID, nil)
		}
	})
	disk, number := someDisk()
	for name, v := range map[string]any{
		"nr": calls, "shm_file": shm, "sock_abstract": id, "sock_abstract_datagram": id + "-d", "shm_key": key, "mq": id,
		"disk": disk, "disk_number": number,
	} {
		fx.facts[name] = v
	}
	return nil
}

// sysv makes a semaphore and a queue of the older kind, where the kernel has them.
func (fx *fixture) sysv(key int) {
	if id, _, e := unix.Syscall(unix.SYS_SEMGET, uintptr(key), 1, unix.IPC_CREAT|0o666); e == 0 {
		fx.later(func() { unix.Syscall(unix.SYS_SEMCTL, id, 0, unix.IPC_RMID) })
	}
	if id, _, e := unix.Syscall(unix.SYS_MSGGET, uintptr(key), unix.IPC_CREAT|0o666, 0); e == 0 {
		fx.later(func() { unix.Syscall(unix.SYS_MSGCTL, id, unix.IPC_RMID, 0) })
	}
}

// queue makes a POSIX message queue, where the kernel has them.
func (fx *fixture) queue(name string) {
	p, err := syscall.BytePtrFromString(name)
	if err != nil {
		return
	}
	fd, _, e := unix.Syscall6(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(p)), unix.O_CREAT|unix.O_RDWR, 0o666, 0, 0, 0)
	if e != 0 {
		return
	}
	unix.Close(int(fd))
	fx.later(func() { unix.Syscall(unix.SYS_MQ_UNLINK, uintptr(unsafe.Pointer(p)), 0, 0) })
}

// leftInKernel says what an attempt left that lies in no folder.
func (fx *fixture) leftInKernel(name string) string {
	if _, err := unix.SysvShmGet(fx.facts[name].(int), 0, 0); err == nil {
		return "still there after the end"
	}
	return ""
}

// ended reports whether a child has ended, without collecting it.
func ended(p *os.Process) bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, p.Pid, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	return err != nil || info.Signo != 0
}

// someDisk returns a disk that exists here, and its number.
func someDisk() (string, uint64) {
	for _, p := range []string{"/dev/vda", "/dev/sda", "/dev/nvme0n1"} {
		var st unix.Stat_t
		if unix.Stat(p, &st) == nil {
			return p, st.Rdev
		}
	}
	return "", 0
}
