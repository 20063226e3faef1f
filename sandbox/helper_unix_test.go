//go:build linux || darwin

package sandbox

import (
	"context"
	"io"
	"os"
	"testing"
)

// newTestRunner returns a runner whose helper is this test binary.
func newTestRunner(tb testing.TB) Runner {
	tb.Helper()
	exe, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	return New(Options{Helper: []string{exe, helperArg}})
}

// outcome is everything a program left.
type outcome struct {
	out, err string
	exit     Exit
}

// start starts a command and fails the test if that is refused.
func start(tb testing.TB, r Runner, p Policy, c Command) Process {
	tb.Helper()
	proc, err := r.Start(context.Background(), p, c)
	if err != nil {
		tb.Fatalf("Start(%s): %v", c.Path, err)
	}
	tb.Cleanup(func() {
		proc.Kill()
		proc.Wait()
	})
	return proc
}

// run runs a command to its end.
func run(tb testing.TB, r Runner, p Policy, c Command) outcome {
	tb.Helper()
	return collect(tb, start(tb, r, p, c))
}

func collect(tb testing.TB, proc Process) outcome {
	tb.Helper()
	proc.Stdin().Close()
	errs := make(chan []byte, 1)
	go func() {
		b, _ := io.ReadAll(proc.Stderr())
		errs <- b
	}()
	out, err := io.ReadAll(proc.Stdout())
	if err != nil {
		tb.Errorf("read stdout: %v", err)
	}
	return outcome{string(out), string(<-errs), proc.Wait()}
}

func sh(script string) Command { return Command{Path: "/bin/sh", Args: []string{"-c", script}} }
