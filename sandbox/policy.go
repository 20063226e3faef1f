package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Check returns an error that wraps [ErrPolicy] when the policy must not be
// used: a path is relative, unclean or missing; a writable tree is the root,
// the home folder, an ancestor of it or a folder of the system; a readable
// tree is the root or one of the kernel's own file systems, on Windows also the
// home folder as a whole or a share of the network; an environment
// entry is not KEY=VALUE; the network is none; the folder of the layers is not
// apart from the rest.
func (p Policy) Check() error {
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	for _, path := range p.Read {
		real, err := checkPath(path)
		if err != nil {
			return err
		}
		for _, q := range []string{path, real} {
			if filepath.Dir(q) == q {
				return fmt.Errorf("%w: %s holds the whole disk; name the folders that are needed", ErrPolicy, q)
			}
			if err := checkShared(q); err != nil {
				return err
			}
		}
	}
	for _, path := range p.Write {
		real, err := checkPath(path)
		if err != nil {
			return err
		}
		for _, q := range []string{path, real} {
			if err := checkWritable(q, home); err != nil {
				return err
			}
		}
	}
	for _, e := range p.Env {
		if key, _, ok := strings.Cut(e, "="); !ok || key == "" || strings.ContainsRune(e, 0) {
			return fmt.Errorf("%w: environment entry %q is not of the form KEY=VALUE", ErrPolicy, e)
		}
	}
	if err := p.checkLayers(); err != nil {
		return err
	}
	return p.Network.check()
}

// checkPath returns the path behind all symbolic links.
func checkPath(path string) (string, error) {
	if !filepath.IsAbs(path) || filepath.Clean(path) != path || strings.ContainsRune(path, 0) {
		return "", fmt.Errorf("%w: %q is not an absolute, clean path", ErrPolicy, path)
	}
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%w: %s does not exist", ErrPolicy, path)
	}
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrPolicy, err)
	}
	return real, nil
}

// checkWritable refuses what a program could use to change the machine.
func checkWritable(path, home string) error {
	if runtime.GOOS == "windows" {
		return newWinPlaces(os.Getenv).check(path, true)
	}
	if err := checkShared(path); err != nil {
		return err
	}
	if filepath.Dir(path) == path {
		return fmt.Errorf("%w: %s must not be writable, it holds the whole disk", ErrPolicy, path)
	}
	if home != "" {
		homes := []string{filepath.Clean(home)}
		if real, err := filepath.EvalSymlinks(home); err == nil {
			homes = append(homes, real)
		}
		for _, h := range homes {
			if within(h, path) {
				return fmt.Errorf("%w: %s must not be writable, it holds the home folder; choose a folder of its own", ErrPolicy, path)
			}
		}
	}
	return checkPlace(path)
}

// Folders of Linux and macOS, which a policy cannot make writable.
var (
	// sharedFolders: folders in them it can.
	sharedFolders = []string{
		"/home", "/media", "/mnt", "/opt", "/root", "/srv", "/tmp", "/var", "/var/lib", "/var/tmp",
		"/Users", "/Users/Shared", "/Volumes", "/private", "/private/tmp", "/private/var", "/private/var/folders", "/private/var/tmp",
	}
	systemFolders = []string{
		"/bin", "/boot", "/etc", "/lib", "/lib32", "/lib64", "/nix", "/sbin", "/usr",
		"/Applications", "/Library", "/System", "/cores", "/private/etc", "/private/var/db", "/private/var/root",
	}
)

// checkPlace refuses the folders that belong to everybody or to the system.
func checkPlace(path string) error {
	if slices.Contains(sharedFolders, path) {
		return fmt.Errorf("%w: %s must not be writable, other programs and people use it; choose a folder in it", ErrPolicy, path)
	}
	for _, system := range systemFolders {
		if within(path, system) {
			return fmt.Errorf("%w: %s must not be writable, it belongs to the system", ErrPolicy, path)
		}
	}
	return nil
}

// graphicsNodes are the devices that a policy may name, for models that run on
// a graphics card.
var graphicsNodes = [...]string{"/dev/dri", "/dev/kfd", "/dev/nvidia", "/dev/accel"}

// checkShared refuses what must not be visible inside under any policy.
func checkShared(path string) error {
	if runtime.GOOS == "windows" {
		return newWinPlaces(os.Getenv).check(path, false)
	}
	for _, t := range []string{"/proc", "/sys"} {
		if within(path, t) {
			return fmt.Errorf("%w: %s shows the state of the whole machine and cannot be passed on", ErrPolicy, t)
		}
	}
	if serviceFolder(path) {
		return fmt.Errorf("%w: %s holds sockets of the system's services and cannot be passed on", ErrPolicy, path)
	}
	if within(path, "/dev") && !within(path, "/dev/shm") || path == "/dev/shm" {
		allowed := false
		for _, n := range graphicsNodes {
			allowed = allowed || strings.HasPrefix(path, n)
		}
		if !allowed {
			return fmt.Errorf("%w: of the devices only those of graphics cards can be passed on, not %s", ErrPolicy, path)
		}
		return nil
	}
	st, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrPolicy, err)
	}
	if !st.IsDir() && !st.Mode().IsRegular() {
		return fmt.Errorf("%w: %s is neither a file nor a folder", ErrPolicy, path)
	}
	return nil
}

// serviceFolder reports whether path is where services put their sockets. In
// /run there are also drives, and files that the desktop passes to programs.
func serviceFolder(path string) bool {
	rest, ok := strings.CutPrefix(strings.TrimPrefix(path, "/var"), "/run")
	if !ok || rest != "" && rest[0] != '/' {
		return false
	}
	parts := strings.Split(strings.TrimPrefix(rest, "/"), "/")
	switch {
	case parts[0] == "media" && len(parts) > 1:
		return false
	case parts[0] == "user" && len(parts) > 3 && (parts[2] == "doc" || parts[2] == "gvfs"):
		return false
	}
	return true
}

// within reports whether path is tree or below it. Both are clean.
func within(path, tree string) bool {
	return path == tree || strings.HasPrefix(path, strings.TrimSuffix(tree, string(filepath.Separator))+string(filepath.Separator))
}

// Filled returns l with the defaults where it is zero, and -1 for every kind
// of unlimited.
func (l Limits) Filled() Limits {
	d := DefaultLimits()
	return Limits{
		Memory:   fill(l.Memory, d.Memory),
		FileSize: fill(l.FileSize, d.FileSize),
		Disk:     fill(l.Disk, d.Disk),
		Procs:    fill(l.Procs, d.Procs),
		Files:    fill(l.Files, d.Files),
		Output:   fill(l.Output, d.Output),
		Wall:     fill(l.Wall, d.Wall),
		CPU:      fill(l.CPU, d.CPU),
	}
}

func fill[T ~int | ~int64](v, unset T) T {
	switch {
	case v == 0:
		return unset
	case v < 0:
		return -1
	}
	return v
}
