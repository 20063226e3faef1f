package sandbox

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// zombie is SZOMB of sys/proc.h.
const zombie = 5

// newRow reads a line of the process table. The session is asked for only where
// the answer can matter: the program cannot become another user.
func newRow(k *unix.KinfoProc, user uint32) procRow {
	r := procRow{
		pid: int(k.Proc.P_pid), parent: int(k.Eproc.Ppid), group: int(k.Eproc.Pgid),
		start: k.Proc.P_starttime.Sec*1e6 + int64(k.Proc.P_starttime.Usec), ended: k.Proc.P_stat == zombie,
		own: k.Eproc.Ucred.Uid == user,
	}
	if r.own && !r.ended {
		if sid, err := unix.Getsid(r.pid); err == nil {
			r.session = sid
		}
	}
	return r
}

// processTable is what the kernel says of every process.
func processTable() ([]procRow, error) {
	all, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, err
	}
	user := uint32(os.Geteuid())
	rows := make([]procRow, len(all))
	for i := range all {
		rows[i] = newRow(&all[i], user)
	}
	return rows, nil
}

// processRow is the line of one process; false when there is none.
func processRow(pid int) (procRow, bool) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(k.Proc.P_pid) != pid {
		return procRow{}, false
	}
	return newRow(k, uint32(os.Geteuid())), true
}

// alive reports whether a process is neither gone nor a zombie, which only
// waits for its parent to look.
func alive(pid int) bool {
	r, ok := processRow(pid)
	return ok && !r.ended
}

// pids lists the living. Where the table cannot be read it is who lived before:
// a sweep then says that they are left.
func (l *lineage) pids() []int {
	table, err := processTable()
	if err != nil {
		return l.last()
	}
	return l.living(table)
}

// kill ends one of them. Nothing pins a process on macOS: between the look and
// the signal the number could be given out again, if it were given out tens of
// thousands of times in that moment.
func (l *lineage) kill(pid int) {
	if r, ok := processRow(pid); ok && l.is(r) {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
}

// sweeper spares the program, the root.
func (l *lineage) sweeper(out io.Writer) sweeper {
	return sweeper{
		keep: l.root, out: out, pids: l.pids, kill: l.kill,
		hold: func(stop bool) {
			sig := unix.SIGCONT
			if stop {
				sig = unix.SIGSTOP
			}
			if r, ok := processRow(l.root); ok && l.is(r) {
				_ = unix.Kill(l.root, sig)
			}
		},
	}
}

// end ends all of it, the program included. In each round its group goes first,
// in one call, which nothing outruns that forks fast.
func (l *lineage) end() error {
	for end := time.Now().Add(sweepTime); ; time.Sleep(time.Millisecond) {
		left := l.pids()
		for _, pid := range left {
			if r, ok := processRow(pid); ok && l.is(r) && r.group == l.root {
				_ = unix.Kill(-l.root, unix.SIGKILL)
				break
			}
		}
		for _, pid := range left {
			l.kill(pid)
		}
		switch {
		case len(left) == 0:
			return nil
		case time.Now().After(end):
			return fmt.Errorf("%w: %d are left", errNotSwept, len(left))
		}
	}
}
