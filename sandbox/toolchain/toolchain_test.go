//go:build unix

package toolchain

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fake writes a program that answers the probe as a Python of that version in
// prefix would; body handles other calls.
func fake(t *testing.T, path, prefix string, version [3]int, impl, body string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(map[string]any{"path": path, "real": path, "version": version, "impl": impl, "platform": "linux-x86_64",
		"prefixes": []string{prefix, filepath.Join(prefix, "lib"), "/does/not/exist"}})
	if err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\nif [ \"$1\" = -I ]; then cat <<'EOF'\n" + string(b) + "\nEOF\nexit 0; fi\n" + body + "\n"
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestPythonOrder(t *testing.T) {
	d := t.TempDir()
	at := func(name string, v [3]int) string {
		dir := filepath.Join(d, name)
		return fake(t, filepath.Join(dir, "bin", "python3"), dir, v, "cpython", "")
	}
	old, new1, new2, own := at("old", [3]int{3, 8, 1}), at("new1", [3]int{3, 11, 2}), at("new2", [3]int{3, 14, 0}), at("own", [3]int{3, 12, 0})
	broken := filepath.Join(d, "broken", "python3") // a shim with no version selected
	os.MkdirAll(filepath.Dir(broken), 0o755)
	os.WriteFile(broken, []byte("#!/bin/sh\necho 'pyenv: python3: command not found' >&2; exit 127\n"), 0o755)
	pypy := fake(t, filepath.Join(d, "pypy", "bin", "python3"), d, [3]int{3, 10, 0}, "pypy", "")
	path := func(p ...string) string {
		for i := range p {
			p[i] = filepath.Dir(p[i])
		}
		return strings.Join(append(p, "/usr/bin", "/bin"), ":")
	}
	for _, c := range []struct {
		name, explicit, env, path string
		want                      string // path of the program
		problem                   string
	}{
		{name: "first on PATH", path: path(new1, new2), want: new1},
		{name: "too old is passed over", path: path(old, new2), want: new2},
		{name: "broken shim is passed over", path: path(broken, new1), want: new1},
		{name: "other implementation is passed over", path: path(pypy, new1), want: new1},
		{name: "environment", env: own, path: path(new1), want: own},
		{name: "explicit", explicit: new2, env: own, path: path(new1), want: new2},
		{name: "wrong setting is told", explicit: old, path: path(new1), problem: "Python 3.8.1"},
		{name: "wrong environment is told", env: "/does/not/exist", path: path(new1), problem: "ATOLL_PYTHON names /does/not/exist"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("PATH", c.path)
			t.Setenv("ATOLL_PYTHON", c.env)
			got := Python(t.Context(), c.explicit)
			if c.problem != "" {
				if got.OK() || !strings.Contains(got.Problem, c.problem) || got.Fix == "" {
					t.Errorf("problem %q, fix %q", got.Problem, got.Fix)
				}
				return
			}
			if !got.OK() || got.Path != c.want {
				t.Errorf("path %q, problem %q", got.Path, got.Problem)
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		t.Setenv("ATOLL_PYTHON", "")
		if got := Python(t.Context(), ""); got.OK() || !strings.Contains(got.Problem, "no python3") || !strings.Contains(got.Fix, "ATOLL_PYTHON") {
			t.Errorf("got %+v", got)
		}
	})
}

func TestInterpreter(t *testing.T) {
	d := t.TempDir()
	got := ask(t.Context(), fake(t, filepath.Join(d, "bin", "python3"), d, [3]int{3, 11, 2}, "cpython", ""))
	want := Interpreter{Path: filepath.Join(d, "bin", "python3"), Version: "3.11.2", Tag: "cp311-linux-x86_64", Prefixes: []string{d}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestRealPython asks the Python of this machine, if it has one.
func TestRealPython(t *testing.T) {
	got := Python(t.Context(), "")
	if !got.OK() {
		t.Skip("SKIPPED: no Python here: " + got.Problem)
	}
	if !filepath.IsAbs(got.Path) || strings.Contains(got.Path, "shims") || len(got.Prefixes) == 0 {
		t.Errorf("got %+v", got)
	}
}

// pip stands in for the steps of Install: it unpacks one package.
const pip = `case "$*" in
*"pip install"*)
	[ "$#" -ge 1 ] || exit 2
	while [ "$1" != --target ]; do shift; done
	mkdir -p "$2/demo-1.2.dist-info"; echo x = 1 > "$2/demo.py"
	echo "Collecting demo"; echo "Installing collected packages: demo";;
*compileall*) ;;
*font_manager*) echo '{}' > "$MPLCONFIGDIR/fontlist-v390.json";;
esac`

func TestInstall(t *testing.T) {
	d := t.TempDir()
	py := ask(t.Context(), fake(t, filepath.Join(d, "py", "bin", "python3"), filepath.Join(d, "py"), [3]int{3, 11, 2}, "cpython", pip+"\necho \"$*\" >> "+filepath.Join(d, "calls")))
	dir := filepath.Join(d, "env")
	if _, err := Find(dir, py); !errors.Is(err, ErrNotInstalled) {
		t.Errorf("Find before: %v", err)
	}
	steps := map[string]int{}
	if err := Install(t.Context(), py, dir, func(s string, done, total int) {
		steps[s]++
		if done > total {
			t.Errorf("%s: %d of %d", s, done, total)
		}
	}); err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"download", "unpack", "compile", "prepare"} {
		if steps[s] < 2 {
			t.Errorf("step %s was told %d times", s, steps[s])
		}
	}
	env, err := Find(dir, py)
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(dir, "cp311-linux-x86_64")
	want := Env{Site: filepath.Join(home, "site"), Config: filepath.Join(home, "matplotlib"), Packages: map[string]string{"demo": "1.2"}}
	if d := cmp.Diff(want, env); d != "" {
		t.Error(d)
	}
	if _, err := os.Stat(filepath.Join(env.Config, "fontlist-v390.json")); err != nil {
		t.Error(err)
	}
	calls := readFile(t, filepath.Join(d, "calls"))
	for _, w := range []string{"--require-hashes", "--only-binary :all:", "--no-deps"} {
		if !strings.Contains(calls, w) {
			t.Errorf("pip was called without %s", w)
		}
	}
	// Again: nothing is done.
	if err := Install(t.Context(), py, dir, nil); err != nil {
		t.Fatal(err)
	}
	if readFile(t, filepath.Join(d, "calls")) != calls {
		t.Error("a second Install worked again")
	}
	// Another program's list: not usable, and replaced.
	marker := filepath.Join(home, markerName)
	os.WriteFile(marker, []byte(strings.Replace(readFile(t, marker), LockHash(), "00", 1)), 0o644)
	if _, err := Find(dir, py); !errors.Is(err, ErrNotInstalled) {
		t.Errorf("Find with another lock: %v", err)
	}
	if err := Install(t.Context(), py, dir, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := Find(dir, py); err != nil {
		t.Error(err)
	}
	onlyHome(t, dir)
}

func readFile(t *testing.T, p string) string {
	t.Helper()
	b, err := os.ReadFile(p)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// onlyHome checks that no half-made folder is left.
func onlyHome(t *testing.T, dir string) {
	t.Helper()
	ents, _ := os.ReadDir(dir)
	for _, e := range ents {
		if strings.HasPrefix(e.Name(), ".") {
			t.Errorf("%s is left", e.Name())
		}
	}
}

func TestInstallFaults(t *testing.T) {
	for _, c := range []struct {
		name, say string
		err       error
		text      string
	}{
		{"no pip", "/usr/bin/python3: No module named pip", ErrNoPip, "pip"},
		{"no network", "WARNING: Retrying after connection broken by 'NewConnectionError(...: [Errno -3] Temporary failure in name resolution')\nERROR: Could not find a version that satisfies the requirement lxml==6.1.3", ErrNoNetwork, "network"},
		{"no space", "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", ErrNoSpace, "MB"},
		{"wrong hash", "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.", ErrHash, "hash"},
		{"no package for it", "ERROR: No matching distribution found for numpy==2.3.5", nil, "from 3.9 to 3.14"},
		{"something else", "ERROR: strange", nil, "strange"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := t.TempDir()
			py := ask(t.Context(), fake(t, filepath.Join(d, "py", "python3"), d, [3]int{3, 11, 2}, "cpython", "cat >&2 <<'EOF'\n"+c.say+"\nEOF\nexit 1"))
			dir := filepath.Join(d, "env")
			err := Install(t.Context(), py, dir, nil)
			if err == nil || c.err != nil && !errors.Is(err, c.err) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("got %v", err)
			}
			onlyHome(t, dir)
			if _, err := Find(dir, py); !errors.Is(err, ErrNotInstalled) {
				t.Errorf("Find: %v", err)
			}
		})
	}
}

func TestInstallStopped(t *testing.T) {
	d := t.TempDir()
	py := ask(t.Context(), fake(t, filepath.Join(d, "py", "python3"), d, [3]int{3, 11, 2}, "cpython", "echo Collecting x; exec sleep 60"))
	ctx, cancel := context.WithCancel(t.Context())
	err := Install(ctx, py, filepath.Join(d, "env"), func(_ string, done, _ int) {
		if done == 1 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	onlyHome(t, filepath.Join(d, "env"))
}

// TestLock: every package has hashes, every version is pinned, no host is named.
func TestLock(t *testing.T) {
	entries := strings.Split(string(lock), "\n")
	hashes, name := 0, ""
	check := func() {
		if name != "" && hashes == 0 {
			t.Errorf("%s has no hash", name)
		}
	}
	for _, l := range entries {
		switch {
		case l == "":
		case strings.HasPrefix(l, "    --hash=sha256:"):
			hashes++
		case strings.Contains(l, "=="):
			check()
			name, hashes = l, 0
		default:
			t.Errorf("line %q is neither a package nor a hash", l)
		}
	}
	check()
	have := strings.Join(names(), " ")
	for _, n := range []string{"numpy", "pandas", "matplotlib", "openpyxl", "pyarrow", "scipy", "scikit-learn", "duckdb", "pillow", "tabulate", "xlrd", "pypdf", "python-dateutil", "lxml", "beautifulsoup4"} {
		if !strings.Contains(" "+have+" ", " "+n+" ") {
			t.Errorf("%s is not in the lock", n)
		}
	}
	if strings.Contains(string(lock), "://") {
		t.Error("the lock names a host")
	}
}

func TestWithin(t *testing.T) {
	for _, c := range []struct {
		tree, p string
		want    bool
	}{{"/a", "/a", true}, {"/a", "/a/b", true}, {"/a", "/ab", false}, {"/a/b", "/a", false}} {
		if got := within(c.tree, c.p); got != c.want {
			t.Errorf("within(%q, %q) = %t", c.tree, c.p, got)
		}
	}
}
