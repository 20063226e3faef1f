package sandbox

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// insideUID is the user's number inside, whoever it is outside.
const insideUID = 1000

// runner starts a helper for each command.
type runner struct {
	helper  []string
	reduced bool // Options.Reduced

	mu    sync.Mutex
	known *ability // what the first probe found
	// groups is set by the probe where the system lends control groups.
	groups *cgroups

	// upstream is [proxy.Options.Upstream]; tests put their own here.
	upstream func(*http.Request) (*url.URL, error)
}

func newRunner(o Options) Runner {
	return &runner{helper: append([]string(nil), o.Helper...), reduced: o.Reduced}
}

// Start is documented at [Runner].
func (r *runner) Start(ctx context.Context, p Policy, c Command) (Process, error) {
	defer closeAll(c.Files)
	if err := p.Check(); err != nil {
		return nil, err
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	can, err := r.probe(ctx)
	if err != nil {
		return nil, err
	}
	o, err := newOrder(p, c)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Path, err)
	}
	switch can.level {
	case LevelFull:
		o.Stage = stageFull
	case LevelReduced:
		if hole := protectedInside(o.Read, o.Write); hole != "" {
			return nil, refusal{fmt.Sprintf("%s must stay read-only inside a writable folder, and only namespaces can do that. %s", hole, can.full.fix)}
		}
		if len(p.Held) > 0 {
			return nil, heldRefusal(p)
		}
		if p.Network.Mode != NetworkOff {
			return nil, refusal{fmt.Sprintf("a network of mode %q needs namespaces; without them only programs with no network are started. %s", p.Network.Mode, can.full.fix)}
		}
		o.Stage = stageGuard
	default:
		return nil, refusal{can.full.reason + " " + can.full.fix}
	}
	out, err := newWayOut(p.Network, r.upstream)
	if err != nil {
		return nil, err
	}
	if out != nil {
		o.Env = proxyEnv(o.Env)
	}
	proc, _, err := r.launch(ctx, o, c.Files, out)
	if err != nil {
		return nil, err
	}
	if o.Layers != "" && proc.full {
		return newLayered(proc, o), nil
	}
	return proc, nil
}

// newOrder resolves what the policy and the command name.
func newOrder(p Policy, c Command) (order, error) {
	o := order{
		Path: c.Path, Args: c.Args, Dir: c.Dir, Env: p.Env, Files: len(c.Files),
		Limits: p.Limits.Filled(), UID: insideUID, Links: map[string]string{}, Network: p.Network.Mode,
	}
	if o.Env == nil {
		o.Env = []string{}
	}
	var err error
	if o.Read, err = o.resolve(p.Read); err != nil {
		return o, err
	}
	if o.Write, err = o.resolve(p.Write); err != nil {
		return o, err
	}
	if o.Held, err = o.resolve(p.Held); err != nil {
		return o, err
	}
	if err := o.protect(); err != nil {
		return o, err
	}
	if p.GPU {
		o.addGraphics()
	}
	if p.Layers != "" {
		if o.Layers, err = filepath.EvalSymlinks(p.Layers); err != nil {
			return o, err
		}
	}
	// The program itself must be there, and no more of its folder; so must
	// every link on the way to it.
	real, err := filepath.EvalSymlinks(c.Path)
	if err != nil {
		return o, err
	}
	if !o.shows(real) {
		o.Read = append(o.Read, real)
	}
	for _, path := range linksTo(c.Path, real) {
		if !o.shows(path) {
			o.Links[path] = real
		}
	}
	return o, nil
}

// realPath returns the path behind all symbolic links.
func realPath(path string) (string, error) { return filepath.EvalSymlinks(path) }

// shows reports whether path exists inside without our doing.
func (o order) shows(path string) bool {
	for _, t := range systemTrees {
		if within(path, t) {
			return true
		}
	}
	for _, trees := range [][]string{o.Read, o.Write} {
		for _, t := range trees {
			if within(path, t) {
				return true
			}
		}
	}
	return false
}

// protectedInside returns a readable path that lies below a writable tree.
func protectedInside(read, write []string) string {
	for _, r := range read {
		for _, w := range write {
			if r != w && within(r, w) && !deepest(r, read, write) {
				return r
			}
		}
	}
	return ""
}

// launch starts the helper with an order and waits until the program runs. The
// files stay open here. The way out, nil without one, ends with the program.
func (r *runner) launch(ctx context.Context, o order, files []*os.File, out *wayOut) (*process, facts, error) {
	cleanup := out.close
	defer out.release()
	if err := ctx.Err(); err != nil {
		cleanup()
		return nil, facts{}, err
	}
	if len(r.helper) == 0 {
		cleanup()
		return nil, facts{}, refusal{"the program was built without its sandbox helper (Options.Helper is empty)."}
	}
	if o.Stage == stageGuard {
		dir, err := os.MkdirTemp("", "atoll-run-")
		if err != nil {
			return nil, facts{}, fmt.Errorf("make temporary folder: %w", err)
		}
		cleanup = func() { os.RemoveAll(dir) } // there is no way out in this mode
		o.TmpDir = dir
		o.Env = o.privateTemp()
	}
	var group *cgroup
	if r.groups != nil {
		var err error
		if group, err = r.groups.make(o.Limits); err != nil {
			cleanup()
			return nil, facts{}, err
		}
		o.Counted = true
	}
	if out != nil {
		files = append(slices.Clip(files), out.helper)
	}
	proc := newProcess(o.Limits)
	proc.full = o.Stage == stageFull
	proc.judge = func(e Exit) Exit {
		e = group.judge(e)
		group.remove()
		return e
	}
	proc.adds = func(r Record) Record { return group.addTo(out.addTo(r)) }
	proc.cleanup = cleanup
	if err := proc.spawn(ctx, r.helper, o, files, attributes(proc.full, group)); err != nil {
		group.remove()
		cleanup()
		return nil, facts{}, err
	}
	seen, err := proc.started(ctx)
	if err != nil {
		return nil, facts{}, err
	}
	if err := out.serve(); err != nil {
		_ = proc.Kill()
		proc.Wait()
		proc.closeEnds()
		return nil, facts{}, &startError{"start network", err.Error()}
	}
	return proc, seen, nil
}

// attributes puts the helper where it belongs: in namespaces of its own, in a
// control group.
func attributes(full bool, group *cgroup) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setsid: true} // no terminal
	if full {
		a.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET |
			unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: insideUID, HostID: os.Geteuid(), Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: insideUID, HostID: os.Getegid(), Size: 1}}
		a.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SETPCAP, unix.CAP_SYS_RESOURCE, unix.CAP_DAC_OVERRIDE, unix.CAP_DAC_READ_SEARCH, unix.CAP_SYS_PTRACE}
	}
	if group != nil {
		a.UseCgroupFD, a.CgroupFD = true, group.fd
	}
	return a
}
