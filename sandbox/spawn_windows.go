package sandbox

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Attributes of a new process that x/sys does not name.
const (
	attributeCapabilities = 0x00020009 // PROC_THREAD_ATTRIBUTE_SECURITY_CAPABILITIES
	attributeJobs         = 0x0002000D // PROC_THREAD_ATTRIBUTE_JOB_LIST
)

// securityCapabilities is SECURITY_CAPABILITIES. Without a capability there is
// no network, neither outside nor on this machine.
type securityCapabilities struct {
	container *windows.SID
	list      uintptr
	count     uint32
	reserved  uint32
}

// A launch is a program that is to be started in a container and a job.
type launch struct {
	c       container
	j       *job
	command Command
	env     []string
	dir     string
	console bool             // one of its own, without a window; else none
	std     [3]*os.File      // its ends
	files   []*os.File       // further ones
	handles []windows.Handle // the inheritable copies of all of them
}

// pipes makes the three standard streams and returns this program's ends.
func (l *launch) pipes() (ours [3]*os.File, err error) {
	for i := range ours {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll(ours[:i])
			closeAll(l.std[:i])
			return ours, err
		}
		if ours[i], l.std[i] = r, w; i == 0 {
			ours[i], l.std[i] = w, r
		}
	}
	return ours, nil
}

// inheritable makes copies of the files that a child can inherit. Only those
// named in the list of handles are, whatever else starts a process meanwhile.
func (l *launch) inheritable() error {
	self := windows.CurrentProcess()
	for _, f := range append(l.std[:], l.files...) {
		var h windows.Handle
		if err := windows.DuplicateHandle(self, windows.Handle(f.Fd()), self, &h, 0, true, windows.DUPLICATE_SAME_ACCESS); err != nil {
			return fmt.Errorf("pass on handle: %w", err)
		}
		l.handles = append(l.handles, h)
	}
	return nil
}

func (l *launch) closeHandles() {
	for _, h := range l.handles {
		windows.CloseHandle(h)
	}
	l.handles = nil
}

// numbers are the handles of the further files.
func (l *launch) numbers() []uintptr {
	var out []uintptr
	for _, h := range l.handles[len(l.std):] {
		out = append(out, uintptr(h))
	}
	return out
}

// start starts the program and returns its process. It does not run before it is
// seen to be where it belongs.
func (l *launch) start() (windows.Handle, error) {
	attributes, err := windows.NewProcThreadAttributeList(3)
	if err != nil {
		return 0, err
	}
	defer attributes.Delete()
	caps := &securityCapabilities{container: l.c.sid}
	if err := attributes.Update(attributeCapabilities, unsafe.Pointer(caps), unsafe.Sizeof(*caps)); err != nil {
		return 0, err
	}
	jobs := &[1]windows.Handle{l.j.handle}
	if err := attributes.Update(attributeJobs, unsafe.Pointer(jobs), unsafe.Sizeof(*jobs)); err != nil {
		return 0, err
	}
	if err := attributes.Update(windows.PROC_THREAD_ATTRIBUTE_HANDLE_LIST, unsafe.Pointer(&l.handles[0]), uintptr(len(l.handles))*unsafe.Sizeof(l.handles[0])); err != nil {
		return 0, err
	}
	program, err := windows.UTF16PtrFromString(l.command.Path)
	if err != nil {
		return 0, err
	}
	line, err := windows.UTF16PtrFromString(windows.ComposeCommandLine(append([]string{l.command.Path}, l.command.Args...)))
	if err != nil {
		return 0, err
	}
	dir, err := windows.UTF16PtrFromString(l.dir)
	if err != nil {
		return 0, err
	}
	block := winEnvBlock(l.env)
	si := &windows.StartupInfoEx{ProcThreadAttributeList: attributes.List()}
	si.Cb = uint32(unsafe.Sizeof(*si))
	si.Flags = windows.STARTF_USESTDHANDLES
	si.StdInput, si.StdOutput, si.StdErr = l.handles[0], l.handles[1], l.handles[2]
	flags := uint32(windows.CREATE_UNICODE_ENVIRONMENT | windows.EXTENDED_STARTUPINFO_PRESENT | windows.CREATE_SUSPENDED)
	if l.console {
		flags |= windows.CREATE_NO_WINDOW
	} else {
		flags |= windows.DETACHED_PROCESS
	}
	var pi windows.ProcessInformation
	err = windows.CreateProcess(program, line, nil, nil, true, flags, &block[0], dir, &si.StartupInfo, &pi)
	runtime.KeepAlive(caps)
	runtime.KeepAlive(jobs)
	runtime.KeepAlive(l)
	if err != nil {
		return 0, err
	}
	defer windows.CloseHandle(pi.Thread)
	if err = l.inPlace(pi.Process); err == nil {
		_, err = windows.ResumeThread(pi.Thread)
	}
	if err != nil {
		// It never ran. The job is closed by the caller, which ends it if this cannot.
		_ = windows.TerminateProcess(pi.Process, endedByUs)
		windows.CloseHandle(pi.Process)
		return 0, err
	}
	return pi.Process, nil
}

// inPlace returns an error unless the process is in its container and its job.
func (l *launch) inPlace(process windows.Handle) error {
	var token windows.Token
	if err := windows.OpenProcessToken(process, windows.TOKEN_QUERY, &token); err != nil {
		return fmt.Errorf("look at the new process: %w", err)
	}
	defer token.Close()
	const isAppContainer = 29 // TokenIsAppContainer
	var inside, n uint32
	if err := windows.GetTokenInformation(token, isAppContainer, (*byte)(unsafe.Pointer(&inside)), uint32(unsafe.Sizeof(inside)), &n); err != nil {
		return fmt.Errorf("look at the new process: %w", err)
	}
	if inside == 0 {
		return errors.New("the new process is in no container")
	}
	count, err := l.j.count()
	if err != nil {
		return err
	}
	if count.procs == 0 {
		return errors.New("the new process is not in its job")
	}
	return nil
}
