package sandbox

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// stageSeatbelt is the only stage of the helper here.
const stageSeatbelt = "seatbelt"

// sandboxExec puts a profile of Seatbelt around itself and becomes the program.
const (
	sandboxExec     = "/usr/bin/sandbox-exec"
	sandboxExecName = "sandbox-exec" // in the process table
)

// JailMain is the sandbox helper. It reads an order from descriptor 3, starts
// the program by way of sandbox-exec with the limits set, and reports on
// descriptor 4; it stays outside of the boundary. It returns the exit status of
// the helper; the program must exit with it at once. It must be the first thing
// that the program does.
func JailMain() int {
	o, control, err := readOrder()
	if err != nil {
		fmt.Fprintln(os.Stderr, "atoll sandbox helper:", err)
		return 2
	}
	out := os.NewFile(reportFD, "report")
	if o.Stage != stageSeatbelt {
		err = fmt.Errorf("unknown stage %q", o.Stage)
	} else {
		err = superviseSeatbelt(o, control, out)
	}
	if err != nil {
		sendError(out, err)
		return 125
	}
	return 0
}

func superviseSeatbelt(o order, control *bufio.Reader, out *os.File) error {
	if err := checkMeasures(); err != nil {
		return failed("measure processes", err)
	}
	growth, err := newGrowth(o)
	if err != nil {
		return failed("measure folders", err)
	}
	ignoreSignals()
	if err := setLimits(o.Limits); err != nil {
		return failed("set limits", err)
	}
	pid, err := startProgram(o)
	if err != nil {
		return failed(stepExec, err)
	}
	row, ok := processRow(pid) // it is ours to collect, so that it is there
	if !ok {
		_ = unix.Kill(pid, unix.SIGKILL)
		return failed("watch the program", errors.New("the system does not show it"))
	}
	tree := &lineage{root: pid, helper: os.Getpid(), table: processTable, row: processRow}
	if err := awaitProgram(pid); err != nil {
		_ = tree.end()
		return err
	}
	book := newLedger("seatbelt")
	if err := send(out, report{Event: eventStarted, Facts: facts{Program: pid, Began: row.start}}); err != nil {
		_ = tree.end()
		return err
	}
	w := watcher{limits: o.Limits, pids: tree.pids, growth: growth, book: book}
	r := report{Event: eventExit, Exit: supervise(pid, control, &w, tree.sweeper(out))}
	if err := tree.end(); err != nil {
		r.Exit.Detail = strings.TrimSpace(r.Exit.Detail + " Not all of it could be ended: " + err.Error() + ".")
	}
	last := book.record(&w)
	r.Record = &last
	return send(out, r)
}

// awaitProgram waits until sandbox-exec has become the program, or has failed:
// then it has ended under its own name, and what it said lies in the program's
// standard error.
func awaitProgram(pid int) error {
	const longest = 10 * time.Second // a profile is compiled in milliseconds
	for end := time.Now().Add(longest); time.Now().Before(end); time.Sleep(time.Millisecond) {
		k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
		if err != nil {
			return failed("watch the program", err)
		}
		if unix.ByteSliceToString(k.Proc.P_comm[:]) != sandboxExecName {
			return nil
		}
		if k.Proc.P_stat == zombie {
			var ws syscall.WaitStatus
			if _, err := syscall.Wait4(pid, &ws, 0, nil); err != nil {
				return failed("watch the program", err)
			}
			return failed(stepSeatbelt, fmt.Errorf("%s ended with status %d before it started the program", sandboxExec, ws.ExitStatus()))
		}
	}
	return failed(stepSeatbelt, fmt.Errorf("%s did not start the program within %s", sandboxExec, longest))
}

// closeInherited marks every descriptor from filesFD on to be closed by exec.
func closeInherited() error {
	names, err := os.ReadDir("/dev/fd")
	if err != nil {
		return err
	}
	for _, n := range names {
		if fd, err := strconv.Atoi(n.Name()); err == nil && fd >= filesFD {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}

// duplicate makes to the same as from, and open across an exec.
func duplicate(from, to int) error { return unix.Dup2(from, to) }
