//go:build unix

package kernel

import (
	"os/exec"
	"testing"
)

func BenchmarkPlainPython(b *testing.B) {
	py := python().Path
	for b.Loop() {
		if err := exec.Command(py, "-I", "-c", "pass").Run(); err != nil {
			b.Fatal(err)
		}
	}
}

func benchmarkStart(b *testing.B, o Options) {
	for b.Loop() {
		s, err := New(o)
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Start(b.Context()); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		s.Close()
		b.StartTimer()
	}
}

func BenchmarkStart(b *testing.B) { benchmarkStart(b, options(b)) }

func BenchmarkStartBare(b *testing.B) {
	o := options(b)
	o.Runner = bare{}
	benchmarkStart(b, o)
}

func BenchmarkRoundTrip(b *testing.B) {
	s := open(b, options(b))
	exec1(b, s, "x = 1")
	for b.Loop() {
		if _, err := s.Run(b.Context(), "x + 1", nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPrint(b *testing.B) {
	s := open(b, options(b))
	exec1(b, s, "x = 1")
	for b.Loop() {
		if _, err := s.Run(b.Context(), "print(x)", nil); err != nil {
			b.Fatal(err)
		}
	}
}
