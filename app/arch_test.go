package app_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/doc"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// rules say what a package may import of this module: itself and what is
// listed. The longest key that matches wins. A new line here is a design
// decision and belongs into the same commit as its reason in
// docs/architecture.md.
var rules = map[string][]string{
	"llm":               {},
	"llm/harness":       {"llm"},
	"llm/engine":        {"llm", "llm/harness"},
	"llm/local":         {"llm", "llm/harness", "llm/engine"},
	"llm/fake":          {"llm", "llm/harness"},
	"llm/catalog":       {"llm"},
	"sandbox":           {"sandbox/proxy"},
	"sandbox/proxy":     {},
	"sandbox/escape":    {"sandbox"},
	"sandbox/kernel":    {"sandbox"},
	"sandbox/preview":   {"sandbox"},
	"sandbox/toolchain": {},
	"sandbox/workspace": {},
	"storage":           {},
	"frontend":          {},
	"examples":          {},
	"build":             {"llm", "sandbox", "storage"}, // benchmarks
	"app/config":        {},
	"app/api":           {},
	"app/event":         {"storage"},
	"app/fault":         {"app/config", "llm", "sandbox", "storage"},
	"app/approval":      {"app/event", "storage"},
	"app/boundary":      {"sandbox", "storage"},
	"app/agent":         {"app/approval", "app/event", "app/fault", "llm", "storage"},
	"app/cells":         {"app/boundary", "app/config", "app/event", "app/fault", "sandbox", "storage"},
	"app/files":         {"app/api", "sandbox", "storage"},
	"app/models":        {"app/api", "app/event", "app/fault", "llm", "storage"},
	"app/chats":         {"app/agent", "app/api", "app/approval", "app/boundary", "app/event", "app/fault", "llm", "storage"},
	"app/doctor":        {"app/api", "app/cells", "app/config", "app/event", "app/models", "llm", "sandbox"},
	"app/server":        {"app/api", "app/event", "app/fault"},
	"app/client":        {"app/config", "app/event", "app/fault", "app/server"},
	"app/web":           {},
	"app/desktop":       {"app/client", "app/config", "app/event", "app/fault", "app/web", "frontend"},
	"app/cli":           {"app", "frontend", "llm/catalog", "sandbox", "storage"},
	"app/entry":         {"app", "llm/engine/worker", "sandbox"},
	"app":               {"app", "llm", "sandbox", "storage", "examples"},
}

// runsPrograms lists who may start processes: everything else goes through them.
var runsPrograms = []string{"sandbox", "llm/engine", "llm/catalog", "app/client"}

type pkg struct {
	ImportPath, Dir string
	Imports         []string
	GoFiles         []string
}

func packages(t *testing.T) map[string]pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,Imports,GoFiles", "./...")
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	ps := map[string]pkg{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return ps
		} else if err != nil {
			t.Fatal(err)
		}
		if self, ok := strings.CutPrefix(p.ImportPath, "atoll/"); ok {
			ps[self] = p
		}
	}
}

func under(path string, trees []string) bool {
	for _, t := range trees {
		if path == t || strings.HasPrefix(path, t+"/") {
			return true
		}
	}
	return false
}

func TestImports(t *testing.T) {
	for self, p := range packages(t) {
		rule := ""
		for r := range rules {
			if under(self, []string{r}) && len(r) > len(rule) {
				rule = r
			}
		}
		if rule == "" {
			t.Errorf("%s has no rule: say in rules what it may import", self)
			continue
		}
		for _, imp := range p.Imports {
			if imp == "os/exec" && !under(self, runsPrograms) {
				t.Errorf("%s starts processes; only %v may", self, runsPrograms)
			}
			if strings.HasPrefix(imp, "github.com/hybridgroup/yzma") && self != "llm/engine/worker" {
				t.Errorf("%s imports the native binding; only llm/engine/worker may: an abort in it takes the process down", self)
			}
			dep, ours := strings.CutPrefix(imp, "atoll/")
			if ours && !under(dep, append([]string{rule}, rules[rule]...)) {
				t.Errorf("%s must not import %s", self, dep)
			}
		}
	}
}

// TestPackageComments: a package is a noun that one sentence explains.
func TestPackageComments(t *testing.T) {
	for self, p := range packages(t) {
		said := ""
		for _, f := range p.GoFiles {
			parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, f), nil, parser.PackageClauseOnly|parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			said += parsed.Doc.Text()
		}
		if new(doc.Package).Synopsis(said) == "" {
			t.Errorf("package %s says not what it is", self)
		}
	}
}

func TestNoReplace(t *testing.T) {
	b, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(b, []byte("\nreplace")) {
		t.Error("go.mod replaces a module: the build would differ from what go install gives")
	}
}
