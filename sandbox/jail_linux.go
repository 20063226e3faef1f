package sandbox

import (
	"bufio"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/landlock-lsm/go-landlock/landlock"
	"golang.org/x/sys/unix"
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
	if err := setLimits(o.Limits, procs); err != nil {
		return failed("set limits", err)
	}
	rules := append(fullRules(o.Limits.Memory > 0), watchedCalls()...)
	listener := -1
	if seen.Landlock, listener, err = lockDown(fullAccess(o), false, rules); err != nil {
		return err
	}
	seen.Counted = listener >= 0
	book := newLedger(layers(seen, true)...)
	if seen.Counted {
		go book.denials.answerCalls(listener, rules, o.Network != NetworkOff)
	}
	pid, err := startProgram(o)
	if err != nil {
		return failed(stepExec, err)
	}
	if err := send(out, report{Event: eventStarted, Facts: seen}); err != nil {
		return err
	}
	keepThreads()
	w := watcher{limits: o.Limits, pids: namespacePids, tmp: []string{"/tmp", "/dev/shm", "/home"}, growth: growth, book: book}
	r := report{Event: eventExit, Exit: supervise(pid, control, &w, namespaceSweeper(pid, out))}
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

// startProgram forks the program from the calling thread, whose restrictions
// it inherits, and lets go of its files.
func startProgram(o order) (int, error) {
	files := []uintptr{0, 1, 2}
	for i := range o.Files {
		files = append(files, uintptr(filesFD+i))
	}
	dir := o.Dir
	if dir == "" {
		dir = "/"
	}
	if err := unix.Access(dir, unix.X_OK); err != nil {
		return 0, fmt.Errorf("working folder %s: %w", dir, err)
	}
	pid, err := syscall.ForkExec(o.Path, append([]string{o.Path}, o.Args...), &syscall.ProcAttr{
		Dir: dir, Env: o.Env, Files: files, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return 0, fmt.Errorf("%s: %w", o.Path, err)
	}
	return pid, releaseFiles(o.Files)
}

// releaseFiles lets go of the program's files. Otherwise the other ends of the
// pipes would never see the program close them.
func releaseFiles(extra int) error {
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("/dev/null: %w", err)
	}
	defer unix.Close(null)
	for fd := range 3 {
		if err := unix.Dup3(null, fd, 0); err != nil {
			return err
		}
	}
	for i := range extra {
		unix.Close(filesFD + i)
	}
	return nil
}

// keepThreads makes threads for later. The helper shares the limit of processes
// with the program: once that has used it up, a helper that needed one more
// thread would end. The runtime keeps threads that have nothing to do.
func keepThreads() {
	const spare = 6 // more than wait in the kernel at any time
	var ready, done sync.WaitGroup
	ready.Add(spare)
	done.Add(spare)
	for range spare {
		go func() {
			defer done.Done()
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			ready.Done()
			ready.Wait()
		}()
	}
	done.Wait()
}

// supervise returns how the program ended, or why it must end.
func supervise(pid int, control *bufio.Reader, w *watcher, s sweeper) Exit {
	ends := make(chan Exit, 4) // one from each; nobody waits for the losers
	go func() { ends <- obey(pid, control, s, w) }()
	go func() { ends <- reap(pid, w.limits) }()
	go w.run(ends)
	if l := w.limits.Wall; l > 0 {
		late := time.AfterFunc(l, func() {
			ends <- killed(OutOfTime, fmt.Sprintf("It ran for %s, which is the limit.", span(l)))
		})
		defer late.Stop()
	}
	e := <-ends
	if e.Cause == Exited && w.exceeded.Load() {
		// The watcher saw it first but the program died of it faster.
		e = <-ends
	}
	return e
}

// obey follows the host's commands until it says kill or is gone.
func obey(pid int, control *bufio.Reader, s sweeper, w *watcher) Exit {
	for {
		line, err := readLine(control, maxCommand)
		switch {
		case err != nil:
			return killed(Killed, "the program that started it is gone")
		case string(line) == cmdInterrupt:
			// Gone already is as good as interrupted.
			_ = unix.Kill(-pid, unix.SIGINT)
		case string(line) == cmdSweep:
			s.sweep()
		case string(line) == cmdRecord:
			r := w.book.record(w)
			// The host sees the end of the pipe when this does not arrive.
			_ = send(s.out, report{Event: eventRecord, Record: &r})
		case string(line) == cmdKill:
			return killed(Killed, "")
		}
	}
}

// reap collects every process that has no other parent, until the program
// itself ended.
func reap(pid int, l Limits) Exit {
	for {
		var ws syscall.WaitStatus
		p, err := syscall.Wait4(-1, &ws, 0, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return killed(Failed, "wait for the program: "+err.Error())
		case p == pid && ws.Signaled():
			e := Exit{Code: 128 + int(ws.Signal()), Signal: int(ws.Signal()), Cause: Exited}
			if ws.Signal() == syscall.SIGXFSZ {
				e.Detail = fmt.Sprintf("A file grew past the limit of %s for one file.", size(l.FileSize))
			}
			return e
		case p == pid && ws.Exited():
			return Exit{Code: ws.ExitStatus(), Cause: Exited}
		}
	}
}

func killed(c Cause, detail string) Exit {
	return Exit{Code: 128 + int(syscall.SIGKILL), Signal: int(syscall.SIGKILL), Cause: c, Detail: detail}
}

// ignoreSignals keeps the program from ending the helper. Not signal.Ignore:
// the program would inherit that.
func ignoreSignals() {
	signal.Notify(make(chan os.Signal, 1), unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT,
		unix.SIGUSR1, unix.SIGUSR2, unix.SIGPIPE, unix.SIGABRT, unix.SIGTRAP, unix.SIGSYS)
}

// size writes bytes for people.
func size(n int64) string {
	switch {
	case n >= 1<<30 && n%(1<<30) == 0:
		return fmt.Sprintf("%d GiB", n>>30)
	case n >= 10<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	default:
		return fmt.Sprintf("%d MiB", (n+1<<19)>>20)
	}
}
