//go:build unix

package kernel

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A run whose time is up goes on while somebody is asked, and as long again for
// each yes.
func TestOvertime(t *testing.T) {
	const forever = "import time\nwhile True: time.sleep(0.01)"
	for _, c := range []struct {
		name  string
		code  string
		yes   int  // answers yes so often, then no
		mute  bool // then says nothing
		want  Status
		asked int
	}{
		{"it is done before", "1", 0, false, OK, 0},
		{"no", forever, 0, false, TimedOut, 1},
		{"yes, yes, no", forever, 2, false, TimedOut, 3},
		{"nobody answers", forever, 1, true, TimedOut, 2},
		{"it ends while it is asked", "import time; time.sleep(0.6)", 0, true, OK, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := options(t)
			o.Timeout = 400 * time.Millisecond
			var asked, open atomic.Int32
			last := time.Duration(0)
			o.Overtime = func(ctx context.Context, ran time.Duration) bool {
				open.Add(1)
				defer open.Add(-1)
				if ran < o.Timeout || ran < last {
					t.Errorf("it ran for %v", ran)
				}
				last = ran
				if n := asked.Add(1); int(n) <= c.yes {
					return true
				}
				if c.mute {
					<-ctx.Done()
				}
				return false
			}
			s := open1(t, o, "kept = 1")
			res, err := s.Run(t.Context(), c.code, func(Output) {})
			if err != nil || res.Status != c.want || int(asked.Load()) != c.asked {
				t.Errorf("%v %+v, asked %d times", err, res, asked.Load())
			}
			if open.Load() != 0 {
				t.Error("a question is open after the run")
			}
			if c.want == TimedOut && !strings.Contains(res.Note, "Variables are kept") {
				t.Errorf("note %q", res.Note)
			}
			if got := exec1(t, s, "kept"); got.Value != "1" {
				t.Errorf("the next run: %+v", got.Result)
			}
		})
	}
}

// A stop counts as one, also while somebody is asked.
func TestStopDuringOvertime(t *testing.T) {
	o := options(t)
	o.Timeout = 300 * time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o.Overtime = func(asked context.Context, _ time.Duration) bool {
		cancel()
		<-asked.Done()
		return false
	}
	s := open(t, o)
	if res, err := s.Run(ctx, "import time\nwhile True: time.sleep(0.01)", func(Output) {}); err != nil || res.Status != Interrupted {
		t.Errorf("%v %+v", err, res)
	}
}

// open1 opens a session that has run code.
func open1(t *testing.T, o Options, code string) *Python {
	t.Helper()
	s := open(t, o)
	exec1(t, s, code)
	return s
}
