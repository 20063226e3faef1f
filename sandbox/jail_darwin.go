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
	if pid == 0 {
		return failed(stepExec, err)
	}
	tree := &lineage{root: pid, helper: os.Getpid(), table: processTable, row: processRow}
	if err = failed("close files", err); err == nil {
		err = awaitProgram(pid, control)
	}
	row, ok := processRow(pid)
	if err == nil && !ok {
		err = failed("watch the program", errors.New("the system does not show it"))
	}
	if err == nil {
		err = send(out, report{Event: eventStarted, Facts: facts{Program: pid, Began: row.start}})
	}
	if err != nil {
		_ = tree.end()
		return err
	}
	book := newLedger("seatbelt")
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
// standard error. The host has nothing to say meanwhile but that it must end.
func awaitProgram(pid int, control *bufio.Reader) error {
	const longest = 30 * time.Second // the system examines a program that is new to it
	for end := time.Now().Add(longest); time.Now().Before(end); {
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
		said := []unix.PollFd{{Fd: controlFD, Events: unix.POLLIN}}
		if n, err := unix.Poll(said, 1); control.Buffered() > 0 || err == nil && n > 0 {
			return failed("helper", errors.New("it was told to end before the program had started"))
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
