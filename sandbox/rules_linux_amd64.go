package sandbox

import "golang.org/x/sys/unix"

const (
	auditArch = uint32(unix.AUDIT_ARCH_X86_64)
	hasX32    = true // x32 calls come with the same architecture and a high number
)

// reducedIgnored do nothing in reduced mode.
func reducedIgnored() []int {
	return []int{
		unix.SYS_CHMOD, unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2,
		unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_FCHOWN, unix.SYS_FCHOWNAT,
		unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT, unix.SYS_UTIMENSAT,
	}
}

// archRules refuses the calls that only this architecture has.
func archRules() []rule {
	rs := all(unix.EPERM, unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_MODIFY_LDT, unix.SYS_USELIB,
		unix.SYS_USTAT, unix.SYS_SYSFS, unix.SYS__SYSCTL, unix.SYS_CREATE_MODULE)
	return append(rs,
		rule{unix.SYS_CHMOD, unix.EPERM, []condition{{arg: 1, test: hasBits, mask: setIDBits}}},
		rule{unix.SYS_CREAT, unix.EPERM, []condition{{arg: 1, test: hasBits, mask: setIDBits}}},
		rule{unix.SYS_MKNOD, unix.EPERM, []condition{{arg: 1, test: hasBits, mask: setIDBits}}},
		rule{unix.SYS_MKDIR, unix.EPERM, []condition{{arg: 1, test: hasBits, mask: setIDBits}}},
		rule{unix.SYS_OPEN, unix.EPERM, []condition{{arg: 1, test: hasBits, mask: creatBits}, {arg: 2, test: hasBits, mask: setIDBits}}},
	)
}
