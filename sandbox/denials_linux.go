package sandbox

import (
	"encoding/binary"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Refused calls are counted by asking: the kernel holds the call, tells the
// helper its number and arguments, and the helper answers with the error that
// the filter would have given. See seccomp_unotify(2).

// What the kernel and we exchange, from linux/seccomp.h.
type (
	question struct {
		id       uint64
		pid      uint32
		_        uint32
		nr       int32
		_        uint32
		_        uint64
		args     [6]uint64
		_reserve [176]byte // for a kernel whose struct has grown
	}
	answer struct {
		id    uint64
		_     int64 // result; all of ours are errors
		errno int32 // negative
		flags uint32
	}
)

// maxTargets bounds the different addresses of a record; a flood of others only
// counts.
const (
	maxTargets   = 64
	otherTargets = "other addresses"
)

// denials count what was refused. Its size does not depend on how much.
type denials struct {
	mu      sync.Mutex
	calls   map[string]int64
	targets map[string]int64
}

func newDenials() *denials {
	return &denials{calls: map[string]int64{}, targets: map[string]int64{}}
}

// list returns the counts, sorted by kind and name.
func (d *denials) list() []Denial {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []Denial
	for _, name := range slices.Sorted(maps.Keys(d.calls)) {
		out = append(out, Denial{Kind: "call", What: name, Layer: "seccomp", Count: d.calls[name]})
	}
	for _, name := range slices.Sorted(maps.Keys(d.targets)) {
		out = append(out, Denial{Kind: "network", What: name, Layer: "namespaces", Count: d.targets[name]})
	}
	return out
}

func (d *denials) refused(name string) {
	d.mu.Lock()
	d.calls[name]++
	d.mu.Unlock()
}

func (d *denials) unreached(target string) {
	d.mu.Lock()
	if _, seen := d.targets[target]; !seen && len(d.targets) >= maxTargets {
		target = otherTargets
	}
	d.targets[target]++
	d.mu.Unlock()
}

// answerCalls answers the kernel's questions about the calls of rules until the
// helper ends. It must not run on a thread that the filter binds. loopback says
// that the program can reach itself.
func (d *denials) answerCalls(fd int, rules []rule, loopback bool) {
	for {
		var q question
		switch e := ioctl(fd, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&q)); e {
		case 0:
		case unix.EINTR, unix.ENOENT: // ENOENT: the caller is gone
			continue
		default:
			// The calls fail from here on, with ENOSYS.
			unix.Close(fd)
			return
		}
		a := answer{id: q.id, errno: -int32(unix.EPERM)}
		if i := slices.IndexFunc(rules, func(r rule) bool { return r.matches(int(q.nr), &q.args) }); i >= 0 {
			if r := rules[i]; r.pass {
				a.errno, a.flags = 0, unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE
				if to := q.target(); to.IsValid() && !(loopback && own(to.Addr())) && q.alive(fd) {
					d.unreached(to.String())
				}
			} else {
				a.errno = -int32(r.errno)
				d.refused(callName(r.nr))
			}
		}
		// An error means that the caller is gone.
		_ = ioctl(fd, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&a))
	}
}

// own reports whether an address leads to the program's own loopback.
func own(a netip.Addr) bool {
	a = a.Unmap()
	return a.IsLoopback() || a.IsUnspecified()
}

// alive reports whether the caller still waits, so that its number was not
// another's when its memory was read.
func (q *question) alive(fd int) bool {
	id := q.id
	return ioctl(fd, unix.SECCOMP_IOCTL_NOTIF_ID_VALID, unsafe.Pointer(&id)) == 0
}

// target returns the internet address that a connect or sendto names, the zero
// value when it names none. It is for the record only: the program can change
// it after the look.
func (q *question) target() netip.AddrPort {
	at, size := q.args[1], q.args[2]
	if q.nr == unix.SYS_SENDTO {
		at, size = q.args[4], q.args[5]
	}
	var b [28]byte // struct sockaddr_in6
	n := int(min(uint32(size), uint32(len(b))))
	if n < 8 {
		return netip.AddrPort{}
	}
	local := []unix.Iovec{{Base: &b[0], Len: uint64(n)}}
	got, err := unix.ProcessVMReadv(int(q.pid), local, []unix.RemoteIovec{{Base: uintptr(at), Len: n}}, 0)
	if err != nil {
		return netip.AddrPort{}
	}
	return addrPort(b[:got])
}

// addrPort reads a struct sockaddr of the internet families.
func addrPort(b []byte) netip.AddrPort {
	if len(b) < 8 {
		return netip.AddrPort{}
	}
	port := binary.BigEndian.Uint16(b[2:])
	switch family := binary.NativeEndian.Uint16(b); {
	case family == unix.AF_INET:
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(b[4:8])), port)
	case family == unix.AF_INET6 && len(b) >= 24:
		return netip.AddrPortFrom(netip.AddrFrom16([16]byte(b[8:24])), port)
	}
	return netip.AddrPort{}
}

func ioctl(fd int, request uint, arg unsafe.Pointer) unix.Errno {
	_, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), uintptr(request), uintptr(arg))
	return e
}
