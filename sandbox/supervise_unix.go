//go:build linux || darwin

package sandbox

import (
	"bufio"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

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
		if err := duplicate(null, fd); err != nil {
			return err
		}
	}
	for i := range extra {
		unix.Close(filesFD + i)
	}
	return nil
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
		case strings.HasPrefix(string(line), cmdLayer) && s.layer != nil:
			s.layer(string(line))
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

// ignoreSignals keeps the program from ending the helper. Not signal.Ignore:
// the program would inherit that.
func ignoreSignals() {
	signal.Notify(make(chan os.Signal, 1), unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT,
		unix.SIGUSR1, unix.SIGUSR2, unix.SIGPIPE, unix.SIGABRT, unix.SIGTRAP, unix.SIGSYS)
}
