package sandbox

import (
	"os"
	"path/filepath"
	"testing"
)

func TestPathsOfThePolicy(t *testing.T) {
	r := newTestRunner(t)
	requireFull(t, r)
	base := t.TempDir()
	ws := filepath.Join(base, "ws")
	write(t, ws+"/.git/hooks/pre-commit", "hook")
	write(t, ws+"/.git/config", "config")
	write(t, ws+"/plain", "plain")
	write(t, base+"/data/in/file", "data")
	write(t, base+"/data/out/file", "out")
	write(t, base+"/single", "single")
	write(t, base+"/hidden", "hidden")
	if err := os.Symlink(base+"/data", base+"/link"); err != nil {
		t.Fatal(err)
	}
	p := Policy{
		Read:  []string{base + "/data", ws + "/.git/hooks", ws + "/.git/config", base + "/single", base + "/link/in"},
		Write: []string{ws, base + "/data/out"},
	}
	for _, row := range []struct {
		script string
		ok     bool
	}{
		{"cat data/in/file", true},
		{"cat link/in/file", true},
		{"cat single", true},
		{"cat hidden", false},
		{"ls data/in && echo x > data/in/file", false},
		{"echo x > single", false},
		{"echo x > data/out/file", true},
		{"echo x > ws/plain && mkdir ws/d && mv ws/plain ws/d/plain", true},
		{"cat ws/.git/hooks/pre-commit", true},
		{"echo x > ws/.git/new", false},
		{"echo x > ws/.git/config", false},
		{"echo x > ws/.git/hooks/pre-commit", false},
		{"echo x > ws/.git/hooks/post-commit", false},
		{"rm -rf ws/.git/hooks", false},
		{"mv ws/.git ws/git2", false},
		{"mv ws/.git/hooks ws/.git/hooks2", false},
		{"chmod 777 single", false},
		{"touch ../outside", true}, // of a folder that exists only inside
	} {
		c := sh(row.script)
		c.Dir = base
		got := run(t, r, p, c)
		if ok := got.exit.Code == 0; ok != row.ok {
			t.Errorf("%s: exit %d (%s), want success %v", row.script, got.exit.Code, got.err, row.ok)
		}
	}
	if _, err := os.Stat(filepath.Join(base, "../outside")); err == nil {
		t.Error("a file was made outside")
	}
	for path, want := range map[string]string{
		ws + "/.git/hooks/pre-commit": "hook", ws + "/.git/config": "config", ws + "/d/plain": "x\n",
		base + "/data/out/file": "x\n", base + "/data/in/file": "data", base + "/single": "single",
	} {
		if b, err := os.ReadFile(path); string(b) != want {
			t.Errorf("%s holds %q afterwards, want %q (%v)", path, b, want, err)
		}
	}
}

func TestProgramOutsideTheSystem(t *testing.T) {
	r := newTestRunner(t)
	requireFull(t, r)
	dir := t.TempDir()
	b, err := os.ReadFile("/usr/bin/true")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/tool", b, 0o755); err != nil {
		t.Fatal(err)
	}
	if got := run(t, r, Policy{}, Command{Path: dir + "/tool"}); got.exit.Code != 0 {
		t.Errorf("%+v", got)
	}
}

// TestLinksAreNoWayAroundAReadOnlyPart names a workspace by one name and the
// protected part by another.
func TestLinksAreNoWayAroundAReadOnlyPart(t *testing.T) {
	r := newTestRunner(t)
	requireFull(t, r)
	base := folder(t)
	write(t, base+"/ws/.git/config", "config")
	write(t, base+"/bin/tool", "#!/bin/sh\necho tool\n")
	if err := os.Chmod(base+"/bin/tool", 0o755); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"ws-link": "ws", "tool-1": "tool-2", "tool-2": base + "/bin/tool"} {
		if err := os.Symlink(target, filepath.Join(base, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range []Policy{
		{Write: []string{base + "/ws-link"}, Read: []string{base + "/ws/.git"}},
		{Write: []string{base + "/ws"}, Read: []string{base + "/ws-link/.git"}},
		{Write: []string{base + "/ws", base + "/ws-link"}, Read: []string{base + "/ws-link/.git"}},
	} {
		c := sh("cd " + base + "; for f in ws ws-link; do [ -e $f ] || continue; echo x > $f/new || exit 1; for w in $f/.git/config $f/.git/new; do echo x > $w && exit 2; done; done; mv ws/.git ws/g && exit 3; exit 0")
		if got := run(t, r, p, c); got.exit.Code != 0 {
			t.Errorf("%+v: %+v", p, got)
		}
		if b, err := os.ReadFile(base + "/ws/.git/config"); err != nil || string(b) != "config" {
			t.Errorf("%+v: config holds %q (%v)", p, b, err)
		}
		if _, err := os.Stat(base + "/ws/new"); err != nil {
			t.Errorf("%+v: control: nothing was written: %v", p, err)
		}
		os.Remove(base + "/ws/new")
	}
	if got := run(t, r, Policy{}, Command{Path: base + "/tool-1"}); got.out != "tool\n" {
		t.Errorf("program behind two links: %+v", got)
	}
}
