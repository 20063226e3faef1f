package approval

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"atoll/app/event"
	"atoll/storage"
)

// The effects that a person is asked about.
const (
	Delete    = "delete"     // of a file that the chat did not make
	Overwrite = "overwrite"  // likewise
	Network   = "network"    // connections to hosts
	Outside   = "outside"    // places outside of the workspace
	Install   = "install"    // of packages
	Long      = "long"       // goes on for very long
	RunsLater = "runs-later" // a file that the machine would run or obey by itself
	Code      = "code"       // any code, in a chat that asks each time
)

var (
	// installs finds what looks like the installation of a package. It explains
	// and asks; what stops an installation is the boundary.
	installs = regexp.MustCompile(`(?m)\b(?:pip3?|conda|mamba|uv pip|npm|pnpm|yarn|apt(?:-get)?|brew)["',\s]+(?:install|add|i)\b["',\s]*([\w.\-\[\]=<>~!@/]*)|ensurepip|micropip\.install`)
)

// Before returns why a person is to be asked before code runs under mode and
// policy. None: it may run at once. held says that what it writes can wait for a
// decision.
func Before(mode string, p storage.ChatPolicy, c storage.Call, held bool) []event.Need {
	var needs []event.Need
	if m := installs.FindStringSubmatch(c.Code); m != nil {
		needs = append(needs, event.Need{Effect: Install, What: packageName(m[1]), Why: "The code seems to install a package. Without a network that fails; what is installed is in force for the chat's code only."})
	}
	switch {
	case p.Preset == "offline-project" && !held:
		needs = append(needs, event.Need{Effect: Overwrite, What: p.Project, Why: "On this machine changes cannot be held back: the code may overwrite and delete files of your project at once."})
	case p.Preset == "network" && len(p.Hosts) == 0:
		needs = append(needs, event.Need{Effect: Network, Why: "The code can reach every public address of the Internet, and send there what it reads."})
	case p.Preset == "network":
		for _, h := range p.Hosts {
			needs = append(needs, event.Need{Effect: Network, What: h, Why: fmt.Sprintf("The code can reach %s, and send there what it reads.", h)})
		}
	}
	if mode == ModeAsk {
		needs = append(needs, event.Need{Effect: Code, Why: "This chat asks before any code runs."})
	}
	return needs
}

// packageName is what follows the word install, without what belongs to the code
// around it; "" for an option.
func packageName(s string) string {
	if strings.HasPrefix(s, "-") {
		return ""
	}
	if !strings.Contains(s, "[") {
		s = strings.TrimRight(s, "]")
	}
	return s
}

// After returns which of the effects of code that ran in a layer a person is to
// decide about: what it would do to files that the chat has not made itself. The
// changes come in that order, so that those which are not listed matter no more
// than the last one that is.
func After(e event.Effects) []event.Need {
	var needs []event.Need
	last := ""
	for _, c := range e.Changes {
		why := ""
		last, why = effect(c)
		if last != "" {
			needs = append(needs, event.Need{Effect: last, What: c.Path, Why: why})
		}
	}
	if e.More > 0 && last != "" {
		for _, kind := range rest[slices.Index(rest, last):] {
			needs = append(needs, event.Need{Effect: kind, Why: fmt.Sprintf("There are %d more changes than can be listed.", e.More)})
		}
	}
	return needs
}

// rest are the effects on files, those that matter most first.
var rest = []string{RunsLater, Delete, Overwrite}

// effect is what a person is to decide about one change, and a sentence about
// it; "" for nothing.
func effect(c event.FileChange) (kind, why string) {
	switch {
	case c.Runs != "":
		return RunsLater, c.Runs
	case c.Kind == "deleted" && !c.Own:
		return Delete, path.Base(c.Path) + " would be deleted."
	case c.Kind == "changed" && !c.Own:
		return Overwrite, path.Base(c.Path) + " would be overwritten."
	}
	return "", ""
}

// Sentences returns the reasons of needs, each once.
func Sentences(needs []event.Need) []string {
	var out []string
	for _, n := range needs {
		if s := strings.TrimSpace(n.Why); !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
