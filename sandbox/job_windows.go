package sandbox

import (
	"fmt"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// A job is the group of all processes of a run. A process cannot leave it, and
// when its handle is closed, also by the end of this program, all are ended.
type job struct {
	handle windows.Handle
	port   windows.Handle // on which messages about it come
}

// endedByUs is the exit code of processes that are ended with their job.
const endedByUs = 137

// newJob makes a job with limits. With windowLimits its programs have nothing to
// do with the windows, the clipboard and the settings of others; such a job
// cannot lie in another one.
func newJob(l Limits, windowLimits bool) (_ *job, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("make job: %w", err)
		}
	}()
	h, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, err
	}
	j := &job{handle: h}
	defer func() {
		if err != nil {
			j.close()
		}
	}()
	var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	basic := &limits.BasicLimitInformation
	basic.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | windows.JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION
	if l.Memory > 0 {
		basic.LimitFlags |= windows.JOB_OBJECT_LIMIT_JOB_MEMORY
		limits.JobMemoryLimit = uintptr(l.Memory)
	}
	if l.Procs > 0 {
		basic.LimitFlags |= windows.JOB_OBJECT_LIMIT_ACTIVE_PROCESS
		basic.ActiveProcessLimit = uint32(min(l.Procs, 1<<20))
	}
	if err := setJob(h, windows.JobObjectExtendedLimitInformation, &limits); err != nil {
		return nil, err
	}
	if windowLimits {
		ui := windows.JOBOBJECT_BASIC_UI_RESTRICTIONS{UIRestrictionsClass: windows.JOB_OBJECT_UILIMIT_DESKTOP |
			windows.JOB_OBJECT_UILIMIT_DISPLAYSETTINGS | windows.JOB_OBJECT_UILIMIT_EXITWINDOWS |
			windows.JOB_OBJECT_UILIMIT_GLOBALATOMS | windows.JOB_OBJECT_UILIMIT_HANDLES |
			windows.JOB_OBJECT_UILIMIT_READCLIPBOARD | windows.JOB_OBJECT_UILIMIT_SYSTEMPARAMETERS |
			windows.JOB_OBJECT_UILIMIT_WRITECLIPBOARD}
		if err := setJob(h, windows.JobObjectBasicUIRestrictions, &ui); err != nil {
			return nil, err
		}
	}
	if j.port, err = windows.CreateIoCompletionPort(windows.InvalidHandle, 0, 0, 1); err != nil {
		return nil, err
	}
	port := struct {
		key  uintptr
		port windows.Handle
	}{0, j.port}
	if err := setJob(h, windows.JobObjectAssociateCompletionPortInformation, &port); err != nil {
		return nil, err
	}
	return j, nil
}

func setJob[T any](h windows.Handle, class uint32, value *T) error {
	_, err := windows.SetInformationJobObject(h, class, uintptr(unsafe.Pointer(value)), uint32(unsafe.Sizeof(*value)))
	return err
}

func askJob[T any](h windows.Handle, class int32) (value T, err error) {
	err = windows.QueryInformationJobObject(h, class, uintptr(unsafe.Pointer(&value)), uint32(unsafe.Sizeof(value)), nil)
	return value, err
}

// message waits for what comes about the job; 0 is nothing for so long.
func (j *job) message(wait time.Duration) uint32 {
	var what uint32
	var key uintptr
	// A number of a process comes here, which must not be taken for a pointer.
	var about uintptr
	if windows.GetQueuedCompletionStatus(j.port, &what, &key, (**windows.Overlapped)(unsafe.Pointer(&about)), uint32(wait/time.Millisecond)) != nil {
		return 0
	}
	return what
}

// jobAccounting is JOBOBJECT_BASIC_ACCOUNTING_INFORMATION; times are in 100 ns.
type jobAccounting struct {
	userTime, kernelTime int64
	_                    [2]int64  // the same of a period
	_                    [2]uint32 // page faults; processes until now
	active               uint32    // processes now
	_                    uint32    // processes that were ended by a limit
}

func (j *job) count() (jobCount, error) {
	a, err := askJob[jobAccounting](j.handle, windows.JobObjectBasicAccountingInformation)
	if err != nil {
		return jobCount{}, fmt.Errorf("ask job: %w", err)
	}
	l, err := askJob[windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION](j.handle, windows.JobObjectExtendedLimitInformation)
	if err != nil {
		return jobCount{}, fmt.Errorf("ask job: %w", err)
	}
	return jobCount{
		cpu:    time.Duration(a.userTime+a.kernelTime) * 100,
		memory: int64(l.PeakJobMemoryUsed),
		procs:  int(a.active),
	}, nil
}

// end ends every process of the job.
func (j *job) end() error { return windows.TerminateJobObject(j.handle, endedByUs) }

func (j *job) close() {
	windows.CloseHandle(j.handle)
	if j.port != 0 {
		windows.CloseHandle(j.port)
	}
}
