package sandbox

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// superviseReduced stays outside the boundary, so that the program can neither
// signal nor inspect it, and adopts what the program leaves behind.
func superviseReduced(o order, control *bufio.Reader, out *os.File) error {
	if bad := reducedForbidden(); bad.reason != "" {
		return failed("reduced mode", errors.New(bad.reason))
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return failed("adopt orphans", err)
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return failed("hide helper", err)
	}
	growth, err := newGrowth(o)
	if err != nil {
		return failed("measure folders", err)
	}
	ignoreSignals()
	pid, first, listener, err := startEntering(o)
	if err != nil {
		return err
	}
	if first.Event == eventError {
		return failed(first.Step, errors.New(first.Error))
	}
	s, err := guardSweeper(pid, out)
	if err != nil {
		sweep(pid)
		return failed("watch the program", err)
	}
	first.Facts.Counted = listener >= 0
	book := newLedger(layers(first.Facts, false)...)
	if first.Facts.Counted {
		counts := newDenials()
		book.denials = counts.list
		go counts.answerCalls(listener, reducedRules(o.Limits.Memory > 0), false)
	}
	if err := send(out, first); err != nil {
		return err
	}
	w := watcher{limits: o.Limits, pids: func() []int { return descendants(os.Getpid()) }, growth: growth, book: book}
	r := report{Event: eventExit, Exit: supervise(pid, control, &w, s)}
	sweep(pid)
	last := book.record(&w)
	r.Record = &last
	return send(out, r)
}

// startEntering starts the helper once more; that process restricts itself and
// becomes the program. It returns its number, its first report, and where the
// kernel asks about the calls that it is refused, -1 for nowhere.
func startEntering(o order) (int, report, int, error) {
	var r report
	fail := func(err error) (int, report, int, error) { return 0, r, -1, err }
	o.Stage = stageEnter
	line, err := json.Marshal(o)
	if err != nil {
		return fail(err)
	}
	orderR, orderW, err := os.Pipe()
	if err != nil {
		return fail(failed("pipe", err))
	}
	reportR, reportW, err := socketPair()
	if err != nil {
		return fail(failed("socket", err))
	}
	files := []uintptr{0, 1, 2, orderR.Fd(), reportW.Fd()}
	for i := range o.Files {
		files = append(files, uintptr(filesFD+i))
	}
	// Should somebody kill the guard, at least the program itself goes too; the
	// signal comes when this thread ends, and it is the guard's main one.
	// os.Args is the line with which the host started this helper.
	pid, err := syscall.ForkExec("/proc/self/exe", os.Args, &syscall.ProcAttr{
		Env: os.Environ(), Files: files, Sys: &syscall.SysProcAttr{Setsid: true, Pdeathsig: unix.SIGKILL},
	})
	orderR.Close()
	reportW.Close()
	if err != nil {
		return fail(failed("helper", err))
	}
	defer orderW.Close()
	defer reportR.Close()
	if _, err := orderW.Write(append(line, '\n')); err != nil {
		return fail(failed("helper", err))
	}
	if err := releaseFiles(o.Files); err != nil {
		return fail(err)
	}
	// Two lines on failure; after the first, success is the end of the pipe,
	// which exec closes.
	var text []byte
	listener := -1
	for b := make([]byte, 64<<10); len(text) < maxReport; {
		n, fds, err := receive(int(reportR.Fd()), b, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if len(fds) > 0 {
			listener = fds[0]
		}
		if err != nil || n == 0 {
			break
		}
		text = append(text, b[:n]...)
	}
	for line := range bytes.Lines(text) {
		if err := json.Unmarshal(line, &r); err != nil {
			return fail(failed("helper", err))
		}
	}
	if r.Event == "" {
		return fail(failed("helper", errors.New("it ended before it started the program")))
	}
	return pid, r, listener, nil
}

// enterReduced restricts this process and becomes the program.
func enterReduced(o order, out *os.File) error {
	procs := 0
	if o.Limits.Procs > 0 {
		// The kernel counts all of the user's threads here.
		procs = userThreads() + o.Limits.Procs + spareProcs
	}
	rules := reducedAccess(o, os.Getpid())
	if err := setLimits(o.Limits, procs); err != nil {
		return failed("set limits", err)
	}
	abi, listener, err := lockDown(rules, true, reducedRules(o.Limits.Memory > 0 && !o.Counted))
	if err != nil {
		return err
	}
	if listener >= 0 {
		// The guard, outside, must have it: nobody here could answer himself.
		// The empty line goes with it.
		if err := unix.Sendmsg(int(out.Fd()), []byte("{}\n"), unix.UnixRights(listener), nil, 0); err != nil {
			return failed("seccomp", err)
		}
	}
	if o.Dir != "" {
		if err := os.Chdir(o.Dir); err != nil {
			return failed(stepExec, err)
		}
	} else if err := os.Chdir(o.TmpDir); err != nil {
		return failed(stepExec, err)
	}
	if err := send(out, report{Event: eventStarted, Facts: facts{Landlock: abi}}); err != nil {
		return err
	}
	return failed(stepExec, becomeProgram(o))
}

// becomeProgram moves the extra files down to where the program expects them
// and executes it. The reports have moved out of the way.
func becomeProgram(o order) error {
	for i := range o.Files {
		if err := unix.Dup3(filesFD+i, 3+i, 0); err != nil {
			return err
		}
	}
	if err := unix.Exec(o.Path, append([]string{o.Path}, o.Args...), o.Env); err != nil {
		return fmt.Errorf("%s: %w", o.Path, err)
	}
	return nil
}

// userThreads counts the threads of this user that /proc shows.
func userThreads() int {
	n := 0
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if st, err := os.Stat("/proc/" + e.Name()); err == nil && st.Sys().(*syscall.Stat_t).Uid == uint32(os.Getuid()) {
			_, threads := usage(pid)
			n += threads
		}
	}
	return n
}

// descendants lists the processes below pid.
func descendants(pid int) []int {
	out := childrenOf(pid)
	for i := 0; i < len(out) && len(out) < 4096; i++ {
		out = append(out, childrenOf(out[i])...)
	}
	return out
}

func childrenOf(pid int) []int {
	var out []int
	// The pattern is well-formed, so there is no error.
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, t := range tasks {
		text, err := os.ReadFile(t)
		if err != nil {
			continue
		}
		for _, f := range bytes.Fields(text) {
			if n, err := strconv.Atoi(string(f)); err == nil {
				out = append(out, n)
			}
		}
	}
	return out
}

// sweep ends the tree. The process group goes first, atomically: a bomb
// outruns any walk. What left the group follows, each by a descriptor that
// pins its identity, since numbers are given out again.
func sweep(group int) {
	const rounds = 200
	for range rounds {
		_ = unix.Kill(-group, unix.SIGKILL)
		below := descendants(os.Getpid())
		for _, p := range below {
			killDescendant(p)
		}
		for {
			var ws syscall.WaitStatus
			if p, err := syscall.Wait4(-1, &ws, syscall.WNOHANG, nil); p <= 0 || err != nil {
				break
			}
		}
		if len(below) == 0 {
			return
		}
	}
}

func killDescendant(pid int) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	for p, depth := pid, 0; depth < 64; depth++ {
		if p = parentOf(p); p == os.Getpid() {
			_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
			return
		}
		if p <= 1 {
			return
		}
	}
}

// parentOf reads the parent of a process; 0 when it is gone.
func parentOf(pid int) int {
	_, parent := statOf(pid)
	return parent
}

// statOf reads a process's state, a letter, and its parent from
// /proc/PID/stat; both are 0 when it is gone.
func statOf(pid int) (state byte, parent int) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0
	}
	// The name, in parentheses, may hold anything.
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 2 {
		return 0, 0
	}
	parent, _ = strconv.Atoi(string(fields[1]))
	return fields[0][0], parent
}
