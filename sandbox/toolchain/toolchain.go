// Package toolchain finds the interpreters of this machine and prepares the
// libraries that their programs use.
package toolchain

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// An Interpreter is a Python that can be used, or the reason why there is none.
type Interpreter struct {
	Path     string   `json:"path"`     // absolute path of the program itself, no shim
	Version  string   `json:"version"`  // "3.11.7"
	Tag      string   `json:"tag"`      // "cp311-linux-x86_64": what binary packages must match
	Prefixes []string `json:"prefixes"` // trees that must be readable for it to run
	// Problem says in a sentence why no Python can be used, Fix what to do
	// about it. Both are empty when there is one.
	Problem string `json:"problem,omitempty"`
	Fix     string `json:"fix,omitempty"`
}

// OK reports whether the interpreter can be used.
func (i Interpreter) OK() bool { return i.Path != "" && i.Problem == "" }

// Oldest is the oldest Python that the kernel and the library list support.
const Oldest = "3.9"

const (
	oldestMinor = 9
	newestMinor = 14 // newest one the lock has wheels for
)

// probe is asked of each candidate. A shim (pyenv, asdf) answers with the
// program behind it; a virtual environment with both of its prefixes.
const probe = `import sys,os,json,sysconfig
p=[sys.prefix,sys.base_prefix,sys.exec_prefix,sys.base_exec_prefix,sysconfig.get_paths()["stdlib"],sysconfig.get_paths()["platstdlib"]]
d=sysconfig.get_config_var("LIBDIR")
if d and sysconfig.get_config_var("Py_ENABLE_SHARED"): p.append(d)
print(json.dumps(dict(path=sys.executable,real=os.path.realpath(sys.executable),version=list(sys.version_info[:3]),impl=sys.implementation.name,platform=sysconfig.get_platform(),free=bool(sysconfig.get_config_var("Py_GIL_DISABLED")),prefixes=p)))`

type answer struct {
	Path     string
	Real     string
	Version  [3]int
	Impl     string
	Platform string
	Free     bool
	Prefixes []string
}

// Python finds the Python to use: explicit if not empty, else the one that
// ATOLL_PYTHON names, else python3 and python on PATH. The first of the two
// that is given decides, so that a wrong setting is reported and not passed
// over. Look at Problem, or call OK, before using the result.
func Python(ctx context.Context, explicit string) Interpreter {
	if explicit != "" {
		return named(ctx, explicit, "the setting")
	}
	if p := os.Getenv("ATOLL_PYTHON"); p != "" {
		return named(ctx, p, "ATOLL_PYTHON")
	}
	var last Interpreter
	for _, name := range []string{"python3", "python"} {
		for _, p := range onPath(name) {
			i := ask(ctx, p)
			if i.OK() {
				return i
			}
			if last.Problem == "" {
				last = i
			}
		}
	}
	if last.Problem == "" {
		last.Problem = "there is no python3 on this machine"
	}
	last.Fix = install()
	return last
}

func named(ctx context.Context, p, origin string) Interpreter {
	if !strings.ContainsRune(p, filepath.Separator) {
		if q, err := exec.LookPath(p); err == nil {
			p = q
		}
	}
	if abs, err := filepath.Abs(p); err == nil {
		p = abs
	}
	i := ask(ctx, p)
	if !i.OK() {
		i.Problem = origin + " names " + p + ": " + i.Problem
		i.Fix = "Name a Python " + Oldest + " or newer there, or clear it to use the one on PATH."
	}
	return i
}

// onPath lists every program of that name on PATH: the first may be a shim
// that has no version selected.
func onPath(name string) []string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	var out []string
	for _, d := range filepath.SplitList(os.Getenv("PATH")) {
		if !filepath.IsAbs(d) {
			continue // a relative entry would run a program of the current folder
		}
		p := filepath.Join(d, name)
		if st, err := os.Stat(p); err == nil && !st.IsDir() && (runtime.GOOS == "windows" || st.Mode()&0o111 != 0) {
			out = append(out, p)
		}
	}
	return out
}

func ask(ctx context.Context, p string) Interpreter {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, p, "-I", "-c", probe)
	cmd.WaitDelay = time.Second
	cmd.Dir = os.TempDir()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		why := lastLine(stderr.String())
		if why == "" {
			why = err.Error()
		}
		return Interpreter{Problem: p + " did not answer: " + why}
	}
	i, err := parse(out)
	if err != nil {
		return Interpreter{Problem: p + " did not answer like a Python: " + err.Error()}
	}
	return i
}

func parse(out []byte) (Interpreter, error) {
	var a answer
	if err := json.Unmarshal(out, &a); err != nil {
		return Interpreter{}, fmt.Errorf("read its answer: %w", err)
	}
	if a.Path == "" {
		return Interpreter{}, errors.New("it does not know its own path")
	}
	i := Interpreter{
		Path:    a.Path,
		Version: fmt.Sprintf("%d.%d.%d", a.Version[0], a.Version[1], a.Version[2]),
		Tag:     tag(a),
	}
	for _, p := range append(a.Prefixes, filepath.Dir(a.Path), filepath.Dir(a.Real)) {
		i.Prefixes = addTree(i.Prefixes, p)
	}
	switch {
	case a.Impl != "cpython":
		i.Problem = a.Path + " is " + a.Impl + ", but the libraries are built for CPython"
	case a.Version[0] != 3 || a.Version[1] < oldestMinor:
		i.Problem = a.Path + " is Python " + i.Version + ", but " + Oldest + " or newer is needed"
	}
	return i, nil
}

// tag follows the first part of PEP 425's compatibility tags.
func tag(a answer) string {
	t := fmt.Sprintf("cp%d%d", a.Version[0], a.Version[1])
	if a.Free {
		t += "t"
	}
	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, strings.ToLower(a.Platform))
	return t + "-" + clean
}

// addTree keeps the list free of trees that lie in another one of it.
func addTree(trees []string, p string) []string {
	if p == "" || !filepath.IsAbs(p) || filepath.Dir(p) == p {
		return trees
	}
	p = filepath.Clean(p)
	if _, err := os.Stat(p); err != nil {
		return trees // a prefix that the build only meant to use
	}
	if slices.ContainsFunc(trees, func(t string) bool { return within(t, p) }) {
		return trees
	}
	trees = slices.DeleteFunc(trees, func(t string) bool { return within(p, t) })
	return append(trees, p)
}

func within(tree, p string) bool {
	return p == tree || strings.HasPrefix(p, strings.TrimSuffix(tree, string(filepath.Separator))+string(filepath.Separator))
}

func install() string {
	switch runtime.GOOS {
	case "linux":
		return "Install it, for example: sudo apt install python3 python3-pip (or dnf install python3 python3-pip). If it is installed elsewhere, name its path in the settings or in ATOLL_PYTHON."
	case "darwin":
		return "Install Python from python.org or with Homebrew (brew install python), or name its path in the settings or in ATOLL_PYTHON."
	default:
		return "Install Python " + Oldest + " or newer from python.org, or name its path in the settings or in ATOLL_PYTHON."
	}
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	l := strings.TrimSpace(lines[len(lines)-1])
	if len(l) > 300 {
		l = l[:300]
	}
	return l
}
