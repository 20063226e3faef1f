package sandbox

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
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
		b.t.Fatalf("%s: %v %+v", line, err, b.proc.Wait())
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
