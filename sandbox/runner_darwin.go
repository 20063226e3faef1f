package sandbox

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// runner starts a helper for each command, which starts sandbox-exec.
type runner struct {
	helper []string

	mu    sync.Mutex
	known *Level // what the self-check found
}

func newRunner(o Options) Runner { return &runner{helper: slices.Clone(o.Helper)} }

// Start is documented at [Runner].
func (r *runner) Start(ctx context.Context, p Policy, c Command) (Process, error) {
	if l := r.Level(ctx); l.Name == LevelNone {
		closeAll(c.Files)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		return nil, refusal{whyNone(l)}
	}
	return r.launch(ctx, p, c)
}

// launch is Start without the self-check, which uses it.
func (r *runner) launch(ctx context.Context, p Policy, c Command) (Process, error) {
	defer closeAll(c.Files)
	if err := p.Check(); err != nil {
		return nil, err
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	if len(p.Held) > 0 {
		return nil, heldRefusal(p)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(r.helper) == 0 {
		return nil, refusal{"the program was built without its sandbox helper (Options.Helper is empty)."}
	}
	temp, err := os.MkdirTemp("", "atoll-run-")
	if err != nil {
		return nil, fmt.Errorf("make temporary folder: %w", err)
	}
	remove := func() { os.RemoveAll(temp) }
	o, err := newOrder(p, c, temp)
	if err != nil {
		remove()
		return nil, fmt.Errorf("start %s: %w", c.Path, err)
	}
	proc := newProcess(o.Limits)
	proc.cleanup = remove
	// A helper that was killed has swept nothing up.
	proc.judge = func(e Exit) Exit {
		endGroup(proc.first.Facts)
		return e
	}
	if err := proc.spawn(ctx, r.helper, o, c.Files, &syscall.SysProcAttr{Setsid: true}); err != nil {
		remove()
		return nil, err
	}
	if _, err := proc.started(ctx); err != nil {
		return nil, err
	}
	return proc, nil
}

// newOrder resolves what the policy and the command name, and writes the profile.
func newOrder(p Policy, c Command, temp string) (order, error) {
	o := order{
		Stage: stageSeatbelt, Path: sandboxExec, Dir: c.Dir, Env: p.Env, Files: len(c.Files),
		Limits: p.Limits.Filled(), Links: map[string]string{}, Network: p.Network.Mode,
	}
	var err error
	if o.TmpDir, err = realPath(temp); err != nil {
		return o, err
	}
	if o.Read, err = o.resolve(p.Read); err != nil {
		return o, err
	}
	if o.Write, err = o.resolve(p.Write); err != nil {
		return o, err
	}
	if err := o.checkSpelling(); err != nil {
		return o, err
	}
	named := len(o.Read)
	if err := o.protect(); err != nil {
		return o, err
	}
	program, err := realPath(c.Path)
	if err != nil {
		return o, err
	}
	links := linksTo(c.Path, program)
	for name := range o.Links {
		links = append(links, name)
	}
	slices.Sort(links)
	profile, err := seatbelt(seatbeltOrder{
		Program: program, Read: o.Read[:named], Write: o.Write, Temp: o.TmpDir, Protected: o.Read[named:],
		Links: slices.Compact(links), Network: p.Network, GPU: p.GPU,
	})
	if err != nil {
		return o, err
	}
	o.Args = append(append(profile.arguments(), c.Path), c.Args...)
	o.Env = o.privateTemp()
	if o.Dir == "" {
		o.Dir = o.TmpDir
	}
	return o, nil
}

// realPath returns the path behind all symbolic links, as the kernel spells it:
// the disks of a Mac take a name in any case, the rules of a profile do not.
func realPath(path string) (string, error) {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	var b [unix.PathMax]byte
	if _, _, e := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), unix.F_GETPATH, uintptr(unsafe.Pointer(&b[0]))); e != 0 {
		return "", &os.PathError{Op: "get the path of", Path: path, Err: e}
	}
	return unix.ByteSliceToString(b[:]), nil
}

// checkSpelling does once more what [Policy.Check] does, which compares names as
// they were written: /users is /Users for the disk.
func (o order) checkSpelling() error {
	home, err := os.UserHomeDir()
	if err != nil {
		return err
	}
	if home, err = realPath(home); err != nil {
		return err
	}
	for _, path := range o.Read {
		if err := checkShared(path); err != nil {
			return err
		}
	}
	for _, path := range o.Write {
		if err := checkWritable(path, home); err != nil {
			return err
		}
	}
	return nil
}

// endGroup ends the group of a program that is still there, and no other that
// has its number by now.
func endGroup(f facts) {
	if f.Program <= 1 {
		return
	}
	if row, ok := processRow(f.Program); ok && row.start == f.Began && row.group == f.Program {
		_ = unix.Kill(-f.Program, unix.SIGKILL)
	}
}
