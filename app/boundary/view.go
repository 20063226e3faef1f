package boundary

import (
	"fmt"
	"strings"

	"atoll/sandbox"
	"atoll/sandbox/kernel"
	"atoll/storage"
)

// A Place is a file or folder that code can get at, and the reason.
type Place struct {
	Path string `json:"path"`
	Why  string `json:"why" enum:"file,work,project,python,grant"`
}

// NetworkView is what can be reached.
type NetworkView struct {
	Mode  string   `json:"mode" enum:"off,loopback,hosts,on"`
	Hosts []string `json:"hosts"`
}

// LimitsView bounds a run and all that it starts; -1 means no limit.
type LimitsView struct {
	Memory   int64   `json:"memory"`   // bytes
	FileSize int64   `json:"fileSize"` // bytes
	Disk     int64   `json:"disk"`     // bytes
	Procs    int     `json:"procs"`
	Files    int     `json:"files"`
	Output   int64   `json:"output"` // bytes
	Wall     float64 `json:"wall"`   // seconds of one run; 0 means no limit
	CPU      float64 `json:"cpu"`    // seconds; 0 means no limit
}

// A Grant is an answer that was remembered: such effects are not asked about
// again.
type Grant = storage.Grant

// View is the boundary of a chat as it is in force.
type View struct {
	Policy    storage.ChatPolicy  `json:"policy"`
	Read      []Place             `json:"read"`
	Write     []Place             `json:"write"`
	Protected []string            `json:"protected"` // read-only inside Write: what the machine would run later
	Network   NetworkView         `json:"network"`
	Limits    LimitsView          `json:"limits"`
	Env       []string            `json:"env"` // names
	Languages []string            `json:"languages"`
	GPU       bool                `json:"gpu"`
	Level     string              `json:"level" enum:"full,reduced,none"`
	Lacks     []sandbox.Guarantee `json:"lacks"` // promises that do not hold on this machine
	Grants    []Grant             `json:"grants"`
	Restarted bool                `json:"restarted"` // the interpreter was ended, because its boundary had changed
}

// NewView describes the boundary that o builds on a machine of that level.
// files is the folder of the attached files.
func NewView(p storage.ChatPolicy, o kernel.Options, files string, level sandbox.Level) View {
	pol := o.Policy()
	v := View{
		Policy: p, Read: []Place{}, Write: []Place{}, Protected: []string{}, Env: []string{}, Languages: pol.Languages,
		Network: NetworkView{Mode: string(pol.Network.Mode), Hosts: pol.Network.Hosts}, GPU: pol.GPU,
		Level: level.Name, Lacks: []sandbox.Guarantee{}, Grants: []Grant{},
	}
	if v.Network.Mode == "" {
		v.Network.Mode = "off"
	}
	if v.Network.Hosts == nil {
		v.Network.Hosts = []string{}
	}
	for _, path := range pol.Read {
		why := "python"
		if path == files {
			why = "file"
		}
		v.Read = append(v.Read, Place{path, why})
	}
	for _, path := range pol.Write {
		why := "work"
		if path == p.Project {
			why = "project"
		}
		v.Write = append(v.Write, Place{path, why})
		// What cannot be looked through is refused when the code starts, with the
		// reason.
		if places, err := sandbox.Protected(path); err == nil {
			v.Protected = append(v.Protected, places...)
		}
	}
	for _, e := range pol.Env {
		name, _, _ := strings.Cut(e, "=")
		v.Env = append(v.Env, name)
	}
	l := pol.Limits.Filled()
	v.Limits = LimitsView{
		Memory: l.Memory, FileSize: l.FileSize, Disk: l.Disk, Procs: l.Procs, Files: l.Files, Output: l.Output,
		Wall: o.Timeout.Seconds(), CPU: max(l.CPU.Seconds(), 0),
	}
	for _, g := range level.Guarantees {
		if !g.Holds {
			v.Lacks = append(v.Lacks, g)
		}
	}
	return v
}

// Sentences says v in plain words, one thing a line.
func (v View) Sentences() []string {
	out := []string{map[string]string{
		Sealed:  "Sealed: code works in a folder of its own, sees the attached files without being able to change them, and reaches no network.",
		Project: "Project folder: code may also work in your folder. What it would delete or overwrite there is shown to you first.",
		Network: "Network: code may reach hosts through a proxy that keeps a list. You are asked each time.",
	}[v.Policy.Preset]}
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for _, p := range v.Read {
		say("Reads   %s (%s)", p.Path, map[string]string{"file": "attached files, read-only", "python": "Python and its libraries", "grant": "allowed by you"}[p.Why])
	}
	for _, p := range v.Write {
		say("Writes  %s (%s)", p.Path, map[string]string{"work": "the chat's own folder", "project": "your project", "grant": "allowed by you"}[p.Why])
	}
	for _, p := range v.Protected {
		say("Keeps   %s read-only, because this computer runs or obeys it later", p)
	}
	switch v.Network.Mode {
	case "off":
		say("Network none")
	case "loopback":
		say("Network only servers that the code itself starts")
	case "hosts":
		say("Network %s, through a proxy that keeps a list", strings.Join(v.Network.Hosts, ", "))
	case "on":
		say("Network every public address, through a proxy that keeps a list; not this computer, not the local network")
	}
	say("Limits  %s of memory, %d processes, %s written, %s for one file, %d open files, %s for one run",
		size(v.Limits.Memory), v.Limits.Procs, size(v.Limits.Disk), size(v.Limits.FileSize), v.Limits.Files, seconds(v.Limits.Wall))
	say("Sees    the environment variables %s, and no other", strings.Join(v.Env, ", "))
	gpu := "no graphics card"
	if v.GPU {
		gpu = "the graphics card"
	}
	say("Uses    %s; runs %s", gpu, strings.Join(v.Languages, ", "))
	say("Level   %s on this machine", v.Level)
	for _, g := range v.Lacks {
		say("Lacks   %s: %s", g.Name, strings.TrimSpace(g.Detail+" "+g.Fix))
	}
	return out
}

func size(n int64) string {
	switch {
	case n < 0:
		return "any amount"
	case n >= 1<<30:
		return fmt.Sprintf("%.4g GiB", float64(n)/(1<<30))
	default:
		return fmt.Sprintf("%.4g MiB", float64(n)/(1<<20))
	}
}

func seconds(s float64) string {
	switch {
	case s <= 0:
		return "any time"
	case s >= 60:
		return fmt.Sprintf("%.4g minutes", s/60)
	default:
		return fmt.Sprintf("%.4g seconds", s)
	}
}
