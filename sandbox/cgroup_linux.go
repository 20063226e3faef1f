package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// Control groups (version 2), where the system lends some to the user. The
// kernel then counts memory and processes itself, which no program outruns; the
// watcher goes on as without.

// groupSlack is what the helper may use beside the program.
const groupSlack = 64 << 20

// groupPrefix starts the names of our groups; the host's process number follows.
const groupPrefix = "atoll-"

// hostGroup is the group of this program itself, beside those of its runs.
const hostGroup = groupPrefix + "host"

// groupControllers are those that a group must have to be of use.
var groupControllers = []string{"memory", "pids"}

// cgroups is the folder in which groups are made.
type cgroups struct {
	base string
	last atomic.Int64
}

// A cgroup holds one run.
type cgroup struct {
	path  string
	fd    int
	limit int64

	mu     sync.Mutex // guards the last peaks, which stay when the group is gone
	memory int64
	count  int
}

// findCgroups looks for a folder in which this user may make groups with the
// memory and pids controllers, by making one. It returns nil, and why, where
// there is none. An ordinary user's service manager is asked for one then.
func findCgroups(ctx context.Context) (*cgroups, string) {
	g, why := lookForCgroups()
	if g != nil || os.Geteuid() == 0 {
		return g, why
	}
	if err := askForScope(ctx, sessionBus()); err != nil {
		return nil, why + ", and " + err.Error()
	}
	return lookForCgroups()
}

func lookForCgroups() (*cgroups, string) {
	own, err := ownGroup("/proc/self/mountinfo", "/proc/self/cgroup")
	if err != nil {
		return nil, err.Error()
	}
	why := "the system lends this program no control groups"
	for i, base := range groupBases(own) {
		g := &cgroups{base: base}
		if err := g.try(); err == nil {
			return g, ""
		} else if i == 0 {
			why = err.Error()
		}
	}
	return nil, why
}

// ownGroup returns the folder of this process's own group.
func ownGroup(mountinfo, cgroup string) (string, error) {
	mounts, err := os.ReadFile(mountinfo)
	if err != nil {
		return "", err
	}
	root, at := "", ""
	for line := range strings.Lines(string(mounts)) {
		left, right, ok := strings.Cut(line, " - ")
		if f := strings.Fields(left); ok && len(f) > 4 && strings.HasPrefix(right, "cgroup2 ") {
			root, at = f[3], f[4]
			break
		}
	}
	if at == "" {
		return "", errors.New("no control groups of version 2 are mounted")
	}
	lines, err := os.ReadFile(cgroup)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(lines)) {
		if path, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "0::"); ok {
			rel, err := filepath.Rel(root, path)
			if err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
				return "", errors.New("this process's control group lies outside of what is mounted")
			}
			return filepath.Join(at, rel), nil
		}
	}
	return "", errors.New("this process is in no control group of version 2")
}

// groupBases are the folders to try: the own group, when it is ours alone, and
// for an ordinary user the one above, in which the user's session keeps the
// groups of programs.
func groupBases(own string) []string {
	var bases []string
	if filepath.Base(own) == hostGroup { // moved there before
		return []string{filepath.Dir(own)}
	}
	if aloneIn(own) && moveAside(own) == nil {
		bases = append(bases, own)
	}
	var st unix.Stat_t
	parent := filepath.Dir(own)
	if os.Geteuid() != 0 && unix.Stat(parent, &st) == nil && st.Uid == uint32(os.Geteuid()) {
		bases = append(bases, parent)
	}
	return bases
}

// aloneIn reports whether this process is the only one of a group.
func aloneIn(group string) bool {
	text, err := os.ReadFile(filepath.Join(group, "cgroup.procs"))
	return err == nil && strings.TrimSpace(string(text)) == strconv.Itoa(os.Getpid())
}

// moveAside puts this process into a group below its own: only a group without
// processes hands controllers on.
func moveAside(own string) error {
	host := filepath.Join(own, hostGroup)
	if err := os.Mkdir(host, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	if err := writeFile(host, "cgroup.procs", strconv.Itoa(os.Getpid())); err != nil {
		_ = os.Remove(host) // empty
		return err
	}
	if err := writeFile(own, "cgroup.subtree_control", "+memory +pids"); err != nil {
		return errors.Join(err, writeFile(own, "cgroup.procs", strconv.Itoa(os.Getpid())), os.Remove(host))
	}
	return nil
}

// try makes a group and removes it, and those that ended hosts have left.
func (g *cgroups) try() error {
	g.sweep()
	c, err := g.make(DefaultLimits())
	if err != nil {
		return err
	}
	defer c.remove()
	has, err := os.ReadFile(filepath.Join(c.path, "cgroup.controllers"))
	if err != nil {
		return err
	}
	for _, want := range groupControllers {
		if !slices.Contains(strings.Fields(string(has)), want) {
			return fmt.Errorf("the control groups that can be made lack the controller %q", want)
		}
	}
	return nil
}

// sweep removes the groups of hosts that are gone. One that is in use cannot be
// removed.
func (g *cgroups) sweep() {
	old, _ := filepath.Glob(filepath.Join(g.base, groupPrefix+"*")) // the pattern is well-formed
	for _, path := range old {
		owner, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(path), groupPrefix), "-")
		if pid, err := strconv.Atoi(owner); err == nil && unix.Kill(pid, 0) == unix.ESRCH {
			_ = os.Remove(path)
		}
	}
}

// make makes a group with limits. A limit whose controller is missing is not
// set; see try.
func (g *cgroups) make(l Limits) (*cgroup, error) {
	c := &cgroup{path: filepath.Join(g.base, fmt.Sprintf("%s%d-%d", groupPrefix, os.Getpid(), g.last.Add(1))), limit: l.Memory}
	if err := os.Mkdir(c.path, 0o755); err != nil {
		return nil, fmt.Errorf("make control group: %w", err)
	}
	set := map[string]string{"memory.oom.group": "0"} // the helper must live to tell
	if l.Memory > 0 {
		set["memory.max"], set["memory.swap.max"] = strconv.FormatInt(l.Memory+groupSlack, 10), "0"
	}
	if l.Procs > 0 {
		set["pids.max"] = strconv.Itoa(l.Procs + spareProcs)
	}
	for name, value := range set {
		// Swap may be off, and with it its file.
		if err := writeFile(c.path, name, value); err != nil && !errors.Is(err, os.ErrNotExist) {
			c.remove()
			return nil, fmt.Errorf("set %s of control group: %w", name, err)
		}
	}
	fd, err := unix.Open(c.path, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		c.remove()
		return nil, fmt.Errorf("open control group: %w", err)
	}
	c.fd = fd
	return c, nil
}

func writeFile(dir, name, value string) error {
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}

// judge names the limit when it was the kernel that ended the program for it.
func (c *cgroup) judge(e Exit) Exit {
	if c == nil || e.Cause != Exited && e.Cause != Failed || e.Signal != int(unix.SIGKILL) || c.number("memory.events", "oom_kill") == 0 {
		return e
	}
	return killed(OutOfMem, fmt.Sprintf("It used all of its memory; the limit is %s.", size(c.limit)))
}

// peaks returns the most memory, in bytes, and the most processes and threads
// that the kernel has counted; 0 where it does not.
func (c *cgroup) peaks() (memory int64, procs int) {
	if c == nil {
		return 0, 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.memory = max(c.memory, c.number("memory.peak", ""))
	c.count = max(c.count, int(c.number("pids.peak", "")))
	return c.memory, c.count
}

// addTo adds what the kernel has counted, the helper's share included.
func (c *cgroup) addTo(r Record) Record {
	if c == nil {
		return r
	}
	r.Layers = append(slices.Clip(r.Layers), "cgroup")
	memory, procs := c.peaks()
	r.Usage.Memory, r.Usage.Procs = max(r.Usage.Memory, memory), max(r.Usage.Procs, procs)
	return r
}

// number reads a file of one number, or the one behind a name.
func (c *cgroup) number(file, name string) int64 {
	text, err := os.ReadFile(filepath.Join(c.path, file))
	if err != nil {
		return 0
	}
	if name == "" {
		n, _ := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		return n
	}
	return field(text, name+" ")
}

// remove ends what is left in the group and removes it.
func (c *cgroup) remove() {
	if c == nil {
		return
	}
	c.peaks()
	if c.fd > 0 {
		unix.Close(c.fd)
	}
	// The helper's end has ended all of it already; this is for what it could not.
	_ = writeFile(c.path, "cgroup.kill", "1")
	for range 100 {
		if err := os.Remove(c.path); err == nil || !errors.Is(err, unix.EBUSY) {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}
