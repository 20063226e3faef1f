package sandbox

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// BenchmarkTrue compares a program in the sandbox with a plain start.
func BenchmarkTrue(b *testing.B) {
	r := newTestRunner(b)
	requireFull(b, r)
	b.Run("sandbox", func(b *testing.B) {
		for b.Loop() {
			proc, err := r.Start(context.Background(), Policy{}, Command{Path: "/usr/bin/true"})
			if err != nil {
				b.Fatal(err)
			}
			proc.Wait()
		}
	})
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			if err := exec.Command("/usr/bin/true").Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
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
