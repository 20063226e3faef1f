package sandbox

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The filter is assembled here because the usual libraries are unsafe for a
// list of refusals: they let a foreign architecture (int 0x80) fall through to
// "allow", and compare all 64 bits of arguments of which the kernel reads 32
// (CVE-2019-10063). Format: linux/seccomp.h, struct seccomp_data.

// lastKnown is the newest system call that was reviewed (mseal, Linux 6.10).
// The numbers from 424 on are the same on all architectures; newer ones get
// ENOSYS, for which programs have a fallback.
const lastKnown = 462

// Offsets in struct seccomp_data.
const (
	offNr   = 0
	offArch = 4
	offArgs = 16 // little endian: the low word of each argument comes first
)

// test is the kind of comparison of a condition.
type test int

const (
	equal   test = iota // arg&mask == value
	differs             // arg&mask != value
	hasBits             // arg&mask != 0
)

// A condition looks at the low 32 bits of one argument.
type condition struct {
	arg   int
	test  test
	mask  uint32 // 0 means all bits
	value uint32
}

// A rule refuses one system call when all its conditions hold. Errno 0 means
// that the call does nothing and claims success.
type rule struct {
	nr    int
	errno unix.Errno
	when  []condition
	// pass makes it a call that is only looked at and goes on. Nothing may rest
	// on such a rule: its arguments can change after the look.
	pass bool
}

// counted reports whether the kernel asks the helper about the call, instead of
// refusing it itself. It does not where libraries try a call in passing and
// have another way (ENOSYS, success), nor where the answer guards the asking.
func (r rule) counted() bool {
	return r.pass || r.errno != 0 && r.errno != unix.ENOSYS && r.nr != unix.SYS_SECCOMP
}

// verdict is what the filter returns for the rule.
func (r rule) verdict(ask bool) unix.SockFilter {
	if ask && r.counted() {
		return op(opRet, unix.SECCOMP_RET_USER_NOTIF)
	}
	return refuse(r.errno)
}

// matches does what the filter has done with the same arguments.
func (r rule) matches(nr int, args *[6]uint64) bool {
	if r.nr != nr {
		return false
	}
	for _, c := range r.when {
		if !c.holds(uint32(args[c.arg])) {
			return false
		}
	}
	return true
}

func (c condition) holds(v uint32) bool {
	switch {
	case c.test == hasBits:
		return v&c.mask != 0
	case c.mask != 0:
		v &= c.mask
	}
	return (v == c.value) == (c.test == equal)
}

const (
	opLoad  = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
	opEqual = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	opAtLst = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
	opAbove = unix.BPF_JMP | unix.BPF_JGT | unix.BPF_K
	opBits  = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
	opAnd   = unix.BPF_ALU | unix.BPF_AND | unix.BPF_K
	opRet   = unix.BPF_RET | unix.BPF_K
)

func op(code uint16, k uint32) unix.SockFilter { return unix.SockFilter{Code: code, K: k} }

func jump(code uint16, k uint32, yes, no uint8) unix.SockFilter {
	return unix.SockFilter{Code: code, K: k, Jt: yes, Jf: no}
}

func refuse(e unix.Errno) unix.SockFilter {
	return op(opRet, unix.SECCOMP_RET_ERRNO|uint32(e)&unix.SECCOMP_RET_DATA)
}

// assemble builds a filter for the architecture arch (AUDIT_ARCH_*). Foreign
// architectures are killed, x32 and unknown calls get ENOSYS, the first rule
// that matches refuses, and the rest is allowed. With ask, the listener of the
// filter answers for the rules that are counted.
func assemble(arch uint32, x32 bool, rules []rule, ask bool) ([]unix.SockFilter, error) {
	p := []unix.SockFilter{
		op(opLoad, offArch),
		jump(opEqual, arch, 1, 0),
		op(opRet, unix.SECCOMP_RET_KILL_PROCESS),
		op(opLoad, offNr),
	}
	if x32 {
		p = append(p, jump(opAtLst, 0x40000000, 0, 1), refuse(unix.ENOSYS))
	}
	p = append(p, jump(opAbove, lastKnown, 0, 1), refuse(unix.ENOSYS))
	for _, r := range rules {
		if r.pass && !ask {
			continue
		}
		block := r.block(ask)
		if len(block) > 255 {
			return nil, fmt.Errorf("filter rule for call %d is too long", r.nr)
		}
		p = append(p, jump(opEqual, uint32(r.nr), 0, uint8(len(block))))
		p = append(p, block...)
	}
	p = append(p, op(opRet, unix.SECCOMP_RET_ALLOW))
	if len(p) > unix.BPF_MAXINSNS {
		return nil, fmt.Errorf("filter has %d instructions", len(p))
	}
	return p, nil
}

// block is the code that runs when the number matched. When a condition does
// not hold it reloads the number and falls out at its end.
func (r rule) block(ask bool) []unix.SockFilter {
	if len(r.when) == 0 {
		return []unix.SockFilter{r.verdict(ask)}
	}
	size := 2 // refuse, reload
	for _, c := range r.when {
		size += c.size()
	}
	reload := size - 1
	var b []unix.SockFilter
	for _, c := range r.when {
		b = append(b, op(opLoad, uint32(offArgs+8*c.arg)))
		at := len(b)
		if c.test != hasBits && c.mask != 0 {
			b = append(b, op(opAnd, c.mask))
			at++
		}
		out := uint8(reload - at - 1)
		switch c.test {
		case equal:
			b = append(b, jump(opEqual, c.value, 0, out))
		case differs:
			b = append(b, jump(opEqual, c.value, out, 0))
		case hasBits:
			b = append(b, jump(opBits, c.mask, 0, out))
		}
	}
	return append(b, r.verdict(ask), op(opLoad, offNr))
}

func (c condition) size() int {
	if c.test != hasBits && c.mask != 0 {
		return 3
	}
	return 2
}

// installFilter puts the filter on the calling thread, which must be locked and
// have no_new_privs, and on what it starts. It returns the descriptor on which
// the kernel asks about refused calls, -1 where that is not to be had: on old
// kernels, and inside another filter that asks. Another thread must answer
// there, so the filter is not put on all of them.
func installFilter(rules []rule) (int, error) {
	if fd, err := loadFilter(rules, true); err == nil {
		return fd, nil
	}
	_, err := loadFilter(rules, false)
	return -1, err
}

func loadFilter(rules []rule, ask bool) (int, error) {
	p, err := assemble(auditArch, hasX32, rules, ask)
	if err != nil {
		return -1, err
	}
	flags := uintptr(0)
	if ask {
		flags = unix.SECCOMP_FILTER_FLAG_NEW_LISTENER
	}
	prog := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
	fd, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&prog)))
	if e != 0 {
		return -1, e
	}
	return int(fd), nil
}
