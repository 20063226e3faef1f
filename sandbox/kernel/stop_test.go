//go:build unix

package kernel

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestStop stops programs; the state is kept where they can be interrupted.
func TestStop(t *testing.T) {
	s := open(t, options(t))
	for _, c := range []struct {
		name, code string
		kept       bool
	}{
		{"silent loop", "n = 0\nwhile True: n += 1", true},
		{"loud loop", "while True: print('x' * 200)", true},
		{"raw loop", "import os\nwhile True: os.write(1, b'y' * 4096)", true},
		{"sleep", "import time; time.sleep(60)", true},
		{"child", "import subprocess; subprocess.run(['sleep', '60'])", true},
		{"await", "import asyncio; await asyncio.sleep(60)", true},
		{"swallows once", "import time\ntry:\n    time.sleep(60)\nexcept BaseException: pass\ntime.sleep(60)", true},
		{"swallows all", "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass", false},
		{"stopped itself", "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			exec1(t, s, "kept = 1")
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			got := execCtx(t, ctx, s, c.code)
			want := Interrupted
			if !c.kept {
				want = Died
			}
			if got.Status != want {
				t.Fatalf("status %q, note %q", got.Status, got.Note)
			}
			if next := exec1(t, s, "'kept' in globals()"); next.Value != map[bool]string{true: "True", false: "False"}[c.kept] {
				t.Errorf("state kept: %s", next.Value)
			}
		})
	}
}

func TestTimeout(t *testing.T) {
	o := options(t)
	o.Timeout = 300 * time.Millisecond
	s := open(t, o)
	exec1(t, s, "kept = 1")
	got := exec1(t, s, "import time\ntime.sleep(60)")
	if got.Status != TimedOut || got.Exit != nil || got.Error == nil || got.Error.Line != 2 {
		t.Errorf("got %+v, error %+v", got.Result, got.Error)
	}
	if next := exec1(t, s, "kept"); next.Value != "1" {
		t.Errorf("state is gone: %+v", next.Result)
	}
	got = exec1(t, s, "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\ntime.sleep(60)")
	if got.Status != TimedOut || got.Exit == nil || !strings.Contains(got.Note, "lost") {
		t.Errorf("got %+v", got.Result)
	}
}

func TestStopBeforeStart(t *testing.T) {
	s := open(t, options(t))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	res, err := s.Run(ctx, "1", nil)
	if err != nil || res.Status != Interrupted {
		t.Errorf("got %+v, %v", res, err)
	}
}

func TestClose(t *testing.T) {
	s := open(t, options(t))
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	done := make(chan Result)
	begun := make(chan struct{})
	var once sync.Once
	go func() {
		res, _ := s.Run(context.WithoutCancel(t.Context()), "print(1, flush=True)\nimport time; time.sleep(60)", func(Output) { once.Do(func() { close(begun) }) })
		done <- res
	}()
	<-begun
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if res := <-done; res.Status != Died {
		t.Errorf("the run that went on: %+v", res)
	}
	if _, err := s.Run(t.Context(), "1", nil); !errors.Is(err, ErrClosed) {
		t.Errorf("run after Close: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
