package sandbox

import (
	"bufio"
	"fmt"
	"os"
	"runtime"

	"github.com/landlock-lsm/go-landlock/landlock"
	"golang.org/x/sys/unix"
)

// Stages of the helper.
const (
	stageFull  = "full"  // process 1 of new namespaces
	stageGuard = "guard" // reduced mode: supervises from outside the boundary
	stageEnter = "enter" // reduced mode: restricts itself and becomes the program
)

// JailMain is the sandbox helper. It reads an order from descriptor 3, builds
// the boundary around itself, starts the program in it and reports on
// descriptor 4. It returns the exit status of the helper; the program must
// exit with it at once. It must be the first thing that the program does.
func JailMain() int {
	// Restrictions are a thread's; the program is forked from this one.
	runtime.LockOSThread()
	o, control, err := readOrder()
	if err != nil {
		fmt.Fprintln(os.Stderr, "atoll sandbox helper:", err)
		return 2
	}
	out := os.NewFile(reportFD, "report")
	switch o.Stage {
	case stageFull:
		err = superviseFull(o, control, out)
	case stageGuard:
		err = superviseReduced(o, control, out)
	case stageEnter:
		var fd int
		if fd, err = unix.FcntlInt(reportFD, unix.F_DUPFD_CLOEXEC, filesFD+o.Files); err == nil {
			out = os.NewFile(uintptr(fd), "report")
			err = enterReduced(o, out)
		}
	default:
		err = fmt.Errorf("unknown stage %q", o.Stage)
	}
	if err != nil {
		sendError(out, err)
		return 125
	}
	return 0
}

// superviseFull is process 1 of the namespaces. When it returns, and the
// helper exits, the kernel ends every process in them.
func superviseFull(o order, control *bufio.Reader, out *os.File) error {
	if err := unix.Sethostname([]byte("sandbox")); err != nil {
		return failed("set host name", err)
	}
	if err := openNetwork(o); err != nil {
		return failed("start network", err)
	}
	if err := buildRoot(o); err != nil {
		return failed("mount", err)
	}
	seen, err := sealRoot(o)
	if err != nil {
		return failed("mount", err)
	}
	over, err := newLayerMounts(o)
	if err != nil {
		return failed("mount", err)
	}
	if o.TryLayer != "" {
		seen.Layer = over.try(o.TryLayer)
	}
	growth, err := newGrowth(o)
	if err != nil {
		return failed("measure folders", err)
	}
	// Closes /proc/1/mem and its like to the program.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return failed("hide helper", err)
	}
	procs := 0
	if o.Limits.Procs > 0 && kernelAtLeast(5, 14) { // before, it counts all of the user's
		procs = o.Limits.Procs + spareProcs
	}
	ignoreSignals()
	makeThreads()
	if err := setLimits(o.Limits, procs); err != nil {
		return failed("set limits", err)
	}
	rules := append(fullRules(o.Limits.Memory > 0 && !o.Counted), watchedCalls()...)
	listener := -1
	if seen.Landlock, listener, err = lockDown(fullAccess(o), false, rules); err != nil {
		return err
	}
	seen.Counted = listener >= 0
	book := newLedger(layers(seen, true)...)
	if seen.Counted {
		counts := newDenials()
		book.denials = counts.list
		go counts.answerCalls(listener, rules, o.Network != NetworkOff)
	}
	pid, err := startProgram(o)
	if err != nil {
		return failed(stepExec, err)
	}
	if err := send(out, report{Event: eventStarted, Facts: seen}); err != nil {
		return err
	}
	w := watcher{limits: o.Limits, pids: namespacePids, tmp: []string{"/tmp", "/dev/shm", "/home"}, growth: growth, book: book}
	s := namespaceSweeper(pid, out)
	if over != nil {
		s.layer = func(line string) { over.obey(line, out) }
	}
	r := report{Event: eventExit, Exit: supervise(pid, control, &w, s)}
	// The end of this process is the end of all; before it, so that nothing runs
	// while the last record is made.
	if os.Getpid() == 1 { // outside of a namespace -1 is every program of the user
		_ = unix.Kill(-1, unix.SIGKILL)
	}
	last := book.record(&w)
	r.Record = &last
	return send(out, r)
}

// layers names what was put around a program.
func layers(f facts, full bool) []string {
	var out []string
	if full {
		out = append(out, "namespaces", "mounts")
	}
	if f.Landlock > 0 {
		out = append(out, fmt.Sprintf("landlock %d", f.Landlock))
	}
	out = append(out, "seccomp")
	if f.Counted {
		out = append(out, "seccomp log")
	}
	return out
}

// lockDown takes from the calling thread what the program must not have; shared
// says that it shares the machine's namespaces. It returns the Landlock version
// that is enforced, and where the kernel asks about refused calls, -1 for
// nowhere. The other threads keep what they have: the program cannot reach
// them, and the helper's own work needs them.
func lockDown(files []landlock.Rule, shared bool, calls []rule) (abi, listener int, err error) {
	if err := dropCapabilities(!shared); err != nil {
		return 0, -1, failed("capabilities", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return 0, -1, failed("no_new_privs", err)
	}
	if abi = landlockABI(); abi > 0 {
		if err := restrictFiles(files, shared); err != nil {
			return 0, -1, failed("landlock", err)
		}
	}
	listener, err = installFilter(calls)
	return abi, listener, failed("seccomp", err)
}

// closeInherited marks every descriptor from filesFD on to be closed by exec.
func closeInherited() error {
	return unix.CloseRange(filesFD, ^uint(0)>>1&0x7fffffff, unix.CLOSE_RANGE_CLOEXEC)
}

// duplicate makes to the same as from, and open across an exec.
func duplicate(from, to int) error { return unix.Dup3(from, to, 0) }
