// Package doctor looks at the machine: engine, sandbox layer by layer, Python,
// models, disk and memory, each with what to do when it is not right.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/shirou/gopsutil/v4/disk"
	"github.com/shirou/gopsutil/v4/mem"

	"atoll/app/cells"
	"atoll/app/config"
	"atoll/app/models"
	"atoll/sandbox"
	"atoll/sandbox/toolchain"
)

// A Check is one thing that was looked at.
type Check struct {
	Name   string `json:"name"`
	State  State  `json:"state"`
	Detail string `json:"detail"`        // what was seen
	Fix    string `json:"fix,omitempty"` // what to do
}

// State says how a check ended.
type State string

// The states of a check.
const (
	Good    State = "ok"
	Warning State = "warning" // works, with less
	Bad     State = "bad"     // something does not work
)

// Needs is what the checks look at.
type Needs struct {
	Home      config.Home
	EngineDir string
	Runner    sandbox.Runner
	Models    interface{ Rows() (models.Rows, error) }
	Python    cells.Python
	// TryEngine starts a model worker and loads the libraries; it returns what
	// computes, for example "CPU (haswell)".
	TryEngine func(context.Context) (string, error)
	// TryCell runs a line of Python in the sandbox.
	TryCell func(context.Context) error
}

// Run makes all checks, in the order in which things build on each other.
func Run(ctx context.Context, n Needs) []Check {
	var cs []Check
	add := func(c Check) { cs = append(cs, c) }
	add(folder(n.Home))
	add(space(n.Home))
	add(memory())
	add(engine(ctx, n))
	cs = append(cs, sandboxes(ctx, n.Runner)...)
	add(interpreter(ctx, n.Python))
	add(libraries(ctx, n))
	if n.TryCell != nil {
		c := Check{Name: "run code", State: Good, Detail: "a line of Python ran inside the sandbox"}
		if err := n.TryCell(ctx); err != nil {
			c = Check{Name: "run code", State: Bad, Detail: err.Error(), Fix: "Mend what is marked above, then run atoll doctor again."}
		}
		add(c)
	}
	add(model(n.Models))
	return cs
}

func folder(home config.Home) Check {
	c := Check{Name: "data folder", State: Good, Detail: string(home)}
	if err := home.Make(); err != nil {
		return Check{c.Name, Bad, err.Error(), "Set ATOLL_HOME to a folder that you can write."}
	}
	f, err := os.CreateTemp(home.Run(), "doctor-")
	if err == nil {
		err = errors.Join(f.Close(), os.Remove(f.Name()))
	}
	if err != nil {
		return Check{c.Name, Bad, err.Error(), "Set ATOLL_HOME to a folder that you can write."}
	}
	return c
}

const (
	lowDisk   = 2 << 30
	lowMemory = 2 << 30
)

func space(home config.Home) Check {
	u, err := disk.Usage(nearest(string(home)))
	if err != nil {
		return Check{"disk", Warning, err.Error(), ""}
	}
	c := Check{Name: "disk", State: Good, Detail: fmt.Sprintf("%.1f GB free", float64(u.Free)/1e9)}
	if u.Free < lowDisk {
		c.State, c.Fix = Warning, "Free some space, or set ATOLL_HOME to a folder on another disk."
	}
	return c
}

// nearest is the closest folder above p that exists.
func nearest(p string) string {
	for {
		if _, err := os.Stat(p); err == nil || filepath.Dir(p) == p {
			return p
		}
		p = filepath.Dir(p)
	}
}

func memory() Check {
	m, err := mem.VirtualMemory()
	if err != nil {
		return Check{"memory", Warning, err.Error(), ""}
	}
	c := Check{Name: "memory", State: Good, Detail: fmt.Sprintf("%.1f GB free of %.1f GB, %d processors", float64(m.Available)/1e9, float64(m.Total)/1e9, runtime.NumCPU())}
	if m.Available < lowMemory {
		c.State, c.Fix = Warning, "Close other programs, or use a small model such as qwen2.5-coder-0.5b."
	}
	return c
}

func engine(ctx context.Context, n Needs) Check {
	device, err := n.TryEngine(ctx)
	if err != nil {
		return Check{"engine", Bad, err.Error(), "The llama.cpp libraries belong into " + n.EngineDir + ". make engine fetches them; ATOLL_ENGINE_DIR names another folder."}
	}
	return Check{Name: "engine", State: Good, Detail: device + ", libraries in " + n.EngineDir}
}

func sandboxes(ctx context.Context, r sandbox.Runner) []Check {
	l := r.Level(ctx)
	first := Check{Name: "sandbox", State: Good, Detail: l.Name}
	switch l.Name {
	case sandbox.LevelReduced:
		first.State = Warning
	case sandbox.LevelNone:
		first.State = Bad
	}
	cs := []Check{first}
	for _, g := range l.Guarantees {
		c := Check{Name: "sandbox: " + g.Name, State: Good, Detail: g.Detail, Fix: g.Fix}
		if !g.Holds {
			c.State = first.State
			if c.State == Good {
				c.State = Warning
			}
		}
		cs = append(cs, c)
	}
	return cs
}

func interpreter(ctx context.Context, python cells.Python) Check {
	py, _, err := python(ctx)
	if !py.OK() {
		return Check{"python", Bad, py.Problem, py.Fix}
	}
	if err != nil {
		return Check{"python", Bad, err.Error(), ""}
	}
	return Check{Name: "python", State: Good, Detail: py.Version + ", " + py.Path}
}

func libraries(ctx context.Context, n Needs) Check {
	_, env, err := n.Python(ctx)
	if err != nil || env.Site == "" {
		return Check{"python libraries", Warning, toolchain.ErrNotInstalled.Error() + "; code has the standard library only", "Run atoll setup once with a network, or copy the folder " + n.Home.Python() + " from a machine like this one."}
	}
	var have []string
	for _, p := range slices.Sorted(maps.Keys(env.Packages)) {
		have = append(have, p+" "+env.Packages[p])
	}
	return Check{Name: "python libraries", State: Good, Detail: strings.Join(have, ", ")}
}

func model(m interface{ Rows() (models.Rows, error) }) Check {
	rows, err := m.Rows()
	if err != nil {
		return Check{"model", Bad, err.Error(), ""}
	}
	var have, bad []string
	for _, r := range rows.Models {
		switch {
		case r.Problem != "":
			bad = append(bad, r.Ref+": "+r.Problem)
		case r.Installed:
			have = append(have, r.Ref)
		}
	}
	switch {
	case len(have) == 0:
		return Check{"model", Bad, strings.Join(append([]string{"no model is installed"}, bad...), "; "), "Run atoll models pull, or put a .gguf file into the models folder."}
	case len(bad) > 0:
		return Check{"model", Warning, strings.Join(append(have, bad...), "; "), "Delete or fetch again what is marked."}
	}
	return Check{Name: "model", State: Good, Detail: strings.Join(have, ", ")}
}
