package sandbox

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkTrue compares the start of a program in the sandbox with a plain start
// and with bubblewrap, where it is installed, with the same view of files. The
// three take turns, so that what else the machine does meets them alike; compare
// the medians that it reports, in milliseconds.
func BenchmarkTrue(b *testing.B) {
	r := newTestRunner(b)
	requireFull(b, r)
	sandboxed := func() error {
		proc, err := r.Start(context.Background(), Policy{}, Command{Path: "/usr/bin/true"})
		if err == nil {
			proc.Wait()
		}
		return err
	}
	ways := map[string]func() error{
		"sandbox": sandboxed,
		"plain":   func() error { return exec.Command("/usr/bin/true").Run() },
	}
	if bwrap, err := exec.LookPath("bwrap"); err == nil {
		args := bwrapView()
		ways["bwrap"] = func() error { return exec.Command(bwrap, args...).Run() }
	}
	took := map[string][]time.Duration{}
	for b.Loop() {
		for name, start := range ways { // in an order of chance
			began := time.Now()
			if err := start(); err != nil {
				b.Fatal(name, err)
			}
			took[name] = append(took[name], time.Since(began))
		}
	}
	median := func(name string) float64 {
		slices.Sort(took[name])
		return float64(took[name][len(took[name])/2]) / float64(time.Millisecond)
	}
	for name := range ways {
		b.ReportMetric(median(name), name+"-ms")
	}
	if ways["bwrap"] != nil {
		b.ReportMetric(median("sandbox")/median("bwrap"), "sandbox/bwrap")
	}
}

// bwrapView are the arguments that give bubblewrap the view of an empty policy.
func bwrapView() []string {
	args := []string{"--unshare-all", "--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL",
		"--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", "/home", "--dir", "/home/user"}
	v := newView(order{})
	for link, target := range v.links {
		args = append(args, "--symlink", target, link)
	}
	for _, x := range v.binds {
		if !x.device {
			args = append(args, "--ro-bind", x.src, x.dst)
		}
	}
	return append(args, "--remount-ro", "/", "/usr/bin/true")
}

// BenchmarkLayer is what holding back costs beside the run itself: a run that
// changes two files in a folder of a thousand.
func BenchmarkLayer(b *testing.B) {
	r := newTestRunner(b)
	requireLayers(b, r)
	base := b.TempDir()
	for i := range 1000 {
		write(b, fmt.Sprintf("%s/ws/%d/%d.txt", base, i%10, i), strings.Repeat("text ", 200))
	}
	if err := os.Mkdir(base+"/layers", 0o755); err != nil {
		b.Fatal(err)
	}
	c := sh(`while read -r x; do cd "$0"; echo new > 3/3.txt; echo new > new; echo; done`)
	c.Args = append(c.Args, base+"/ws")
	p := Policy{Write: []string{base + "/ws"}, Layers: base + "/layers"}
	proc := start(b, r, p, c)
	l := proc.(Layerer)
	turn := func() {
		io.WriteString(proc.Stdin(), "go\n")
		if _, err := proc.Stdout().Read(make([]byte, 8)); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("run", func(b *testing.B) {
		for b.Loop() {
			turn()
		}
	})
	for _, last := range []struct {
		name string
		do   func() error
	}{{"discard", l.Discard}, {"commit", l.Commit}} {
		b.Run(last.name, func(b *testing.B) {
			for b.Loop() {
				if err := l.Begin(); err != nil {
					b.Fatal(err)
				}
				turn()
				if list, err := l.Changes(); err != nil || len(list) > 2 {
					b.Fatal(list, err)
				}
				if err := last.do(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
