package sandbox

import (
	"context"
	"os"
)

// Level is documented at [Runner]. The first call runs a dozen small programs.
func (r *runner) Level(ctx context.Context) Level {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known != nil {
		return *r.known
	}
	l := r.check(ctx)
	if ctx.Err() != nil { // it was not the machine that failed
		return Level{Name: LevelNone, Guarantees: []Guarantee{{
			Name: "sandbox", Detail: "It was not tried: " + ctx.Err().Error() + ".", Fix: "Try again.",
		}}}
	}
	r.known = &l
	return l
}

// check judges this machine by what programs can do inside and outside.
func (r *runner) check(ctx context.Context) Level {
	home, err := os.UserHomeDir()
	if err != nil {
		return seatbeltLevelOf(nil, err)
	}
	c := &checker{start: r.launch, home: home, connects: []string{
		`/usr/bin/nc -z -w 3 127.0.0.1 "$PORT"`,
		`/usr/bin/nc -U -w 3 "$SOCKET" </dev/null`,
	}}
	return seatbeltLevelOf(c.trials(ctx))
}
