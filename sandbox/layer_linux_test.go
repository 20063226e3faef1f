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
)

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
		"dir/": "", "dir/a": "a", "dir/new": "theirs", "swapped": "-> " + b.base + "/elsewhere", ".profile": "theirs", ".profile (from Atoll)": "ours\n",
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
	if err != nil || len(kept) != 3 { // two files and their names
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
