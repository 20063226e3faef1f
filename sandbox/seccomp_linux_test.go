package sandbox

import (
	"encoding/binary"
	"testing"

	"golang.org/x/sys/unix"
)

// simulate runs a filter as the kernel does and returns its verdict.
func simulate(t *testing.T, p []unix.SockFilter, arch uint32, nr int, args ...uint64) uint32 {
	t.Helper()
	data := make([]byte, 64)
	binary.LittleEndian.PutUint32(data[offNr:], uint32(nr))
	binary.LittleEndian.PutUint32(data[offArch:], arch)
	for i, a := range args {
		binary.LittleEndian.PutUint64(data[offArgs+8*i:], a)
	}
	var acc uint32
	for pc := 0; pc < len(p); pc++ {
		in := p[pc]
		yes := false
		switch in.Code {
		case opLoad:
			acc = binary.LittleEndian.Uint32(data[in.K:])
			continue
		case opAnd:
			acc &= in.K
			continue
		case opRet:
			return in.K
		case opEqual:
			yes = acc == in.K
		case opAtLst:
			yes = acc >= in.K
		case opAbove:
			yes = acc > in.K
		case opBits:
			yes = acc&in.K != 0
		default:
			t.Fatalf("instruction %d: unknown code %#x", pc, in.Code)
		}
		if yes {
			pc += int(in.Jt)
		} else {
			pc += int(in.Jf)
		}
	}
	t.Fatal("the filter ends without a verdict")
	return 0
}

const (
	allow = uint32(unix.SECCOMP_RET_ALLOW)
	kill  = uint32(unix.SECCOMP_RET_KILL_PROCESS)
)

func errno(e unix.Errno) uint32 { return unix.SECCOMP_RET_ERRNO | uint32(e) }

func TestFilter(t *testing.T) {
	full, err := assemble(auditArch, hasX32, fullRules(true), false)
	if err != nil {
		t.Fatal(err)
	}
	reduced, err := assemble(auditArch, hasX32, reducedRules(true), false)
	if err != nil {
		t.Fatal(err)
	}
	uncounted, err := assemble(auditArch, hasX32, fullRules(false), false)
	if err != nil {
		t.Fatal(err)
	}
	const high = 1 << 32
	for _, r := range []struct {
		name   string
		filter []unix.SockFilter
		arch   uint32
		nr     int
		args   []uint64
		want   uint32
	}{
		{"read", full, auditArch, unix.SYS_READ, nil, allow},
		{"last known", full, auditArch, lastKnown, nil, allow},
		{"unknown", full, auditArch, lastKnown + 1, nil, errno(unix.ENOSYS)},
		{"32-bit x86", full, unix.AUDIT_ARCH_I386, unix.SYS_READ, nil, kill},
		{"32-bit arm", full, unix.AUDIT_ARCH_ARM, unix.SYS_READ, nil, kill},
		{"x32", full, auditArch, 0x40000000 | unix.SYS_READ, nil, errno(unix.ENOSYS)},
		{"ptrace", full, auditArch, unix.SYS_PTRACE, nil, errno(unix.EPERM)},
		{"io_uring", full, auditArch, unix.SYS_IO_URING_SETUP, nil, errno(unix.ENOSYS)},
		{"fork", full, auditArch, unix.SYS_CLONE, []uint64{uint64(unix.SIGCHLD)}, allow},
		{"thread", full, auditArch, unix.SYS_CLONE, []uint64{unix.CLONE_VM | unix.CLONE_THREAD}, allow},
		{"new user namespace", full, auditArch, unix.SYS_CLONE, []uint64{unix.CLONE_NEWUSER}, errno(unix.EPERM)},
		{"new user namespace, high bits", full, auditArch, unix.SYS_CLONE, []uint64{high | unix.CLONE_NEWUSER}, errno(unix.EPERM)},
		{"unix socket", full, auditArch, unix.SYS_SOCKET, []uint64{unix.AF_UNIX, unix.SOCK_STREAM}, allow},
		{"inet socket", full, auditArch, unix.SYS_SOCKET, []uint64{unix.AF_INET, unix.SOCK_STREAM | unix.SOCK_CLOEXEC}, allow},
		{"raw socket", full, auditArch, unix.SYS_SOCKET, []uint64{unix.AF_INET, unix.SOCK_RAW | unix.SOCK_CLOEXEC}, errno(unix.EPERM)},
		{"raw socket, high bits", full, auditArch, unix.SYS_SOCKET, []uint64{unix.AF_INET, high | unix.SOCK_RAW}, errno(unix.EPERM)},
		{"vsock", full, auditArch, unix.SYS_SOCKET, []uint64{unix.AF_VSOCK, unix.SOCK_STREAM}, errno(unix.EAFNOSUPPORT)},
		{"netlink, high bits", full, auditArch, unix.SYS_SOCKET, []uint64{high | unix.AF_NETLINK, unix.SOCK_RAW}, errno(unix.EAFNOSUPPORT)},
		{"window size", full, auditArch, unix.SYS_IOCTL, []uint64{0, unix.TIOCGWINSZ}, allow},
		{"typing", full, auditArch, unix.SYS_IOCTL, []uint64{0, unix.TIOCSTI}, errno(unix.EPERM)},
		{"typing, high bits", full, auditArch, unix.SYS_IOCTL, []uint64{0, high | unix.TIOCSTI}, errno(unix.EPERM)},
		{"plain mode", full, auditArch, unix.SYS_FCHMODAT, []uint64{0, 0, 0o755}, allow},
		{"set-id mode", full, auditArch, unix.SYS_FCHMODAT, []uint64{0, 0, 0o4755}, errno(unix.EPERM)},
		{"open with stray mode", full, auditArch, unix.SYS_OPENAT, []uint64{0, 0, unix.O_RDONLY, 0o4755}, allow},
		{"directory with stray mode", full, auditArch, unix.SYS_OPENAT, []uint64{0, 0, unix.O_DIRECTORY, 0o4755}, allow},
		{"create", full, auditArch, unix.SYS_OPENAT, []uint64{0, 0, unix.O_CREAT, 0o644}, allow},
		{"create set-id", full, auditArch, unix.SYS_OPENAT, []uint64{0, 0, unix.O_CREAT, 0o2755}, errno(unix.EPERM)},
		{"temporary set-id", full, auditArch, unix.SYS_OPENAT, []uint64{0, 0, unix.O_TMPFILE, 0o2755}, errno(unix.EPERM)},
		{"read personality", full, auditArch, unix.SYS_PERSONALITY, []uint64{0xffffffff}, allow},
		{"set personality", full, auditArch, unix.SYS_PERSONALITY, []uint64{0x0040000}, errno(unix.EPERM)},
		{"memfd that nobody counts", full, auditArch, unix.SYS_MEMFD_CREATE, nil, errno(unix.EPERM)},
		{"memfd without a limit", uncounted, auditArch, unix.SYS_MEMFD_CREATE, nil, allow},
		{"reduced: read", reduced, auditArch, unix.SYS_READ, nil, allow},
		{"reduced: socket", reduced, auditArch, unix.SYS_SOCKET, []uint64{unix.AF_UNIX, unix.SOCK_STREAM}, errno(unix.EAFNOSUPPORT)},
		{"reduced: socket pair", reduced, auditArch, unix.SYS_SOCKETPAIR, []uint64{unix.AF_UNIX, unix.SOCK_STREAM}, allow},
		{"reduced: mode", reduced, auditArch, unix.SYS_FCHMODAT, []uint64{0, 0, 0o755}, errno(0)},
		{"reduced: set-id mode", reduced, auditArch, unix.SYS_FCHMODAT, []uint64{0, 0, 0o4755}, errno(unix.EPERM)},
		{"reduced: own limits", reduced, auditArch, unix.SYS_PRLIMIT64, []uint64{0}, allow},
		{"reduced: limits of others", reduced, auditArch, unix.SYS_PRLIMIT64, []uint64{42}, errno(unix.EPERM)},
	} {
		if got := simulate(t, r.filter, r.arch, r.nr, r.args...); got != r.want {
			t.Errorf("%s: verdict %#x, want %#x", r.name, got, r.want)
		}
	}
	t.Logf("instructions: full %d, reduced %d", len(full), len(reduced))
}

func TestEveryRuleRefuses(t *testing.T) {
	for name, rules := range map[string][]rule{"full": fullRules(true), "reduced": reducedRules(true)} {
		p, err := assemble(auditArch, hasX32, rules, false)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rules {
			args := make([]uint64, 6)
			for _, c := range r.when {
				switch {
				case c.test == hasBits:
					args[c.arg] |= uint64(c.mask)
				case c.test == equal:
					args[c.arg] = uint64(c.value)
				default: // a value that no rule names
					args[c.arg] = 0x7ffffff0
				}
			}
			if got := simulate(t, p, auditArch, r.nr, args...); got == allow {
				t.Errorf("%s: call %d with %v is allowed", name, r.nr, args)
			}
		}
	}
}
