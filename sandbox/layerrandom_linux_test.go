package sandbox

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLayerCommitsWhatTheProgramSaw does things at random in a layer, and finds
// in the tree after Commit what the program saw in the layer before.
func TestLayerCommitsWhatTheProgramSaw(t *testing.T) {
	rounds, steps := 6, 40
	for round := range rounds {
		r := rand.New(rand.NewPCG(uint64(round), 4711))
		files := map[string]string{}
		name := func() string {
			parts := make([]string, 1+r.IntN(3))
			for i := range parts {
				parts[i] = string(rune('a' + r.IntN(4)))
			}
			return strings.Join(parts, "/")
		}
		for range 25 {
			files["ws/"+name()+"/"+string(rune('e'+r.IntN(3)))] = fmt.Sprint("old", r.IntN(3))
		}
		b := newLayerBed(t, files)
		before := b.tree()
		b.do("Begin", b.layers.Begin)
		var done []string
		for range steps {
			from, to := name(), name()
			file := to + "/" + string(rune('e'+r.IntN(3)))
			line := []string{
				"rm -rf " + from, "rm -rf " + file, "mkdir -p " + to, "echo new > " + file, "echo new > " + to, "rm -f " + file + "; mkdir -p " + file,
				"cp -r " + from + " " + to, "mv " + from + " " + to, "ln -s x " + file, "ln -sfn .. " + to, "rm -rf " + from + "; mkdir " + from,
				"touch " + file, "chmod 700 " + file, "echo more >> " + file, "mkdir -p " + from + "; rm -rf " + to + "; mv " + from + " " + to,
			}[r.IntN(15)]
			done = append(done, line)
			b.sh(line)
		}
		saw := strings.Fields(b.sh(`find . -mindepth 1 -printf '%P=%y=%l;' | tr ';' '\n' | sort; find . -type f | sort | xargs cat | md5sum`))
		if d := cmp.Diff(before, b.tree()); d != "" {
			t.Fatalf("round %d: the tree changed under the layer: %s", round, d)
		}
		if err := b.layers.Commit(); err != nil {
			t.Fatalf("round %d: %v\n%s", round, err, strings.Join(done, "\n"))
		}
		has := strings.Fields(b.sh(`find . -mindepth 1 -printf '%P=%y=%l;' | tr ';' '\n' | sort; find . -type f | sort | xargs cat | md5sum`))
		if d := cmp.Diff(saw, has); d != "" {
			t.Errorf("round %d: %s\n%s", round, d, strings.Join(done, "\n"))
		}
		if n := len(saw); n < 5 {
			t.Logf("round %d: only %d names", round, n)
		}
		b.proc.Kill()
		b.proc.Wait()
	}
}
