package agent

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"atoll/app/approval"
	"atoll/app/event"
	"atoll/storage"
)

// An attempt is a call that is tried out before it is decided about. Its zero
// trial means that it was not.
type attempt struct {
	loop  *loop
	call  storage.Call
	trial Trial
	held  bool // its writes are to wait: it works among files of the person's
}

// drop ends a trial that nobody wants and returns what is kept of its run: the
// zero result when there was none.
func (a *attempt) drop(ctx context.Context) (storage.Result, error) {
	if a.trial == nil {
		return storage.Result{}, nil
	}
	res, err := a.trial.Drop(context.WithoutCancel(ctx))
	a.trial = nil
	return res, err
}

// errNothingRan means that a preview came to nothing.
var errNothingRan = errors.New("the code could not be tried out")

// preview runs the call in a layer. The turn's context counts, not that of the
// page that asked for it, which may be closed meanwhile.
func (a *attempt) preview(turn context.Context) func(context.Context) (event.Effects, error) {
	return func(context.Context) (event.Effects, error) {
		// The question is open: there is no second one beside it, and what goes on
		// for very long is stopped.
		t, _, err := a.loop.Cells.Try(turn, a.loop.Chat, a.call, func(storage.Output) {}, nil)
		if err == nil && t == nil {
			err = errNothingRan
		}
		if err != nil {
			return event.Effects{}, err
		}
		a.trial = t
		e := t.Effects()
		e.Needs = approval.After(e)
		return e, nil
	}
}

// before asks whether a call may run at all.
func (l *loop) before(ctx context.Context, c storage.Call, tried *attempt) (approval.Answer, error) {
	mode, policy := l.Mode(), l.Policy()
	q := approval.Question{Mode: mode, Policy: policy, Ask: event.Ask{
		Chat: l.Chat, Turn: l.ID, Call: c, Stage: approval.StageBefore, Reasons: reasons(policy),
	}}
	if mode != approval.ModeNever {
		// What goes out to a network cannot be held back.
		can := policy.Preset != "network" && (mode == approval.ModeAsk || policy.Preset == "offline-project") && l.Cells.CanTry(ctx, l.Chat)
		tried.held = can && policy.Preset == "offline-project"
		q.Needs = approval.Before(mode, policy, c, can)
		if can {
			q.Preview = tried.preview(ctx)
		}
		if len(q.Needs) > 0 {
			l.phase(event.Approving, 0, 0)
		}
	}
	ans, err := l.Gate.Ask(ctx, q)
	return l.still(ans, q), err
}

// reasons say what code can do under a policy.
func reasons(p storage.ChatPolicy) []string {
	switch p.Preset {
	case "offline-project":
		return []string{"It can read the attached files and your project folder, and write in this chat's folder and the project; what it would overwrite or delete there is shown to you first. It has no network."}
	case "network":
		return []string{"It can read the attached files and read and write this chat's folder; it can reach hosts on the Internet through a proxy that keeps a list."}
	}
	return []string{"It can read the attached files and read and write this chat's folder; it has no network."}
}

// carryOut runs an allowed call, or takes the trial for it. Where writes wait, a
// person decides about what needs one; refused is the answer when the writes do
// not stay.
func (l *loop) carryOut(ctx context.Context, c storage.Call, tried *attempt) (res storage.Result, refused *approval.Answer, err error) {
	if tried.trial != nil { // its effects were seen
		res, err = tried.trial.Keep(context.WithoutCancel(ctx))
		return res, nil, err
	}
	show := func(o storage.Output) {
		d := event.Delta{Chat: l.Chat, Turn: l.ID, Call: c.ID, Kind: o.Stream, Text: o.Text}
		if o.Stream == "" {
			d.Kind, d.Output = "display", &o
		}
		l.Show(event.Event{Delta: &d})
	}
	if !tried.held {
		res, err = l.Cells.Run(ctx, l.Chat, c, show, l.longer(c))
		return res, nil, err
	}
	t, res, err := l.Cells.Try(ctx, l.Chat, c, show, l.longer(c))
	if err != nil || t == nil {
		return res, nil, err
	}
	if ctx.Err() != nil { // stopped half-way: nobody has seen what it did
		res, err = t.Drop(context.WithoutCancel(ctx))
		return res, nil, err
	}
	e := t.Effects()
	e.Needs = approval.After(e)
	q := approval.Question{Mode: l.Mode(), Policy: l.Policy(), Ask: event.Ask{
		Chat: l.Chat, Turn: l.ID, Call: c, Stage: approval.StageAfter, Effects: &e, Needs: e.Needs, Reasons: reasons(l.Policy()),
	}}
	if len(e.Needs) > 0 {
		l.phase(event.Approving, 0, 0)
	}
	ans, err := l.Gate.Ask(ctx, q)
	ans = l.still(ans, q)
	stopped := err != nil && ctx.Err() != nil
	ctx = context.WithoutCancel(ctx)
	if stopped {
		res, err = t.Drop(ctx)
		res.Status = "interrupted"
		return res, nil, err
	}
	if err == nil && len(e.Needs) > 0 {
		_, err = l.append(ctx, storage.CallDecided, ans.Decision(c.ID))
	}
	if err != nil || !ans.Allow {
		res, derr := t.Drop(ctx)
		deny(&res, ans)
		return res, &ans, errors.Join(err, derr)
	}
	res, err = t.Keep(ctx)
	return res, nil, err
}

// still takes a person's yes back when what they were asked about is not so any
// more: meanwhile they chose that nothing may run, or another boundary.
func (l *loop) still(a approval.Answer, q approval.Question) approval.Answer {
	if a.Allow && (l.Mode() == approval.ModeNever || !reflect.DeepEqual(l.Policy(), q.Policy)) {
		a.Allow, a.Code, a.Note = false, "", "The boundary of this chat was changed while the question was open; ask again."
	}
	return a
}

// deny makes res the result of a call that was refused.
func deny(res *storage.Result, a approval.Answer) {
	res.Status, res.Note = "denied", strings.TrimSpace(res.Note+" "+a.Note)
}

// longer asks a person whether a call may run on, and waits while it does.
func (l *loop) longer(c storage.Call) Longer {
	return func(ctx context.Context, ran time.Duration) bool {
		policy := l.Policy()
		q := approval.Question{Mode: l.Mode(), Policy: policy, Ask: event.Ask{
			Chat: l.Chat, Turn: l.ID, Call: c, Stage: approval.StageAfter, Reasons: reasons(policy),
			Needs: []event.Need{{Effect: approval.Long, Why: fmt.Sprintf("It has run for %s. Let it run on?", inWords(ran))}},
		}}
		l.phase(event.Approving, 0, 0)
		defer l.phase(event.Running, 0, 0)
		ans, err := l.Gate.Ask(ctx, q)
		if err != nil { // nobody said anything, or it is over
			return false
		}
		_, err = l.append(context.WithoutCancel(ctx), storage.CallDecided, ans.Decision(c.ID))
		return err == nil && ans.Allow // without a store the turn is over
	}
}

// inWords says a time as people do.
func inWords(d time.Duration) string {
	n, unit := int(d.Round(time.Second)/time.Second), "second"
	if d >= 90*time.Second {
		n, unit = int(d.Round(time.Minute)/time.Minute), "minute"
	}
	if n != 1 {
		unit += "s"
	}
	return fmt.Sprintf("%d %s", n, unit)
}
