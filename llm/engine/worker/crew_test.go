package worker

import (
	"testing"
	"time"
)

// machine is a computer with n processors and programs that want them too.
type machine struct{ processors, others float64 }

// work lets the crew compute for d and returns how many threads it had at the
// end. Processors are shared equally, as a fair scheduler does.
func (m *machine) work(c *crew, d time.Duration) int {
	const step = 100 * time.Millisecond
	for ; d > 0; d -= step {
		threads := float64(c.now)
		got := min(threads, m.processors*threads/max(m.processors, threads+m.others))
		c.worked(step, time.Duration(got*float64(step)))
	}
	return c.now
}

func TestCrew(t *testing.T) {
	m := &machine{processors: 2}
	changes := 0
	c := newCrew(2, func(int) { changes++ })
	if n := m.work(c, 10*time.Second); n != 2 || changes != 0 {
		t.Errorf("alone: %d threads after %d changes", n, changes)
	}
	m.others = 1
	if n := m.work(c, time.Second); n != 1 {
		t.Errorf("beside a busy program: %d threads", n)
	}
	changes = 0
	m.work(c, 2*time.Minute)
	if changes > 20 {
		t.Errorf("%d changes in two busy minutes: it never settles", changes)
	}
	m.others = 0
	if n := m.work(c, 2*time.Minute); n != 2 {
		t.Errorf("alone again: %d threads", n)
	}
	m.others = 40
	if n := m.work(c, 10*time.Second); n != 1 {
		t.Errorf("on a machine that drowns: %d threads", n)
	}
}
