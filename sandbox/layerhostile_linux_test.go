package sandbox

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

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
