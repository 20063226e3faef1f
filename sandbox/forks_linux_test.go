package sandbox

import "testing"

// TestManyProcessesInARow: the kernel gives the lowest 300 process numbers out
// only once, so a cap below them leaves a long-lived program without any.
func TestManyProcessesInARow(t *testing.T) {
	for level, r := range runners(t) {
		got := run(t, r, Policy{Limits: Limits{Procs: 16}}, sh("i=0; while [ $i -lt 700 ]; do (/bin/true; exit 0) || exit; i=$((i+1)); done; echo $i"))
		if got.out != "700\n" || got.exit.Code != 0 {
			t.Errorf("%s: %+v", level, got)
		}
	}
}
