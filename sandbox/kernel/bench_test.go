//go:build unix

package kernel

import (
	"fmt"
	"os/exec"
	"path/filepath"
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

// opens opens files with and without the audit hook, in turn: in children,
// since a hook cannot be taken away. It prints the seconds of both.
const opens = `import os, sys, time
HOME = os.getcwd()
class S: live, forked = True, False
CONF, clean, add = {}, str, sys.addaudithook
sys.addaudithook = lambda hook: None
exec(open(sys.argv[1]).read())
for i in range(100):
    with open(f'{i}.txt', 'w') as f: f.write('a few words')
def loop():
    begin = time.perf_counter()
    for i in range(20_000):
        with open(f'{i % 100}.txt') as f: f.read()
    return time.perf_counter() - begin
best = [9e9, 9e9]
for n in range(10):
    r, w = os.pipe()
    if os.fork() == 0:
        if n % 2: add(_audit)
        loop()
        os.write(w, repr(loop()).encode())
        os._exit(0)
    os.wait()
    best[n % 2] = min(best[n % 2], float(os.read(r, 100)))
print(*best)
`

// BenchmarkAttempts reports what the audit hook costs a program that does
// nothing but open small files, in percent.
func BenchmarkAttempts(b *testing.B) {
	py := python().Path
	hook, err := filepath.Abs("driver/attempts.py")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		cmd := exec.Command(py, "-I", "-c", opens, hook)
		cmd.Dir = b.TempDir()
		out, err := cmd.Output()
		var without, with float64
		if _, serr := fmt.Sscan(string(out), &without, &with); err != nil || serr != nil {
			b.Fatal(err, serr)
		}
		b.ReportMetric((with/without-1)*100, "%")
	}
}
