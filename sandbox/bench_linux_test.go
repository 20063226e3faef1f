package sandbox

import (
	"context"
	"os/exec"
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
