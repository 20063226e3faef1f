package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"atoll/sandbox"
	"atoll/sandbox/toolchain"
)

// An Interpreter is the Python to run, as package toolchain finds it.
type Interpreter struct {
	Path   string   // absolute path of the program
	Read   []string // trees that must be readable for it to run
	Site   string   // folder of prepared libraries for sys.path; may be empty
	Config string   // prepared folder of matplotlib's font list; may be empty
}

// Options says how a session runs.
type Options struct {
	Runner      sandbox.Runner // starts the interpreter inside the boundary
	Interpreter Interpreter
	Dir         string   // workspace: working folder, writable
	Read        []string // further readable trees, for example the originals
	Write       []string // further writable trees, for example a project folder
	Held        []string // of Write: written by [Python.Try] only
	Network     sandbox.Network
	GPU         bool
	Layers      string         // where [Python.Try] holds back what code writes, see [sandbox.Policy]; empty: it cannot
	LogDir      string         // gets the whole text of runs that print too much; not inside Dir; empty: no log
	Limits      sandbox.Limits // of the interpreter and all it starts
	Timeout     time.Duration  // of one run; 0: none
	// Overtime is asked, while the code runs on, when the Timeout of a run is up;
	// ran is how long it has run. True gives the run as long again. It has that
	// long to answer, and its context ends with the run. nil: the run is stopped.
	Overtime func(ctx context.Context, ran time.Duration) bool
	MaxText  int64 // bytes of text that a run passes on; 0: 256 KiB
	MaxLog   int64 // bytes of a log file; 0: 32 MiB
	// Plans says how to load the files of the workspace, as JSON of preview.Plan.
	// It is asked before each run, what it returned must not change; nil: load()
	// guesses for every file.
	Plans func() []json.RawMessage
}

const (
	defaultText = 256 << 10
	defaultLog  = 32 << 20
	tailText    = 32 << 10 // of the end, passed on beyond MaxText
	maxLate     = 64 << 10 // of output between runs
	maxLine     = 16 << 20 // of an event: a figure in base64 fits
	maxPNG      = 8 << 20
	maxFigures  = 20
	maxTable    = 2 << 20
	maxShown    = 100 // displayed objects of a run
	maxRepr     = 20_000
	maxRows     = 200
	maxCols     = 50
)

var (
	// ErrClosed means that the session was closed.
	ErrClosed = errors.New("the session is closed")
	// ErrStart means that the interpreter could not be started.
	ErrStart = errors.New("the interpreter did not start")
)

func (o Options) check() error {
	if o.Runner == nil {
		return errors.New("open kernel: no runner")
	}
	for _, p := range []string{o.Interpreter.Path, o.Dir} {
		if !filepath.IsAbs(p) {
			return fmt.Errorf("open kernel: path %q is not absolute", p)
		}
	}
	if o.LogDir != "" {
		// The code could plant a link there for the host to write through.
		rel, err := filepath.Rel(o.Dir, o.LogDir)
		if err != nil || rel == "." || !strings.HasPrefix(rel, "..") {
			return fmt.Errorf("open kernel: log folder %q lies in the workspace", o.LogDir)
		}
	}
	return nil
}

// memory is the limit of memory in bytes, 0 for none.
func (o Options) memory() int64 {
	m := o.Limits.Memory
	if m == 0 {
		m = sandbox.DefaultLimits().Memory
	}
	return max(m, 0)
}

// Policy is what the interpreter may do. Programs that run beside a session,
// as atoll exec does, take the same.
func (o Options) Policy() sandbox.Policy {
	py := o.Interpreter
	read := append([]string{}, py.Read...)
	path := "/usr/local/bin:/usr/bin:/bin"
	if root := os.Getenv("SystemRoot"); runtime.GOOS == "windows" && root != "" {
		path = filepath.Join(root, "System32") + ";" + root
	}
	if d := filepath.Dir(py.Path); !strings.Contains(path, d) {
		path = d + string(filepath.ListSeparator) + path
	}
	env := []string{
		"PATH=" + path, "HOME=/tmp", "TMPDIR=/tmp", "LANG=C.UTF-8", "LC_ALL=C.UTF-8",
		"PYTHONUTF8=1", "PYTHONDONTWRITEBYTECODE=1", "MPLCONFIGDIR=/tmp/.matplotlib",
		// pip would look for a network for seconds before it says that there is none.
		"PIP_NO_INDEX=1", "PIP_DISABLE_PIP_VERSION_CHECK=1",
	}
	if py.Site != "" {
		read = append(read, py.Site)
		env = append(env, "PYTHONPATH="+py.Site) // for Pythons that a cell starts
	}
	if py.Config != "" {
		read = append(read, py.Config)
		// For Pythons that a cell starts, and for atoll exec: which fonts there
		// are besides the usual one. matplotlib passes over a file that is not there.
		env = append(env, "MATPLOTLIBRC="+toolchain.SettingsFile(py.Config))
	}
	return sandbox.Policy{
		Read:      append(read, o.Read...),
		Write:     append([]string{o.Dir}, o.Write...),
		Env:       env,
		Network:   o.Network,
		GPU:       o.GPU,
		Languages: []string{"python"},
		Limits:    o.Limits,
		Layers:    o.Layers,
		Held:      o.Held,
	}
}
