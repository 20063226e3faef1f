package worker

import "time"

// A crew decides how many threads compute. The threads of these libraries wait
// for each other by spinning, after every step of a model: when another
// program takes a processor from one of them, all the others burn theirs. Two
// threads beside one busy program were seen to be nine times slower than two
// alone; one thread beside it loses a third. So a thread is let go when the
// threads do not get the time they ask for, and taken back on trial.
type crew struct {
	most, now int
	set       func(n int)

	wall, cpu time.Duration // of the computing since the last decision
	calm      time.Duration // computing since the crew last shrank
	patience  time.Duration // calm it takes until a thread is taken back
	trial     bool          // the last decision took one back
}

const (
	crewWindow   = 300 * time.Millisecond // of computing between decisions
	crewShare    = 0.75                   // of the asked time that must be got
	crewPatience = 2 * time.Second
	crewMost     = time.Minute // most patience
)

// newCrew returns a crew of at most n threads; set is told of every change.
func newCrew(n int, set func(int)) *crew {
	return &crew{most: n, now: n, set: set, patience: crewPatience}
}

// worked notes a piece of computing: how long it took and how much processor
// time the process got meanwhile.
func (c *crew) worked(wall, cpu time.Duration) {
	if c.most < 2 {
		return
	}
	c.wall, c.cpu = c.wall+wall, c.cpu+cpu
	if c.wall < crewWindow {
		return
	}
	share := float64(c.cpu) / float64(c.wall) / float64(c.now)
	c.calm += c.wall
	c.wall, c.cpu = 0, 0
	switch {
	case share < crewShare && c.now > 1:
		if c.trial { // it was too early
			c.patience = min(2*c.patience, crewMost)
		}
		c.to(c.now-1, false)
	case share >= crewShare && c.trial:
		c.trial, c.patience = false, crewPatience
	case c.calm >= c.patience && c.now < c.most:
		c.to(c.now+1, true)
	}
}

func (c *crew) to(n int, trial bool) {
	c.now, c.trial, c.calm = n, trial, 0
	c.set(n)
}
