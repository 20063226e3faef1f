package sandbox

import "golang.org/x/sys/unix"

const (
	auditArch = uint32(unix.AUDIT_ARCH_AARCH64)
	hasX32    = false
)

// reducedIgnored do nothing in reduced mode. This architecture has only the
// calls that end in "at".
func reducedIgnored() []int {
	return []int{
		unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2,
		unix.SYS_FCHOWN, unix.SYS_FCHOWNAT, unix.SYS_UTIMENSAT,
	}
}

// archRules is empty: there are no calls that only this architecture has.
func archRules() []rule { return nil }

// archCallNames are like callNames.
var archCallNames = map[int]string{
	unix.SYS_FCHOWN:    "fchown",
	unix.SYS_FCHOWNAT:  "fchownat",
	unix.SYS_UTIMENSAT: "utimensat",
}
