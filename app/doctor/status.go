package doctor

import (
	"context"
	"maps"
	"slices"

	"atoll/app/api"
	"atoll/app/cells"
	"atoll/app/config"
	"atoll/app/models"
	"atoll/llm"
	"atoll/sandbox"
)

// Status is what app.status needs.
type Status struct {
	Version string
	Home    config.Home
	Runner  sandbox.Runner
	Models  interface {
		Rows() (models.Rows, error)
		Loaded() (*llm.Info, string)
	}
	Python   cells.Python
	Examples []Example
}

// An Example is a question that works at once, with its sample file.
type Example struct {
	Title  string `json:"title"`
	Prompt string `json:"prompt"`
	File   string `json:"file"` // absolute path
}

// View is what a page shows about the program and the machine.
type View struct {
	Version  string        `json:"version"`
	Home     string        `json:"home"`
	Model    *models.Row   `json:"model"` // the default one
	Loaded   *Loaded       `json:"loaded"`
	Sandbox  sandbox.Level `json:"sandbox"`
	Python   PythonView    `json:"python"`
	Examples []Example     `json:"examples"`
}

// Loaded is the model that was used last.
type Loaded struct {
	Ref          string `json:"ref"`
	Context      int    `json:"context"`      // tokens it can read now
	ContextTrain int    `json:"contextTrain"` // tokens it was trained for
	Device       string `json:"device"`
}

// PythonView is the interpreter that runs code.
type PythonView struct {
	OK       bool     `json:"ok"`
	Version  string   `json:"version"`
	Packages []string `json:"packages"`
	Problem  string   `json:"problem,omitempty"`
	Fix      string   `json:"fix,omitempty"`
}

// Register adds app.status to the table.
func Register(t *api.Table, s Status) {
	api.Add(t, "app.status", "tells about the program and the machine", s.view)
}

func (s Status) view(ctx context.Context, _ api.Empty) (View, error) {
	v := View{Version: s.Version, Home: string(s.Home), Sandbox: s.Runner.Level(ctx), Examples: s.Examples}
	if v.Examples == nil {
		v.Examples = []Example{}
	}
	if v.Sandbox.Guarantees == nil {
		v.Sandbox.Guarantees = []sandbox.Guarantee{}
	}
	rows, err := s.Models.Rows()
	if err != nil {
		return v, err
	}
	for _, r := range rows.Models {
		if r.Default {
			v.Model = &r
		}
	}
	if i, ref := s.Models.Loaded(); i != nil {
		v.Loaded = &Loaded{Ref: ref, Context: i.Context, ContextTrain: i.ContextTrain, Device: i.Device}
	}
	py, env, _ := s.Python(ctx) // the error is in Problem
	v.Python = PythonView{OK: py.OK(), Version: py.Version, Problem: py.Problem, Fix: py.Fix, Packages: slices.Sorted(maps.Keys(env.Packages))}
	if v.Python.OK && env.Site == "" {
		v.Python.Problem, v.Python.Fix = "The data libraries (pandas and others) are not installed yet.", "Run atoll setup once."
	}
	if v.Python.Packages == nil {
		v.Python.Packages = []string{}
	}
	return v, nil
}
