package sandbox

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestModelWorker does what a model worker does: it loads a library from a
// folder of the policy and maps a file that is far bigger than memory.
func TestModelWorker(t *testing.T) {
	if _, err := os.Stat(python); err != nil {
		t.Skipf("NOT TESTED: libraries and big maps, because there is no %s", python)
	}
	libs, err := filepath.Glob("/usr/lib/*/libz.so.1")
	if err != nil || len(libs) == 0 {
		t.Skipf("NOT TESTED: libraries from a folder, because there is no libz (%v)", err)
	}
	lib, err := os.ReadFile(libs[0])
	if err != nil {
		t.Fatal(err)
	}
	script := `import ctypes, mmap, os, sys
z = ctypes.CDLL(sys.argv[1]); z.zlibVersion.restype = ctypes.c_char_p
assert z.zlibVersion()[:2] == b"1."
f = open(sys.argv[2], "rb"); m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)
print(len(m) >> 30, m[0], m[-1])
anonymous = mmap.mmap(-1, 8 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000) # MAP_NORESERVE
print(len(anonymous) >> 30)
`
	for level, r := range runners(t) {
		dir := folder(t)
		if err := os.WriteFile(dir+"/lib.so", lib, 0o644); err != nil {
			t.Fatal(err)
		}
		model, err := os.Create(dir + "/model.gguf")
		if err != nil {
			t.Fatal(err)
		}
		if err := model.Truncate(64 << 30); err != nil { // sparse
			t.Fatal(err)
		}
		model.Close()
		c := Command{Path: python, Args: []string{"-c", script, dir + "/lib.so", dir + "/model.gguf"}}
		unlimited := Policy{Read: []string{dir + "/lib.so", dir + "/model.gguf"}, Limits: Limits{-1, -1, -1, -1, -1, -1, -1, -1}}
		if got := run(t, r, unlimited, c); got.out != "64 0 0\n8\n" {
			t.Errorf("%s: %+v", level, got)
		}
		limited := unlimited
		limited.Limits.Memory = 0 // the default, less than 8 GiB
		if got := run(t, r, limited, c); got.exit.Code == 0 || !strings.HasPrefix(got.out, "64 0 0\n") {
			t.Errorf("%s: control: the default limit is not one: %+v", level, got)
		}
	}
}

// TestInsideASandboxThereAreNoNamespaces also shows how a machine without them
// looks to Level.
func TestInsideASandboxThereAreNoNamespaces(t *testing.T) {
	r := newTestRunner(t)
	requireFull(t, r)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	got := run(t, r, Policy{}, Command{Path: exe, Args: []string{levelArg}})
	var l Level
	if err := json.Unmarshal([]byte(got.out), &l); err != nil {
		t.Fatalf("%v: %+v", err, got)
	}
	if l.Name == LevelFull {
		t.Errorf("full inside full: %+v", l)
	}
	for _, g := range l.Guarantees {
		t.Logf("%s: %-18s %-5v %s %s", l.Name, g.Name, g.Holds, g.Detail, g.Fix)
		if !g.Holds && (g.Detail == "" || g.Fix == "") {
			t.Errorf("%s does not hold and nobody says why or what to do: %+v", g.Name, g)
		}
		if g.Name == "namespaces" && g.Holds {
			t.Errorf("namespaces hold: %+v", g)
		}
		// The outer sandbox asks already; refusals are plain ones then.
		if g.Name == "record of refusals" && g.Holds {
			t.Errorf("refusals are counted: %+v", g)
		}
	}
}

func TestLevelUnderAnEndedContextIsNotRemembered(t *testing.T) {
	r := newTestRunner(t)
	requireFull(t, newTestRunner(t))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if l := r.Level(ctx); l.Name != LevelNone {
		t.Errorf("level %q without a try", l.Name)
	}
	if l := r.Level(context.Background()); l.Name != LevelFull {
		t.Errorf("level %q afterwards", l.Name)
	}
}

// levelArg makes the test binary print what it can enforce.
const levelArg = "sandbox-level"

func levelMain() int {
	l := newRunner(Options{Helper: []string{os.Args[0], helperArg}}).Level(context.Background())
	if err := json.NewEncoder(os.Stdout).Encode(l); err != nil {
		return 1
	}
	return 0
}
