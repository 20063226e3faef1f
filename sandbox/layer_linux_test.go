package sandbox

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/sys/unix"
)

// layerBed is a shell that runs lines under a policy with layers.
type layerBed struct {
	t        *testing.T
	base, ws string
	proc     Process
	layers   Layerer
	lines    *bufio.Reader
}

// newLayerBed starts it over the files given, by path below the base folder;
// "ws" is writable and "ro" readable.
func newLayerBed(t *testing.T, files map[string]string) *layerBed {
	t.Helper()
	return newLayerBedIn(t, folder(t), files, Limits{})
}

func newLayerBedIn(t *testing.T, base string, files map[string]string, l Limits) *layerBed {
	t.Helper()
	r := newTestRunner(t)
	requireLayers(t, r)
	b := &layerBed{t: t, base: base}
	b.ws = b.base + "/ws"
	for _, d := range []string{"ws", "ro", "layers"} {
		if err := os.MkdirAll(filepath.Join(b.base, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		write(t, filepath.Join(b.base, name), text)
	}
	c := sh(`while read -r line; do out=$(cd "$0" && eval "$line" 2>&1); echo "$? $(echo "$out" | tr '\n' ' ')"; done`)
	c.Args, c.Dir = append(c.Args, b.ws), b.base
	p := Policy{Read: []string{b.base + "/ro"}, Write: []string{b.ws}, Layers: b.base + "/layers", Limits: l}
	b.proc = start(t, r, p, c)
	b.layers = b.proc.(Layerer)
	b.lines = bufio.NewReader(b.proc.Stdout())
	return b
}

// requireLayers skips, loudly, where no layer can be put on.
func requireLayers(tb testing.TB, r Runner) {
	tb.Helper()
	requireFull(tb, r)
	for _, g := range r.Level(tb.Context()).Guarantees {
		if g.Name == "effect layers" && !g.Holds {
			tb.Skipf("NOT TESTED: layers: %s", g.Detail)
		}
	}
}

// sh runs a line in the writable folder, entered anew, and returns its exit
// status and output.
func (b *layerBed) sh(line string) string {
	b.t.Helper()
	if _, err := io.WriteString(b.proc.Stdin(), line+"\n"); err != nil {
		b.t.Fatal(err)
	}
	out, err := b.lines.ReadString('\n')
	if err != nil {
		b.t.Fatalf("%s: %v", line, err)
	}
	return strings.TrimSpace(out)
}

func (b *layerBed) must(line string) {
	b.t.Helper()
	if out := b.sh(line); !strings.HasPrefix(out, "0") {
		b.t.Fatalf("%s: %s", line, out)
	}
}

func (b *layerBed) do(what string, f func() error) {
	b.t.Helper()
	if err := f(); err != nil {
		b.t.Fatalf("%s: %v", what, err)
	}
}

// changes lists them as "kind path size was runs", without the base.
func (b *layerBed) changes() []string {
	b.t.Helper()
	list, err := b.layers.Changes()
	if err != nil {
		b.t.Fatalf("Changes: %v", err)
	}
	var out []string
	for _, c := range list {
		line := fmt.Sprintf("%s %s %d %d", c.Kind, strings.TrimPrefix(c.Path, b.ws+"/"), c.Size, c.Was)
		if c.Runs != "" {
			line += " runs"
		}
		out = append(out, line)
	}
	slices.Sort(out)
	return out
}

// tree is every file of the writable folder with what it holds.
func (b *layerBed) tree() map[string]string {
	b.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(b.ws, func(p string, d os.DirEntry, err error) error {
		if err != nil || p == b.ws {
			return err
		}
		name := strings.TrimPrefix(p, b.ws+"/")
		switch {
		case d.IsDir():
			out[name+"/"] = ""
		case d.Type()&os.ModeSymlink != 0:
			target, err := os.Readlink(p)
			out[name] = "-> " + target
			return err
		default:
			text, err := os.ReadFile(p)
			out[name] = string(text)
			return err
		}
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

// everything is a layer with a change of each kind.
var everything = struct {
	files   map[string]string
	script  []string
	changes []string
	after   map[string]string
}{
	files: map[string]string{
		"ws/keep": "keep", "ws/edit": "old", "ws/same": "same", "ws/gone": "gone!", "ws/dir/a": "a", "ws/dir/b/c": "cc",
		"ws/anew/x": "x", "ws/anew/y": "y", "ws/file": "f", "ws/folder/in": "in", "ws/mode": "#!", "ws/moved": "moved",
	},
	script: []string{
		"echo new > edit", "touch same", "rm gone", "rm -r dir", "rm -r anew; mkdir anew; echo z > anew/y; echo n > anew/n",
		"rm file; mkdir file; echo i > file/i", "rm -r folder; echo f > folder", "mkdir -p p/q; echo deep > p/q/r", "ln -s /etc/passwd link",
		"chmod 755 mode", "mv moved p/moved", "mkfifo pipe", "ln edit hard", "echo hook > .envrc",
	},
	changes: []string{
		"changed anew/y 2 1", "changed edit 4 3", "changed mode 2 2", "created .envrc 5 0 runs", "created anew/n 2 0", "created file/i 2 0", "created folder 2 0",
		"created hard 4 0", "created link 11 0", "created p/moved 5 0", "created p/q/r 5 0",
		"deleted anew/x 0 1", "deleted dir 0 0", "deleted dir/a 0 1", "deleted dir/b 0 0", "deleted dir/b/c 0 2", "deleted file 0 1", "deleted folder 0 0",
		"deleted folder/in 0 2", "deleted gone 0 5", "deleted moved 0 5", "folder file 0 0", "folder p 0 0", "folder p/q 0 0",
	},
	after: map[string]string{
		"keep": "keep", "edit": "new\n", "same": "same", "anew/": "", "anew/y": "z\n", "anew/n": "n\n", "file/": "", "file/i": "i\n", "folder": "f\n",
		"mode": "#!", "p/": "", "p/q/": "", "p/q/r": "deep\n", "p/moved": "moved", "link": "-> /etc/passwd", "hard": "new\n", ".envrc": "hook\n",
	},
}

func (b *layerBed) changeEverything() {
	b.t.Helper()
	b.do("Begin", b.layers.Begin)
	for _, line := range everything.script {
		b.must(line)
	}
}

func TestLayerHoldsBackAndDiscards(t *testing.T) {
	b := newLayerBed(t, everything.files)
	before := b.tree()
	b.changeEverything()
	if d := cmp.Diff(before, b.tree()); d != "" {
		t.Errorf("the tree changed under the layer: %s", d)
	}
	if d := cmp.Diff(everything.changes, b.changes(), cmpopts.EquateEmpty()); d != "" {
		t.Error(d)
	}
	if out := b.sh("cat edit"); out != "0 new" {
		t.Errorf("inside, the new version is %q", out)
	}
	b.do("Discard", b.layers.Discard)
	if d := cmp.Diff(before, b.tree()); d != "" {
		t.Errorf("the tree changed by Discard: %s", d)
	}
	if out := b.sh("cat edit; ls link; echo direct > direct"); !strings.HasPrefix(out, "0 old") {
		t.Errorf("inside, after Discard: %q", out)
	}
	if b.tree()["direct"] != "direct\n" {
		t.Error("the folder is not writable again")
	}
	if left, _ := os.ReadDir(b.base + "/layers"); len(left) != 0 {
		t.Errorf("left over: %v", left)
	}
}

func TestLayerCommits(t *testing.T) {
	for name, fail := range map[string]bool{"same disk": false, "other disk": true} {
		t.Run(name, func(t *testing.T) {
			b := newLayerBed(t, everything.files)
			b.changeEverything()
			if err := b.layers.Commit(); !errors.Is(err, ErrRunsLater) || !strings.Contains(err.Error(), ".envrc") {
				t.Fatalf("Commit without permission: %v", err)
			}
			if b.tree()["edit"] != "old" {
				t.Fatal("a refused Commit did something")
			}
			b.layers.(Permitter).Permit(b.ws + "/.envrc")
			otherDisk = fail
			err := b.layers.Commit()
			otherDisk = false
			if err != nil {
				t.Fatalf("Commit: %v", err)
			}
			if d := cmp.Diff(everything.after, b.tree()); d != "" {
				t.Error(d)
			}
			if st, err := os.Stat(b.ws + "/mode"); err != nil || st.Mode() != 0o755 {
				t.Errorf("mode: %v %v", st.Mode(), err)
			}
			if out := b.sh("cat edit p/q/r"); out != "0 new deep" {
				t.Errorf("inside, after Commit: %q", out)
			}
			// And once more: a layer can follow a layer.
			b.do("Begin", b.layers.Begin)
			b.must("echo third > edit")
			b.do("Commit", b.layers.Commit)
			if got := b.tree()["edit"]; got != "third\n" {
				t.Errorf("second layer: %q", got)
			}
			if left, _ := os.ReadDir(b.base + "/layers"); len(left) != 0 {
				t.Errorf("left over: %v", left)
			}
		})
	}
}

// TestLayerKeepsTheBoundary tries, inside a layer, what is refused without one.
// Below /tmp the program has a folder of its own; elsewhere the neighbours of
// the tree are what the rule of layerAccess covers as well.
func TestLayerKeepsTheBoundary(t *testing.T) {
	t.Run("below /tmp", func(t *testing.T) { keepsTheBoundary(t, folder(t), true) })
	t.Run("elsewhere", func(t *testing.T) {
		for _, place := range []string{"/srv", "/opt", "/var/lib"} {
			if base, err := os.MkdirTemp(place, "atoll-layer-"); err == nil {
				t.Cleanup(func() { os.RemoveAll(base) })
				keepsTheBoundary(t, base, false)
				return
			}
		}
		t.Skip("NOT TESTED: layers in a folder that is not below /tmp; this user has none")
	})
}

func keepsTheBoundary(t *testing.T, base string, own bool) {
	b := newLayerBedIn(t, base, map[string]string{
		"ws/.git/config": "config", "ws/.git/hooks/pre-commit": "hook", "ws/sub/.git/config": "config", "ws/sub/deep/.envrc": "x", "ws/plain": "plain",
		"ro/file": "ro", "hidden": "hidden",
	}, Limits{})
	before := b.tree()
	for _, stage := range []string{"without", "with"} {
		if stage == "with" {
			b.do("Begin", b.layers.Begin)
		}
		for _, row := range []struct {
			line string
			ok   bool
		}{
			{"echo x > made && mkdir m && mv made m/made && ln m/made l && rm -r m l", true},
			{"cat .git/config sub/.git/config sub/deep/.envrc plain ../ro/file", true},
			{"echo x > .git/config", false}, {"echo x > .git/new", false}, {"rm -r .git", false}, {"mv .git git2", false},
			{"echo x > .git/hooks/pre-commit", false}, {"echo x > sub/.git/config", false}, {"mv sub/.git sub/g", false}, {"mv sub s", false},
			{"rm sub/deep/.envrc", false}, {"mv sub/deep d; rc=$?; rm -r d; (exit $rc)", false}, {"echo x > sub/deep/.envrc", false},
			{"echo x > ../ro/file", false}, {"echo x > ../ro/new", false}, {"rm ../ro/file", false}, {"mv ../ro ../r", false}, {"chmod 777 ../ro", false},
			{"echo x > ../new", false}, {"mkdir ../layers", false}, {"cat ../hidden", false}, {"mv plain ../ro/plain", false}, {"ln plain ../ro/plain", false},
			{"ls " + layersHidden, false}, {"ls " + layersPlace, false}, {"chmod 700 " + layersHidden, false}, {"ls ../layers/*", false},
			{"ls /proc/1/root/", false}, {"readlink /proc/1/fd/3", false}, {"ls /proc/1/fd/3/", false}, {"cat /proc/1/mem", false},
			{"umount .", false}, {"mount -t tmpfs x .", false}, {"mknod dev c 1 3", false}, {"chmod u+s plain", false},
			{"setfattr -n user.overlay.opaque -v y sub", false},
		} {
			if own && (strings.Contains(row.line, "../new") || strings.Contains(row.line, "mkdir ../layers")) {
				continue // the neighbours are the program's own
			}
			if out := b.sh(row.line); strings.HasPrefix(out, "0") != row.ok {
				t.Errorf("%s a layer: %s: %s, want success %v", stage, row.line, out, row.ok)
			}
		}
	}
	if got := b.changes(); len(got) != 0 {
		t.Errorf("changes: %v", got)
	}
	b.do("Commit", b.layers.Commit)
	if d := cmp.Diff(before, b.tree()); d != "" {
		t.Error(d)
	}
}

// TestLayerIsNotPassedBy tries to write into the trees themselves by way of what
// was open before the layer.
func TestLayerIsNotPassedBy(t *testing.T) {
	b := newLayerBed(t, map[string]string{"ws/file": "old"})
	if _, err := os.Stat(python); err != nil {
		t.Skipf("NOT TESTED: there is no %s", python)
	}
	write(t, b.base+"/ro/stay.py", `import os, sys
fd = os.open(sys.argv[1], os.O_RDONLY); os.chdir(sys.argv[1]); f = open("file"); w = None
print("ready", flush=True)
for line in sys.stdin:
    try: print("did", eval(line), flush=True)
    except OSError as e: print("refused", os.strerror(e.errno), flush=True)
`)
	p := Policy{Read: []string{b.base + "/ro"}, Write: []string{b.ws}, Layers: b.base + "/layers"}
	proc := start(t, newTestRunner(t), p, Command{Path: python, Args: []string{b.base + "/ro/stay.py", b.ws}})
	lines := bufio.NewReader(proc.Stdout())
	ask := func(line string) string {
		t.Helper()
		if line != "" {
			io.WriteString(proc.Stdin(), line+"\n")
		}
		out, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(out)
	}
	ask("")
	l := proc.(Layerer)
	b.do("Begin", l.Begin)
	for _, line := range []string{
		`os.open("new", os.O_WRONLY|os.O_CREAT)`, `os.open("file", os.O_WRONLY)`, `os.unlink("file")`, `os.rename("file", "x")`,
		`os.open("new", os.O_WRONLY|os.O_CREAT, dir_fd=fd)`, `os.open("/proc/self/cwd/new", os.O_WRONLY|os.O_CREAT)`,
		`os.open(f"/proc/self/fd/{f.fileno()}", os.O_WRONLY)`, `os.truncate(f.fileno(), 0)`, `os.mkdir("d", dir_fd=fd)`,
	} {
		if out := ask(line); !strings.HasPrefix(out, "refused") {
			t.Errorf("%s: %s", line, out)
		}
	}
	if out := ask(fmt.Sprintf(`[os.chdir(%q), open("in", "w").write("x")]`, b.ws)); !strings.HasPrefix(out, "did") {
		t.Errorf("control: nothing can be written in the layer: %s", out)
	}
	b.do("Discard", l.Discard)
	if d := cmp.Diff(map[string]string{"file": "old"}, b.tree()); d != "" {
		t.Error(d)
	}
	// What is open for writing already cannot be held back, so there is no layer.
	if out := ask(fmt.Sprintf(`[os.chdir(%q), globals().update(w=open("log", "w"))]`, b.ws)); !strings.HasPrefix(out, "did") {
		t.Fatal(out)
	}
	if err := l.Begin(); !errors.Is(err, ErrHeld) {
		t.Errorf("Begin with an open file: %v", err)
	}
	if out := ask(`[w.write("more"), w.close()]`); !strings.HasPrefix(out, "did") {
		t.Errorf("after a Begin that failed: %s", out)
	}
	b.do("Begin after the file was closed", l.Begin)
	b.do("Discard", l.Discard)
}

// TestLayerCommitsWhatWasListed changes the layer after it was looked at.
func TestLayerCommitsWhatWasListed(t *testing.T) {
	b := newLayerBed(t, map[string]string{"ws/a": "old", "ws/b": "old"})
	b.do("Begin", b.layers.Begin)
	b.must("echo seen > a; echo seen > n")
	list, err := b.layers.Changes()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
		if text, err := os.ReadFile(c.New); string(text) != "seen\n" || err != nil {
			t.Errorf("%s: New holds %q, %v", c.Path, text, err)
		}
	}
	b.must("echo evil > a; echo evil > b; rm n; ln -s /etc/passwd n; echo evil > .bashrc")
	b.do("Commit", b.layers.Commit)
	if d := cmp.Diff(map[string]string{"a": "seen\n", "b": "old", "n": "seen\n"}, b.tree()); d != "" {
		t.Error(d)
	}
}

// TestLayerLosesNothing lets another program change the trees meanwhile.
func TestLayerLosesNothing(t *testing.T) {
	b := newLayerBed(t, map[string]string{"ws/both.txt": "old", "ws/deleted": "old", "ws/fine": "old", "ws/dir/a": "a", "ws/swapped/f": "f", "elsewhere/f": "theirs"})
	b.do("Begin", b.layers.Begin)
	b.must("echo ours > both.txt; rm deleted; echo ours > fine; echo ours > made; rm -r dir; echo ours > swapped/f; echo ours > swapped/g; echo ours > .profile")
	write(t, b.ws+"/both.txt", "theirs")
	write(t, b.ws+"/deleted", "theirs")
	write(t, b.ws+"/made", "theirs")
	write(t, b.ws+"/dir/new", "theirs")
	if _, err := b.layers.Changes(); err != nil {
		t.Fatal(err)
	}
	write(t, b.ws+"/.profile", "theirs")
	if err := errors.Join(os.RemoveAll(b.ws+"/swapped"), os.Symlink(b.base+"/elsewhere", b.ws+"/swapped")); err != nil {
		t.Fatal(err)
	}
	b.layers.(Permitter).Permit(b.ws + "/.profile")
	err := b.layers.Commit()
	var c *CommitError
	if !errors.As(err, &c) {
		t.Fatalf("Commit: %v", err)
	}
	for _, path := range []string{"deleted", "dir/new", "dir", "swapped/f", "swapped/g"} {
		if _, failed := c.Failed[b.ws+"/"+path]; !failed {
			t.Errorf("%s was carried out: %v", path, c)
		}
	}
	if !slices.Contains(c.Done, b.ws+"/fine") || len(c.Beside) != 3 || c.Kept == "" {
		t.Errorf("%+v", c)
	}
	want := map[string]string{
		"both.txt": "theirs", "both (from Atoll).txt": "ours\n", "deleted": "theirs", "fine": "ours\n", "made": "theirs", "made (from Atoll)": "ours\n",
		"dir/": "", "dir/new": "theirs", "swapped": "-> " + b.base + "/elsewhere", ".profile": "theirs", ".profile (from Atoll)": "ours\n",
	}
	if d := cmp.Diff(want, b.tree()); d != "" {
		t.Error(d)
	}
	if text, err := os.ReadFile(b.base + "/elsewhere/f"); string(text) != "theirs" || err != nil {
		t.Errorf("a link was followed: %q, %v", text, err)
	}
	if err := SweepLayers(b.base + "/layers"); err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadDir(c.Kept)
	if err != nil || len(kept) != 2 {
		t.Errorf("kept: %v, %v", kept, err)
	}
}

// TestLayerOfManyTrees nests writable, readable and protected places.
func TestLayerOfManyTrees(t *testing.T) {
	r := newTestRunner(t)
	requireLayers(t, r)
	base := folder(t)
	for _, f := range []string{"a/ro/rw/f", "a/ro/f", "a/f", "a/sub/rw/f", "b/f", "b/.git/config"} {
		write(t, base+"/"+f, "old")
	}
	if err := os.Mkdir(base+"/layers", 0o755); err != nil {
		t.Fatal(err)
	}
	p := Policy{Read: []string{base + "/a/ro"}, Write: []string{base + "/a", base + "/a/ro/rw", base + "/a/sub/rw", base + "/b"}, Layers: base + "/layers"}
	c := sh(`read x; cd "$0"; for f in a/ro/rw/f a/ro/f a/f a/sub/rw/f a/sub/g b/f b/.git/config; do (echo new > $f) 2>/dev/null && echo $f; done; read x`)
	c.Args = append(c.Args, base)
	proc := start(t, r, p, c)
	l := proc.(Layerer)
	if err := l.Begin(); err != nil {
		t.Fatal(err)
	}
	io.WriteString(proc.Stdin(), "go\n")
	lines := bufio.NewReader(proc.Stdout())
	for _, want := range []string{"a/ro/rw/f", "a/f", "a/sub/rw/f", "a/sub/g", "b/f"} {
		if got, err := lines.ReadString('\n'); got != want+"\n" || err != nil {
			t.Fatalf("written: %q, want %q (%v)", got, want, err)
		}
	}
	list, err := l.Changes()
	if err != nil || len(list) != 5 {
		t.Errorf("%v, %v", list, err)
	}
	for _, f := range []string{"a/ro/rw/f", "a/f", "a/sub/rw/f", "b/f"} {
		if text, _ := os.ReadFile(base + "/" + f); string(text) != "old" {
			t.Errorf("%s holds %q under the layer", f, text)
		}
	}
	proc.Kill()
	proc.Wait()
	if err := l.Commit(); err != nil { // the program has ended meanwhile
		t.Fatal(err)
	}
	for _, f := range []string{"a/ro/rw/f", "a/f", "a/sub/rw/f", "a/sub/g", "b/f"} {
		if text, _ := os.ReadFile(base + "/" + f); string(text) != "new\n" {
			t.Errorf("%s holds %q", f, text)
		}
	}
}

func TestLayersAreSwept(t *testing.T) {
	b := newLayerBed(t, map[string]string{"ws/a": "old", "ws/" + copyPrefix + "X": "half", "ws/b": "b"})
	b.do("Begin", b.layers.Begin)
	b.must("mkdir -p d/e; echo x > d/e/f; chmod 000 d/e d; chmod 000 .")
	if _, err := b.layers.Changes(); os.Geteuid() != 0 && err == nil {
		t.Error("a closed folder is no error")
	}
	layer := b.layers.(*layered).now.dir
	write(t, layer+"/"+journalName, fmt.Sprintf("%q\n%q\n%q\n", b.ws+"/"+copyPrefix+"X", b.ws+"/b", "/"+copyPrefix+"none"))
	b.proc.Kill() // as the host would be, and its programs with it
	b.proc.Wait()
	if err := SweepLayers(b.base + "/layers"); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(b.base + "/layers"); len(left) != 0 {
		t.Errorf("left over: %v", left)
	}
	if d := cmp.Diff(map[string]string{"a": "old", "b": "b"}, b.tree()); d != "" {
		t.Error(d)
	}
	if err := SweepLayers(b.base + "/missing"); err != nil {
		t.Errorf("missing: %v", err)
	}
}

func TestLayersLieApart(t *testing.T) {
	base := folder(t)
	for _, d := range []string{"ws/in", "ro/in", "layers"} {
		if err := os.MkdirAll(base+"/"+d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, base+"/file", "x")
	for layers, ok := range map[string]bool{"layers": true, "ws": false, "ws/in": false, "ro/in": false, "": false, "file": false, "missing": false} {
		p := Policy{Read: []string{base + "/ro"}, Write: []string{base + "/ws"}, Layers: filepath.Join(base, layers)}
		if err := p.Check(); (err == nil) != ok || err != nil && !errors.Is(err, ErrPolicy) {
			t.Errorf("%q: %v, want acceptable %v", layers, err, ok)
		}
	}
}

// TestLayerIsBounded fills a layer; it is stopped as the folder itself would be.
func TestLayerIsBounded(t *testing.T) {
	b := newLayerBedIn(t, folder(t), map[string]string{"ws/a": "a"}, Limits{Disk: 8 << 20})
	b.do("Begin", b.layers.Begin)
	io.WriteString(b.proc.Stdin(), "head -c 67108864 /dev/zero > big; sleep 20\n")
	if e := b.proc.Wait(); e.Cause != OutOfDisk {
		t.Errorf("%+v", e)
	}
	if got := b.changes(); len(got) != 1 || !strings.HasPrefix(got[0], "created big ") {
		t.Errorf("after the end: %v", got)
	}
	b.do("Discard", b.layers.Discard)
	if d := cmp.Diff(map[string]string{"a": "a"}, b.tree()); d != "" {
		t.Error(d)
	}
}

// TestLayerKeepsHoles writes a file of a gigabyte that is nearly all hole.
func TestLayerKeepsHoles(t *testing.T) {
	b := newLayerBed(t, nil)
	b.do("Begin", b.layers.Begin)
	b.must("truncate -s 1073741824 sparse; echo end >> sparse")
	b.do("Commit", b.layers.Commit)
	var st unix.Stat_t
	if err := unix.Stat(b.ws+"/sparse", &st); err != nil || st.Size != 1<<30+4 || st.Blocks*512 > 1<<20 {
		t.Errorf("size %d, on the disk %d, %v", st.Size, st.Blocks*512, err)
	}
	f, err := os.Open(b.ws + "/sparse")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	end := make([]byte, 4)
	if _, err := f.ReadAt(end, 1<<30); err != nil || string(end) != "end\n" {
		t.Errorf("%q, %v", end, err)
	}
}

func TestLayerInOrder(t *testing.T) {
	b := newLayerBed(t, map[string]string{"ws/a": "a"})
	if _, err := b.layers.Changes(); err == nil {
		t.Error("changes without a layer")
	}
	if err := b.layers.Commit(); err == nil {
		t.Error("commit without a layer")
	}
	b.do("Discard without a layer", b.layers.Discard)
	b.do("Begin", b.layers.Begin)
	if err := b.layers.Begin(); err == nil {
		t.Error("a layer over a layer")
	}
	b.do("Discard", b.layers.Discard)
	b.proc.Kill()
	b.proc.Wait()
	if err := b.layers.Begin(); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("Begin after the end: %v", err)
	}
	if left, _ := os.ReadDir(b.base + "/layers"); len(left) != 0 {
		t.Errorf("left over: %v", left)
	}
	r := newTestRunner(t)
	p := Policy{Write: []string{b.ws}}
	if _, ok := start(t, r, p, sh("true")).(Layerer); ok {
		t.Error("a policy without Layers has layers")
	}
	write(t, b.base+"/single", "x")
	p = Policy{Write: []string{b.base + "/single"}, Layers: b.base + "/layers"}
	if err := start(t, r, p, sh("sleep 100")).(Layerer).Begin(); !errors.Is(err, ErrUnsupported) {
		t.Errorf("a layer over a single file: %v", err)
	}
}
