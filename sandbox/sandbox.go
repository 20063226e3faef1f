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

// A Policy lists what is allowed; one value decides a run. The zero Policy
// allows nothing but reading the system's programs and libraries, and CPU.
type Policy struct {
	Read []string `json:"read"` // absolute paths of readable trees or files
	// Write are absolute paths of writable trees; implies readable. What a
	// program of the host would run later stays read-only in them: see [Protected].
	Write []string `json:"write"`
	// Held are trees of Write that can be written through a layer only (see
	// [Layerer]); without one they are readable. It needs Layers, and a machine
	// that has layers.
	Held []string `json:"held,omitempty"`
	// Env is the whole environment, nothing is inherited. A value that is /tmp
	// or lies in it, and is no path of Read or Write, means the program's own
	// place for temporary files, wherever the level has it. On Windows TEMP, TMP and
	// SystemRoot are set besides.
	Env     []string `json:"env"`
	Network Network  `json:"network"`
	GPU     bool     `json:"gpu"` // the graphics cards' devices
	// Languages names what may be run: "python", "shell", "javascript", "sql".
	// The sandbox cannot tell one from another; whoever starts interpreters
	// obeys it. Empty means all.
	Languages []string `json:"languages,omitempty"`
	Limits    Limits   `json:"limits"`
	// Layers is an absolute path of a folder of the host's own, not inside Write,
	// best on the same disk: there the [Layerer] keeps what is not committed.
	// Empty: the process is no Layerer.
	Layers string `json:"-"`
}

// A NetworkMode says how far a program's connections reach.
type NetworkMode string

// The modes of [Network].
const (
	NetworkOff      NetworkMode = ""         // nowhere
	NetworkLoopback NetworkMode = "loopback" // to servers that the program itself has started
	NetworkHosts    NetworkMode = "hosts"    // and, by way of a proxy that logs, to the hosts of the list
	NetworkOn       NetworkMode = "on"       // and, by way of the same proxy, to every public address
)

// Network is what a program may connect to. This machine's own servers, the
// local network and the cloud's metadata addresses are not to be had in any mode.
type Network struct {
	Mode NetworkMode `json:"mode,omitempty" enum:",loopback,hosts,on"`
	// Hosts are names, with "hosts": "example.com" or "*.example.com" for what
	// lies below it, with ":port" for another than 80 and 443.
	Hosts []string `json:"hosts,omitempty"`
}

// Limits bounds what a process tree may use. Zero means the default of
// [DefaultLimits]; a negative value means no limit.
type Limits struct {
	Memory   int64 `json:"memory"`   // bytes resident in all processes together
	FileSize int64 `json:"fileSize"` // bytes of one file
	Disk     int64 `json:"disk"`     // bytes by which the writable trees may grow
	Procs    int   `json:"procs"`    // processes and threads
	Files    int   `json:"files"`    // open files of one process
	Output   int64 `json:"output"`   // bytes on standard output and error together; by default without limit, like what follows
	// Wall is the time from the start to the end, CPU the processor time of all
	// processes together, in nanoseconds.
	Wall time.Duration `json:"wall"`
	CPU  time.Duration `json:"cpu"`
}

// A Command is a program to start.
type Command struct {
	Path string   // absolute path of the program
	Args []string // without the program's name
	Dir  string   // working folder; must be readable under the policy
	// Files become descriptors 3, 4, ... of the program. Start closes them in
	// this process. On Windows they are inherited handles, whose numbers are in the
	// variable ATOLL_FILES in this order, decimal, with commas between them.
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
	// Interrupt sends the tree what Ctrl-C would. An error means that it was not
	// sent; on Windows it never is.
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

// A Recorder is a [Process] that tells what it was refused and what it has used.
// Ask for it with an assertion.
type Recorder interface {
	// Record returns everything since the start; it may be called at any time,
	// also after the end. The difference of two is a [Record] of what lies between.
	Record() (Record, error)
}

// A Record is what the boundary saw of a program. Nothing in it was said by the
// program itself.
type Record struct {
	Layers  []string `json:"layers"` // in force, outermost first: "namespaces", "landlock 7", "seccomp", "cgroup"
	Denials []Denial `json:"denials,omitempty"`
	Usage   Usage    `json:"usage"`
}

// A Denial is something that was refused, however often.
type Denial struct {
	Kind  string `json:"kind" enum:"file,network,call,limit"`
	What  string `json:"what"`  // a path, "host:port", the name of a system call, or of a limit
	Layer string `json:"layer"` // what refused it: "seccomp", "proxy", "landlock", "mounts", ...
	Count int64  `json:"count"`
}

// Usage is what a tree has used.
type Usage struct {
	Wall    time.Duration `json:"wall"`    // nanoseconds since the start
	CPU     time.Duration `json:"cpu"`     // nanoseconds of all processes, as far as they were counted
	Memory  int64         `json:"memory"`  // bytes, the highest seen
	Procs   int           `json:"procs"`   // processes and threads, the highest seen
	Written int64         `json:"written"` // bytes by which the writable trees have grown
	// Sent and Received are bytes that passed the proxy.
	Sent     int64 `json:"sent,omitempty"`
	Received int64 `json:"received,omitempty"`
	// Hosts were connected to, by way of the proxy.
	Hosts []string `json:"hosts,omitempty"`
}

// A Layerer is a [Process] whose writes can be held back: between Begin and
// Commit or Discard everything that the tree writes goes into a layer over the
// policy's writable trees, and the trees themselves do not change. Ask for it
// with an assertion; only policies with Layers, on a machine that can, have it.
type Layerer interface {
	// Begin puts an empty layer over the writable trees. A program that stands
	// in one of them sees it after it has entered its folder anew.
	Begin() error
	// Changes lists what the layer would do to the trees.
	Changes() ([]Change, error)
	// Commit carries the layer out and takes it away. When it fails half-way it
	// says which paths were done; nothing is lost: a file of the trees is
	// replaced only by a complete one.
	Commit() error
	// Discard takes the layer away; the trees are as they were.
	Discard() error
}

// A Change is what a layer does to one file.
type Change struct {
	Path string `json:"path"` // absolute
	Kind string `json:"kind" enum:"created,changed,deleted,folder"`
	Size int64  `json:"size"` // bytes afterwards
	Was  int64  `json:"was"`  // bytes before
	// New is where the new content lies now, for a look at it: a path of the
	// host; empty for deletions and folders. It is hostile: open it as a regular
	// file without following links.
	New string `json:"-"`
	// Runs says, as a sentence, which program of the host would run this file
	// later; empty for nearly all.
	Runs string `json:"runs,omitempty"`
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
	OutOfTime Cause = "time"      // Limits.Wall or Limits.CPU
	TooLoud   Cause = "output"    // Limits.Output
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
	return Limits{Memory: 4 << 30, FileSize: 2 << 30, Disk: 8 << 30, Procs: 256, Files: 1024, Output: -1, Wall: -1, CPU: -1}
}

// Grace is the time between a polite request to stop and the kill.
const Grace = 1500 * time.Millisecond
