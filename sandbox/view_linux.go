package sandbox

import (
	"os"
	"path/filepath"
	"sort"
	"strings"

	"golang.org/x/sys/unix"
)

// The program's view of the file system: what is bound where. It is worked out
// before anything is mounted, so that it can be tested without rights.

// systemTrees are readable by every program. Where one is a symbolic link, the
// link is copied.
var systemTrees = [...]string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store"}

// systemFiles are the parts of /etc that programs and libraries need to start;
// none of them tells who uses the machine.
var systemFiles = [...]string{
	"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives",
	"/etc/localtime", "/etc/timezone", "/etc/locale.alias", "/etc/locale.conf",
	"/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/ca-certificates", "/etc/pki/tls/certs", "/etc/pki/ca-trust/extracted",
	"/etc/fonts", "/etc/mime.types", "/etc/magic", "/etc/protocols", "/etc/services",
	"/etc/os-release", "/etc/debian_version", "/etc/matplotlibrc", "/etc/R",
	"/etc/python3", "/etc/python3.9", "/etc/python3.10", "/etc/python3.11", "/etc/python3.12", "/etc/python3.13", "/etc/python3.14",
}

// cpuTree tells the Go runtime, ggml and OpenBLAS how many cores there are.
const cpuTree = "/sys/devices/system/cpu"

var deviceNodes = [...]string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}

// A bind shows a tree or file of the machine inside.
type bind struct {
	src, dst string
	writable bool
	device   bool
}

// A view is the whole picture.
type view struct {
	binds []bind            // in the order of mounting: a tree before what lies in it
	links map[string]string // symbolic links, by path
}

// newView lists the system's own trees and, over them, the policy's.
func newView(o order) view {
	v := view{links: map[string]string{}}
	system := func(path string) {
		st, err := os.Lstat(path)
		switch {
		case err != nil: // this system does not have it
		case st.Mode()&os.ModeSymlink != 0:
			if target, err := os.Readlink(path); err == nil {
				v.links[path] = target
			}
		default:
			v.binds = append(v.binds, bind{src: path, dst: path})
		}
	}
	for _, p := range systemTrees {
		system(p)
	}
	for _, p := range systemFiles {
		system(p)
	}
	if _, err := os.Stat(cpuTree); err == nil {
		v.binds = append(v.binds, bind{src: cpuTree, dst: cpuTree})
	}
	for _, p := range deviceNodes {
		if _, err := os.Stat(p); err == nil {
			v.binds = append(v.binds, bind{src: p, dst: p, writable: true, device: true})
		}
	}
	for _, b := range policyBinds(o.Read, o.Write) {
		b.writable = b.writable && !o.held(b.dst)
		v.binds = append(v.binds, b)
	}
	if o.Layers != "" {
		v.binds = append(v.binds, bind{src: o.Layers, dst: layersPlace, writable: true})
	}
	return v
}

// policyBinds orders the policy's paths so that a deeper one is mounted over
// the tree that holds it. A readable path below a writable tree gets every
// folder between the two as a mount of its own: otherwise renaming such a
// folder would carry the protected path away and free its name. The paths lead
// through no symbolic links.
func policyBinds(read, write []string) []bind {
	at := map[string]bind{}
	put := func(path string, writable bool) {
		at[path] = bind{src: path, dst: path, writable: writable, device: within(path, "/dev")}
	}
	for _, p := range read {
		if !systemPath(p) {
			put(p, false)
		}
	}
	for _, p := range write {
		put(p, true)
	}
	for p, b := range at {
		if b.writable {
			continue
		}
		for _, w := range write {
			if !within(p, w) {
				continue
			}
			for d := filepath.Dir(p); d != w && within(d, w); d = filepath.Dir(d) {
				if _, taken := at[d]; !taken {
					at[d] = bind{src: d, dst: d, writable: deepest(d, read, write)}
				}
			}
		}
	}
	binds := make([]bind, 0, len(at))
	for _, b := range at {
		binds = append(binds, b)
	}
	sort.Slice(binds, func(i, j int) bool {
		a, b := binds[i].dst, binds[j].dst
		if da, db := strings.Count(a, "/"), strings.Count(b, "/"); da != db {
			return da < db
		}
		return a < b
	})
	return binds
}

// deepest reports whether the innermost tree of the policy that holds path is
// a writable one.
func deepest(path string, read, write []string) bool {
	best, writable := -1, false
	for _, r := range read {
		if within(path, r) && len(r) > best {
			best, writable = len(r), false
		}
	}
	for _, w := range write {
		if within(path, w) && len(w) >= best {
			best, writable = len(w), true
		}
	}
	return writable
}

// systemPath reports whether every program sees path anyway.
func systemPath(path string) bool {
	return within(path, "/usr") || within(path, "/nix/store")
}

// isDir reports what kind of mount point a bound source needs.
func isDir(fd int) (bool, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return false, err
	}
	return st.Mode&unix.S_IFMT == unix.S_IFDIR, nil
}
