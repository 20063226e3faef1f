package sandbox

import (
	"bufio"
	"bytes"
	"io"
	"testing"

	"golang.org/x/sys/unix"
)

// FuzzReports is about a helper that has fallen to the program: the host takes
// whatever it says.
func FuzzReports(f *testing.F) {
	for _, s := range []string{
		"{\"event\":\"started\",\"facts\":{\"landlock\":7}}\n{\"event\":\"exit\",\"exit\":{\"code\":1}}\n",
		"{\"event\":\"record\"}\n", "{}\n", "x\n", "{\"event\":\"swept\"", "\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		n := 0
		err := readReports(bytes.NewReader(b), func(r report) {
			if n++; r.Event == "" {
				t.Fatal("a report without an event")
			}
		})
		if err == nil && n > bytes.Count(b, []byte("\n")) {
			t.Fatalf("%d reports", n)
		}
	})
}

// FuzzOrder is about the helper's own reading of an order and of commands.
func FuzzOrder(f *testing.F) {
	f.Add([]byte("{\"stage\":\"full\",\"files\":1}\nrecord\nsweep\nkill\n"))
	f.Add([]byte("{\"files\":-1}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := bufio.NewReader(bytes.NewReader(b))
		if o, err := parseOrder(r); err == nil && o.Files < 0 {
			t.Fatalf("%+v", o)
		}
		// No process has the number 0x7ffffff0.
		w := &watcher{limits: Limits{}.Filled(), pids: func() []int { return nil }, book: newLedger()}
		s := sweeper{out: io.Discard, pids: w.pids, hold: func(bool) {}, kill: func(int) { t.Fatal("killed") }}
		if e := obey(0x7ffffff0, r, s, w); e.Cause != Killed {
			t.Fatalf("%+v", e)
		}
	})
}

// TestLongReport shows that a line without an end is not collected.
func TestLongReport(t *testing.T) {
	endless := io.LimitReader(zeros{}, 1<<40)
	if err := readReports(endless, func(report) { t.Error("a report") }); err == nil {
		t.Error("no error")
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { return len(b), nil }

func FuzzAddress(f *testing.F) {
	f.Add([]byte{unix.AF_INET, 0, 0, 80, 192, 0, 2, 1})
	f.Add(append([]byte{unix.AF_INET6, 0, 0, 80}, make([]byte, 24)...))
	f.Fuzz(func(t *testing.T, b []byte) { _ = addrPort(b).String() })
}

// TestMatches compares our reading of the rules with the filter's.
func TestMatches(t *testing.T) {
	rules := append(fullRules(true), watchedCalls()...)
	p, err := assemble(auditArch, hasX32, rules, true)
	if err != nil {
		t.Fatal(err)
	}
	values := []uint64{0, 1, 2, 3, 10, 0xffffffff, 1 << 32, unix.CLONE_NEWUSER, 0o4755, unix.O_CREAT, unix.TIOCSTI, 8}
	asked := 0
	for nr := range lastKnown {
		for _, a := range values {
			for _, b := range values {
				args := [6]uint64{a, b, a, b, a, b}
				first := -1
				for i, r := range rules {
					if r.matches(nr, &args) {
						first = i
						break
					}
				}
				got := simulate(t, p, auditArch, nr, args[:]...)
				want := allow
				if first >= 0 {
					want = rules[first].verdict(true).K
				}
				if got != want {
					t.Fatalf("call %d with %v: the filter says %#x, the rules %#x", nr, args, got, want)
				}
				if want == unix.SECCOMP_RET_USER_NOTIF {
					asked++
					if callName(nr) == "" && !rules[first].pass {
						t.Errorf("call %d has no name", nr)
					}
				}
			}
		}
	}
	if asked == 0 {
		t.Error("nothing is asked about")
	}
}
