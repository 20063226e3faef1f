package escape

import (
	"context"
	"errors"
	"strings"

	"atoll/sandbox"
)

// A flood uses up something. Each is bounded by itself, so that it does no harm
// when nothing bounds it, and runs in a sandbox of its own, because that ends.
type flood struct {
	name, plain string
	shell       bool // else Python
	script      string
	limits      sandbox.Limits
	slow        bool
	full        bool // only the full level promises it
}

// survived is what a flood says when it was not stopped.
const survived = "survived"

var allFloods = []flood{}

// floods returns those that can be made here.
func (t *test) floods() []flood {
	var fs []flood
	for _, f := range allFloods {
		if t.harmless || f.slow && t.quick || f.full && t.level != sandbox.LevelFull || !f.shell && t.Python == "" {
			continue
		}
		fs = append(fs, f)
	}
	return fs
}

// flood makes one. There is no run outside: it would load the machine.
func (t *test) flood(ctx context.Context, f flood) error {
	fx := &fixture{facts: map[string]any{}}
	defer fx.close()
	if err := fx.folders(t.Dir); err != nil {
		return err
	}
	p := fx.policy(t)
	p.Limits = f.limits
	c := sandbox.Command{Path: t.Python, Args: []string{"-c", f.script}, Dir: fx.ws}
	if f.shell {
		c.Path = shell
	}
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	out, _, exit, err := t.run(ctx, p, c)
	a := Attempt{Group: "limits", Name: f.name, Plain: f.plain, Result: Stopped, Layer: "limits", Note: string(exit.Cause)}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		a.Result, a.Layer, a.Note = Escaped, "", "it was not stopped in time"
	case err != nil:
		return err
	case strings.Contains(string(out), survived):
		a.Result, a.Layer, a.Note = Escaped, "", strings.TrimSpace(string(out))
	case exit.Detail != "":
		a.Note += ": " + exit.Detail
	case exit.Cause == sandbox.Exited:
		a.Note = strings.TrimSpace(string(out))
	}
	t.add(a)
	return nil
}
