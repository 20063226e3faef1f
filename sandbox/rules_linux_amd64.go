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
		rule{nr: unix.SYS_CHMOD, errno: unix.EPERM, when: []condition{{arg: 1, test: hasBits, mask: setIDBits}}},
		rule{nr: unix.SYS_CREAT, errno: unix.EPERM, when: []condition{{arg: 1, test: hasBits, mask: setIDBits}}},
		rule{nr: unix.SYS_MKNOD, errno: unix.EPERM, when: []condition{{arg: 1, test: hasBits, mask: setIDBits}}},
		rule{nr: unix.SYS_MKDIR, errno: unix.EPERM, when: []condition{{arg: 1, test: hasBits, mask: setIDBits}}},
		rule{nr: unix.SYS_OPEN, errno: unix.EPERM, when: []condition{{arg: 1, test: hasBits, mask: creatBits}, {arg: 2, test: hasBits, mask: setIDBits}}},
	)
}

// archCallNames are like callNames.
var archCallNames = map[int]string{
	unix.SYS_CHMOD:         "chmod",
	unix.SYS_CHOWN:         "chown",
	unix.SYS_CREAT:         "creat",
	unix.SYS_CREATE_MODULE: "create_module",
	unix.SYS_FCHOWN:        "fchown",
	unix.SYS_FCHOWNAT:      "fchownat",
	unix.SYS_FUTIMESAT:     "futimesat",
	unix.SYS_IOPERM:        "ioperm",
	unix.SYS_IOPL:          "iopl",
	unix.SYS_LCHOWN:        "lchown",
	unix.SYS_MKDIR:         "mkdir",
	unix.SYS_MKNOD:         "mknod",
	unix.SYS_MODIFY_LDT:    "modify_ldt",
	unix.SYS_OPEN:          "open",
	unix.SYS_SYSFS:         "sysfs",
	unix.SYS_USELIB:        "uselib",
	unix.SYS_USTAT:         "ustat",
	unix.SYS_UTIME:         "utime",
	unix.SYS_UTIMENSAT:     "utimensat",
	unix.SYS_UTIMES:        "utimes",
	unix.SYS__SYSCTL:       "sysctl",
}
