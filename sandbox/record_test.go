package sandbox

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestSub(t *testing.T) {
	ptrace := func(n int64) Denial { return Denial{Kind: "call", What: "ptrace", Layer: "seccomp", Count: n} }
	host := func(n int64) Denial { return Denial{Kind: "network", What: "a.example:443", Layer: "proxy", Count: n} }
	earlier := Record{Layers: []string{"seccomp"}, Denials: []Denial{ptrace(2)}, Usage: Usage{Wall: time.Second, CPU: 10, Memory: 5, Procs: 2, Written: 100, Sent: 1, Received: 2}}
	later := Record{Layers: []string{"seccomp"}, Denials: []Denial{ptrace(2), host(3)}, Usage: Usage{Wall: 3 * time.Second, CPU: 30, Memory: 7, Procs: 2, Written: 50, Sent: 4, Received: 8, Hosts: []string{"b.example:443"}}}
	want := Record{Layers: []string{"seccomp"}, Denials: []Denial{host(3)}, Usage: Usage{Wall: 2 * time.Second, CPU: 20, Memory: 7, Procs: 2, Sent: 3, Received: 6, Hosts: []string{"b.example:443"}}}
	if d := cmp.Diff(want, later.Sub(earlier)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(later, later.Sub(Record{})); d != "" {
		t.Error(d)
	}
}
