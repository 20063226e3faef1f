package sandbox

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/windows"
)

// runner starts each command in a container and a job of its own.
type runner struct {
	helper []string

	mu    sync.Mutex
	known *ability // what the first probe found
}

func newRunner(o Options) Runner { return &runner{helper: append([]string(nil), o.Helper...)} }

// Start is documented at [Runner].
func (r *runner) Start(ctx context.Context, p Policy, c Command) (Process, error) {
	defer closeAll(c.Files)
	if err := p.Check(); err != nil {
		return nil, err
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	if ext := strings.ToLower(filepath.Ext(c.Path)); ext != ".exe" {
		return nil, fmt.Errorf("start %s: only programs (.exe) are started, no scripts, which a shell would run", c.Path)
	}
	if len(p.Held) > 0 {
		return nil, heldRefusal(p)
	}
	if p.Network.Mode != NetworkOff {
		return nil, refusal{fmt.Sprintf("a network of mode %q cannot be had on Windows, where only programs with no network are started", p.Network.Mode)}
	}
	can, err := r.probe(ctx)
	if err != nil {
		return nil, err
	}
	if can.level.Name == LevelNone {
		return nil, refusal{can.reason()}
	}
	proc, err := start(ctx, p, c, can.manner)
	if err != nil {
		return nil, err
	}
	return proc, nil
}

// A manner is how programs are started. Which one works depends on the machine
// and on what has started this program; the probe finds out.
type manner struct {
	windowLimits bool // those of the job
	console      bool // one without a window; else none
}

// start starts a command and returns when it runs. The files stay open.
func start(ctx context.Context, p Policy, c Command, m manner) (_ *process, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	plan, err := planOf(p, c)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Path, err)
	}
	proc := &process{limits: p.Limits.Filled(), stdout: &stream{}, stderr: &stream{}, done: make(chan struct{})}
	// Each step is undone when a later one fails, the last one first.
	var undo []func()
	defer func() {
		if err != nil {
			for i := len(undo) - 1; i >= 0; i-- {
				undo[i]()
			}
		}
	}()
	if proc.grants, err = newGrants(); err != nil {
		return nil, fmt.Errorf("build sandbox: %w", err)
	}
	// What cannot be taken back is in the journal.
	undo = append(undo, func() { _ = proc.grants.undo() })
	trees := []string{}
	for _, g := range plan {
		if g.write {
			trees = append(trees, g.path)
		}
		if err := proc.grants.allow(ctx, g.path, g.kind); err != nil {
			return nil, err
		}
	}
	temp, folder, err := proc.grants.temp()
	if err != nil {
		return nil, fmt.Errorf("build sandbox: %w", err)
	}
	if proc.size, err = newSizeWatch(proc.limits, append(trees, folder), freeBytes); err != nil {
		return nil, fmt.Errorf("build sandbox: %w", err)
	}
	if proc.job, err = newJob(proc.limits, m.windowLimits); err != nil {
		return nil, fmt.Errorf("build sandbox: %w", err)
	}
	undo = append(undo, proc.job.close)
	l := launch{c: proc.grants.container, j: proc.job, command: c, dir: c.Dir, console: m.console, files: c.Files}
	if l.dir == "" {
		l.dir = temp
	}
	ours, err := l.pipes()
	if err != nil {
		return nil, fmt.Errorf("make pipes: %w", err)
	}
	undo = append(undo, func() { closeAll(ours[:]) })
	proc.stdin, proc.stdout.f, proc.stderr.f = ours[0], ours[1], ours[2]
	proc.limitOutput(proc.limits.Output)
	err = l.inheritable()
	closeAll(l.std[:])
	if err == nil {
		l.env = winEnviron(p.Env, temp, os.Getenv("SystemRoot"), l.numbers())
		proc.began = time.Now()
		proc.handle, err = l.start()
	}
	l.closeHandles()
	if err != nil {
		return nil, fmt.Errorf("start program: %w", err)
	}
	proc.detach = context.AfterFunc(ctx, func() {
		// An error means that it is gone already.
		_ = proc.Kill()
	})
	go proc.follow()
	return proc, nil
}

// planOf says what has to be granted. What every container may read needs no
// grant, and nothing is ever granted on what belongs to the system.
func planOf(p Policy, c Command) ([]treeGrant, error) {
	places := newWinPlaces(os.Getenv)
	protected := map[string][]string{}
	var read, write []string
	for _, path := range p.Write {
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			return nil, err
		}
		if protected[real], err = Protected(real); err != nil {
			return nil, err
		}
		write = append(write, real)
	}
	for _, path := range append(append([]string{}, p.Read...), c.Path) {
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			return nil, err
		}
		inside := false // the program lies in a tree of the policy
		for _, t := range append(append([]string{}, read...), write...) {
			inside = inside || path == c.Path && winWithin(real, t)
		}
		if inside || readable(real) {
			continue
		}
		if places.isSystem(real) {
			return nil, refusal{fmt.Sprintf("%s is closed to programs in containers, and it belongs to the system", real)}
		}
		read = append(read, real)
	}
	return planGrants(read, write, protected), nil
}

func freeBytes(path string) (int64, error) {
	p, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return 0, err
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(p, &free, nil, nil); err != nil {
		return 0, err
	}
	return int64(min(free, 1<<62)), nil
}
