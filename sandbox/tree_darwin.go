package sandbox

import (
	"os"

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
