package sandbox

import "golang.org/x/sys/unix"

const namespaceFlags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET |
	unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWTIME

// setIDBits turn a file into one that runs with its owner's rights; such a
// file would outlive the sandbox.
const setIDBits = unix.S_ISUID | unix.S_ISGID

// creatBits make open create a file (O_TMPFILE without its O_DIRECTORY part).
const creatBits = unix.O_CREAT | unix.O_TMPFILE&^unix.O_DIRECTORY

func all(e unix.Errno, numbers ...int) []rule {
	rs := make([]rule, 0, len(numbers))
	for _, n := range numbers {
		rs = append(rs, rule{nr: n, errno: e})
	}
	return rs
}

// fullRules is the list of refusals inside namespaces. countable says that
// memory is limited, so that memory which nobody can count is refused.
func fullRules(countable bool) []rule {
	rs := commonRules(countable)
	rs = append(rs,
		rule{nr: unix.SYS_SOCKET, errno: unix.EAFNOSUPPORT, when: []condition{
			{arg: 0, test: differs, value: unix.AF_UNIX},
			{arg: 0, test: differs, value: unix.AF_INET},
			{arg: 0, test: differs, value: unix.AF_INET6},
		}},
		rule{nr: unix.SYS_SOCKET, errno: unix.EPERM, when: []condition{{arg: 1, test: equal, mask: 0xf, value: unix.SOCK_RAW}}},
		rule{nr: unix.SYS_SOCKET, errno: unix.EPERM, when: []condition{{arg: 1, test: equal, mask: 0xf, value: unix.SOCK_PACKET}}},
	)
	return rs
}

// watchedCalls are looked at in passing, inside namespaces: which addresses the
// program tries. What is beyond its reach there is the network's own doing.
// Messages with their address in a struct (sendmsg) are not seen.
func watchedCalls() []rule {
	return []rule{
		{nr: unix.SYS_CONNECT, pass: true},
		{nr: unix.SYS_SENDTO, pass: true, when: []condition{{arg: 4, test: differs, value: 0}}},
	}
}

// reducedRules is the stricter list for a program without namespaces: it also
// covers what Landlock does not see.
func reducedRules(countable bool) []rule {
	rs := commonRules(countable)
	rs = append(rs, rule{nr: unix.SYS_SOCKET, errno: unix.EAFNOSUPPORT})
	// Archivers and editors set modes and times as a courtesy; they go on when
	// that has no effect, but stop at an error.
	rs = append(rs, all(0, reducedIgnored()...)...)
	rs = append(rs, all(unix.EOPNOTSUPP, unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR,
		unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR)...)
	rs = append(rs, all(unix.EPERM, unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_MSGGET,
		unix.SYS_MSGCTL, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_SEMGET, unix.SYS_SEMCTL, unix.SYS_SEMOP,
		unix.SYS_SEMTIMEDOP, unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK,
		unix.SYS_INOTIFY_ADD_WATCH, unix.SYS_SETPRIORITY, unix.SYS_IOPRIO_SET)...)
	for _, nr := range []int{unix.SYS_PRLIMIT64, unix.SYS_SCHED_SETAFFINITY, unix.SYS_SCHED_SETSCHEDULER, unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETATTR} {
		// Only on itself; its own number is allowed in no form but 0.
		rs = append(rs, rule{nr: nr, errno: unix.EPERM, when: []condition{{arg: 0, test: differs, value: 0}}})
	}
	return rs
}

// commonRules refuses what no program of ours needs: looking into other
// processes, mounts and namespaces, the state of the machine, and parts of the
// kernel with a long record of holes.
func commonRules(countable bool) []rule {
	var rs []rule
	rs = append(rs, all(unix.EPERM,
		unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_KCMP,
		unix.SYS_PIDFD_GETFD, unix.SYS_PROCESS_MADVISE, unix.SYS_PROCESS_MRELEASE,
		unix.SYS_MOVE_PAGES, unix.SYS_MIGRATE_PAGES)...)
	rs = append(rs, all(unix.EPERM,
		unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_KEYCTL, unix.SYS_ADD_KEY,
		unix.SYS_REQUEST_KEY, unix.SYS_FANOTIFY_INIT, unix.SYS_LOOKUP_DCOOKIE)...)
	rs = append(rs, all(unix.EPERM,
		unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_MOVE_MOUNT,
		unix.SYS_OPEN_TREE, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK,
		unix.SYS_MOUNT_SETATTR, unix.SYS_SETNS, unix.SYS_UNSHARE, unix.SYS_OPEN_BY_HANDLE_AT,
		unix.SYS_NAME_TO_HANDLE_AT)...)
	rs = append(rs, all(unix.EPERM,
		unix.SYS_REBOOT, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE,
		unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT,
		unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_SYSLOG, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME,
		unix.SYS_CLOCK_ADJTIME, unix.SYS_ADJTIMEX, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME,
		unix.SYS_VHANGUP, unix.SYS_NFSSERVCTL)...)
	// ENOSYS where libraries have another way: glibc falls back to clone, whose
	// flags a filter can read, and to openat, whose mode it can read.
	rs = append(rs, all(unix.ENOSYS, unix.SYS_CLONE3, unix.SYS_OPENAT2,
		unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER)...)
	if countable {
		rs = append(rs, all(unix.EPERM, unix.SYS_MEMFD_CREATE, unix.SYS_MEMFD_SECRET)...)
	}
	rs = append(rs,
		// A listener of the program's own must never answer for ours.
		rule{nr: unix.SYS_SECCOMP, errno: unix.EBUSY, when: []condition{{arg: 1, test: hasBits, mask: unix.SECCOMP_FILTER_FLAG_NEW_LISTENER}}},
		rule{nr: unix.SYS_CLONE, errno: unix.EPERM, when: []condition{{arg: 0, test: hasBits, mask: namespaceFlags}}},
		// Reading the personality (all ones) and the normal one (0) are fine.
		rule{nr: unix.SYS_PERSONALITY, errno: unix.EPERM, when: []condition{{arg: 0, test: differs, value: 0xffffffff}, {arg: 0, test: differs, value: 0}}},
		// Typing into somebody's terminal.
		rule{nr: unix.SYS_IOCTL, errno: unix.EPERM, when: []condition{{arg: 1, test: equal, value: unix.TIOCSTI}}},
		rule{nr: unix.SYS_IOCTL, errno: unix.EPERM, when: []condition{{arg: 1, test: equal, value: unix.TIOCLINUX}}},
		rule{nr: unix.SYS_SOCKETPAIR, errno: unix.EAFNOSUPPORT, when: []condition{{arg: 0, test: differs, value: unix.AF_UNIX}}},
		rule{nr: unix.SYS_FCHMOD, errno: unix.EPERM, when: []condition{{arg: 1, test: hasBits, mask: setIDBits}}},
		rule{nr: unix.SYS_FCHMODAT, errno: unix.EPERM, when: []condition{{arg: 2, test: hasBits, mask: setIDBits}}},
		rule{nr: unix.SYS_FCHMODAT2, errno: unix.EPERM, when: []condition{{arg: 2, test: hasBits, mask: setIDBits}}},
		rule{nr: unix.SYS_MKNODAT, errno: unix.EPERM, when: []condition{{arg: 2, test: hasBits, mask: setIDBits}}},
		rule{nr: unix.SYS_MKDIRAT, errno: unix.EPERM, when: []condition{{arg: 2, test: hasBits, mask: setIDBits}}},
		rule{nr: unix.SYS_OPENAT, errno: unix.EPERM, when: []condition{{arg: 2, test: hasBits, mask: creatBits}, {arg: 3, test: hasBits, mask: setIDBits}}},
	)
	return append(rs, archRules()...)
}
