// Package sandbox starts programs that may do only what a [Policy] allows,
// with the operating system's own means. It imports no sibling package.
//
// A policy is enforced or the start is refused with [ErrUnsupported]; it is
// never weakened in silence.
package sandbox

import (
	"context"
	"errors"
	"io"
	"os"
	"time"
)

// A Policy lists what is allowed. The zero Policy allows nothing but reading
// the system's programs and libraries, and CPU.
type Policy struct {
	Read  []string `json:"read"`  // absolute paths of readable trees or files
	Write []string `json:"write"` // absolute paths of writable trees; implies readable
	// Env is the whole environment, nothing is inherited. A value that is /tmp
	// or lies in it, and is no path of Read or Write, means the program's own
	// place for temporary files, wherever the level has it.
	Env    []string `json:"env"`
	Limits Limits   `json:"limits"`
}

// Limits bounds what a process tree may use. Zero means the default of
// [DefaultLimits]; a negative value means no limit.
type Limits struct {
	Memory   int64 `json:"memory"`   // bytes resident in all processes together
	FileSize int64 `json:"fileSize"` // bytes of one file
	Disk     int64 `json:"disk"`     // bytes by which the writable trees may grow
	Procs    int   `json:"procs"`    // processes and threads
	Files    int   `json:"files"`    // open files of one process
}

// A Command is a program to start.
type Command struct {
	Path string   // absolute path of the program
	Args []string // without the program's name
	Dir  string   // working folder; must be readable under the policy
	// Files become descriptors 3, 4, ... of the program. Start closes them in
	// this process. On Windows they are inherited handles.
	Files []*os.File
}

// A Runner starts commands under a policy, or refuses.
type Runner interface {
	// Start returns when the program was started inside the boundary, or with
	// an error: ErrUnsupported when this machine cannot enforce p. When ctx
	// ends the whole tree is killed.
	Start(ctx context.Context, p Policy, c Command) (Process, error)
	// Level probes, by really running something, what this machine enforces.
	Level(ctx context.Context) Level
}

// A Process is a running tree; killing it kills every descendant.
type Process interface {
	Stdin() io.WriteCloser
	Stdout() io.Reader
	Stderr() io.Reader
	// Interrupt sends the tree what Ctrl-C would.
	Interrupt() error
	// Kill ends the tree at once; none of it survives two seconds.
	Kill() error
	// Wait returns how the program ended, after the whole tree is gone. It may
	// be called many times.
	Wait() Exit
}

// A Sweeper is a [Process] that can end all of its tree but the program
// itself, for a program that lives on when a part of its work was stopped. Ask
// for it with an assertion: not every [Runner]'s processes are sweepers.
type Sweeper interface {
	// Sweep kills every descendant of the program, wherever it has hidden: in
	// the background, in a session of its own, ignoring signals. The program
	// does not run meanwhile. Sweep returns nil when none is left, or the
	// program itself has ended; a zombie that the program has not looked after
	// counts as gone. An error means that some may be left after two seconds,
	// and only Kill is certain.
	Sweep() error
}

// Exit is how a process tree ended.
type Exit struct {
	Code   int    `json:"code"`             // exit status; 128+signal when a signal ended it
	Signal int    `json:"signal,omitempty"` // number of the signal, 0 if none
	Cause  Cause  `json:"cause"`
	Detail string `json:"detail,omitempty"` // a sentence: limit and peak, or why the start failed
}

// Cause says who ended it.
type Cause string

// The causes of an end.
const (
	Exited    Cause = "exited"    // the program itself, or a signal from inside
	Killed    Cause = "killed"    // Kill or the context
	OutOfMem  Cause = "memory"    // Limits.Memory
	OutOfDisk Cause = "disk"      // Limits.Disk, or the disk is nearly full
	TooMany   Cause = "processes" // Limits.Procs
	Failed    Cause = "failed"    // the boundary could not be built
)

// A Level is what a machine enforces.
type Level struct {
	Name       string      `json:"name" enum:"full,reduced,none"`
	Guarantees []Guarantee `json:"guarantees"`
}

// A Guarantee is one promise, whether it holds here, and how to get it if not.
type Guarantee struct {
	Name   string `json:"name"` // "namespaces", "landlock", "seccomp", "memory limit", ...
	Holds  bool   `json:"holds"`
	Detail string `json:"detail,omitempty"` // what was seen
	Fix    string `json:"fix,omitempty"`    // what to do when it does not hold
}

var (
	// ErrUnsupported means the policy cannot be enforced on this machine.
	ErrUnsupported = errors.New("no sandbox can be had on this machine")
	// ErrPolicy means the policy itself is not acceptable, for example a
	// writable tree that holds the home folder.
	ErrPolicy = errors.New("policy is not acceptable")
)

// DefaultLimits is used where a [Limits] field is zero.
func DefaultLimits() Limits {
	return Limits{Memory: 4 << 30, FileSize: 2 << 30, Disk: 8 << 30, Procs: 256, Files: 1024}
}

// Grace is the time between a polite request to stop and the kill.
const Grace = 1500 * time.Millisecond
