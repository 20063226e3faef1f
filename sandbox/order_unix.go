//go:build linux || darwin

package sandbox

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Descriptors of the helper. The program's extra files follow from filesFD.
const (
	controlFD = 3 // read: one order, then commands; its end means that the host is gone
	reportFD  = 4 // write: reports, one JSON line each
	filesFD   = 5
)

// Commands on the control pipe.
const (
	cmdInterrupt = "interrupt\n"
	cmdKill      = "kill\n"
	cmdSweep     = "sweep\n"  // answered by eventSwept
	cmdRecord    = "record\n" // answered by eventRecord
	// cmdLayer starts "layer begin NAME" and "layer end", answered by eventLayer.
	cmdLayer = "layer "
)

// Bounds of one line between host and helper.
const (
	maxOrder   = 16 << 20
	maxCommand = 1 << 10
	maxReport  = 1 << 20
)

// An order tells the helper what to build and run. Its limits are filled:
// positive or -1.
type order struct {
	Stage string   `json:"stage"`
	Path  string   `json:"path"`
	Args  []string `json:"args"`
	Dir   string   `json:"dir"`
	Env   []string `json:"env"`
	Files int      `json:"files"` // extra files, from filesFD on
	Read  []string `json:"read"`  // behind all symbolic links, like Write
	Write []string `json:"write"`
	Held  []string `json:"held,omitempty"` // of Write: read-only but through a layer
	// Links are the other names of Read and Write paths: a policy may name them
	// through symbolic links that do not exist inside.
	Links  map[string]string `json:"links"`
	Limits Limits            `json:"limits"`
	UID    int               `json:"uid"`     // the user's number inside
	TmpDir string            `json:"tmp_dir"` // reduced mode: the only place for temporary files
	Layers string            `json:"layers"`  // Policy.Layers, behind all symbolic links
	// Counted says that the kernel counts memory, hidden memory (memfd) as well.
	Counted bool `json:"counted"`
	// TryLayer puts a layer on and takes it off before the program starts.
	TryLayer string `json:"try_layer"`
	// Network is the mode; with a proxy, a socket to the host follows the files.
	Network NetworkMode `json:"network"`
}

// Events of a report.
const (
	eventStarted = "started"
	eventExit    = "exit"  // Exit is set
	eventSwept   = "swept" // Error is set when something is left
	eventLayer   = "layer" // Error, and Step, are set when it was not done
	eventRecord  = "record"
	eventError   = "error" // nothing was started; Error and Step are set
)

// A report is what the helper tells the host.
type report struct {
	Event string `json:"event"`
	Exit  Exit   `json:"exit"`
	Step  string `json:"step,omitempty"`
	Error string `json:"error,omitempty"`
	Facts facts  `json:"facts"`
	// Record is set with eventRecord and eventExit.
	Record *Record `json:"record,omitempty"`
}

// facts are what the helper saw while it built the boundary.
type facts struct {
	Landlock int  `json:"landlock"` // ABI
	Counted  bool `json:"counted"`  // refused calls are counted
	PidMax   bool `json:"pid_max"`  // the kernel itself caps process numbers
	// Program is, on macOS, the number of the program and Began when it started.
	Program int   `json:"program,omitempty"`
	Began   int64 `json:"began,omitempty"`
	// Layer says why a layer could not be put on when it was tried.
	Layer string `json:"layer,omitempty"`
}

// stepExec is the step whose failure is the caller's, not the machine's.
const stepExec = "exec"

// stepSeatbelt is the step at which sandbox-exec said what is wrong.
const stepSeatbelt = "seatbelt"

// stepError says which part of the boundary could not be built.
type stepError struct {
	step string
	err  error
}

func (e *stepError) Error() string { return e.step + ": " + e.err.Error() }
func (e *stepError) Unwrap() error { return e.err }

func failed(step string, err error) error {
	if err == nil {
		return nil
	}
	return &stepError{step, err}
}

// resolve returns the paths behind all symbolic links, and notes the others in Links.
func (o *order) resolve(paths []string) ([]string, error) {
	var out []string
	for _, path := range paths {
		real, err := realPath(path)
		if err != nil {
			return nil, err
		}
		if out = append(out, real); real != path {
			o.Links[path] = real
		}
	}
	return out, nil
}

// linksTo returns path, and every link that follows on the way to real.
func linksTo(path, real string) []string {
	var out []string
	const most = 40 // links in a row, as for the kernel
	for path != real && len(out) < most {
		out = append(out, path)
		target, err := os.Readlink(path)
		if err != nil { // only a folder on the way is a link
			break
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = filepath.Clean(target)
	}
	return out
}

// parseOrder reads the line with the order.
func parseOrder(r *bufio.Reader) (order, error) {
	var o order
	line, err := readLine(r, maxOrder)
	if err != nil {
		return o, fmt.Errorf("read order: %w (this command is started by atoll itself, never by hand)", err)
	}
	if err := json.Unmarshal(line, &o); err != nil {
		return o, fmt.Errorf("read order: %w", err)
	}
	if o.Files < 0 {
		return o, fmt.Errorf("read order: %d files", o.Files)
	}
	return o, nil
}

func readOrder() (order, *bufio.Reader, error) {
	var o order
	control := os.NewFile(controlFD, "control")
	if control == nil {
		return o, nil, errors.New("this command is started by atoll itself, never by hand")
	}
	r := bufio.NewReader(control)
	o, err := parseOrder(r)
	if err != nil {
		return o, nil, err
	}
	// Whatever else the host had open without close-on-exec ends here.
	unix.CloseOnExec(controlFD)
	unix.CloseOnExec(reportFD)
	if err := closeInherited(); err != nil {
		return o, nil, fmt.Errorf("close inherited files: %w", err)
	}
	return o, r, nil
}

func send(w io.Writer, r report) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

func sendError(w io.Writer, err error) {
	r := report{Event: eventError, Step: "helper", Error: err.Error()}
	var s *stepError
	if errors.As(err, &s) {
		r.Step, r.Error = s.step, s.err.Error()
	}
	// The host sees the end of the pipe when this does not arrive.
	_ = send(w, r)
}
