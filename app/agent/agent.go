// Package agent runs a turn: ask the model, run the code it writes, and ask
// again until there is an answer that was computed. Every effect goes through
// the interfaces below, so the loop is tested without a model, a process or a
// disk.
package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"atoll/app/approval"
	"atoll/app/event"
	"atoll/app/fault"
	"atoll/llm"
	"atoll/llm/harness"
	"atoll/storage"
)

// Log is what the loop needs of the store.
type Log interface {
	Append(ctx context.Context, es ...storage.Entry) ([]storage.Entry, error)
	Branch(ctx context.Context, chat, leaf string) ([]storage.Entry, error)
	// NewDraft opens the journal of an answer that is being streamed.
	NewDraft(chat, parent string) (Draft, error)
}

// A Draft keeps streamed text safe until its entry is appended.
type Draft interface {
	Write(kind, text string) error
	// Commit appends the entry and removes the draft, as one step.
	Commit(ctx context.Context, e storage.Entry) (storage.Entry, error)
	Discard() error
}

// Longer is asked whether code that has run for very long may go on as long
// again; ctx ends when that does not matter any more.
type Longer = func(ctx context.Context, ran time.Duration) bool

// Cells runs code of a chat, in its kernel, and returns what is kept of it.
type Cells interface {
	// Run runs a call. Without longer, one that goes on for very long is stopped.
	Run(ctx context.Context, chat string, call storage.Call, out func(storage.Output), longer Longer) (storage.Result, error)
	// CanTry reports whether Try works in a chat.
	CanTry(ctx context.Context, chat string) bool
	// Try runs a call whose writes wait. The trial is nil when the call did not
	// begin; its result is then returned.
	Try(ctx context.Context, chat string, call storage.Call, out func(storage.Output), longer Longer) (Trial, storage.Result, error)
}

// A Trial is a run whose writes wait. One of Keep and Drop must be called.
type Trial interface {
	Effects() event.Effects
	// Keep carries the writes out, Drop forgets them. Both return what is kept of
	// the run.
	Keep(ctx context.Context) (storage.Result, error)
	Drop(ctx context.Context) (storage.Result, error)
}

// Gate decides whether a call may run, and its effects stay.
type Gate interface {
	Ask(ctx context.Context, q approval.Question) (approval.Answer, error)
}

// A Runner runs turns.
type Runner struct {
	Log   Log
	Gate  Gate
	Cells Cells
	// Show gets every event of a turn, in order.
	Show func(event.Event)
}

// A Turn is one person's request and all that follows from it.
type Turn struct {
	ID, Chat string
	Leaf     string        // entry of the request
	Mode     func() string // approval mode now; a person can change it meanwhile
	// Policy returns the boundary of the chat as it is chosen now.
	Policy func() storage.ChatPolicy
	Model  llm.Model
	Ref    string // the model's reference, kept with the answers
}

// Bounds of one turn. A small model that has not got there by then will not.
const (
	maxRounds = 10   // model calls
	maxSame   = 3    // times the same error is met before giving up
	maxOutput = 6000 // tokens generated
)

// Run runs t to its end. Whatever happens, every call the model made has
// exactly one CallEnded entry when Run returns, and a turn without an answer
// ends with a Failed entry that says why, a stop included; that fault is
// returned.
func (r *Runner) Run(ctx context.Context, t Turn) error {
	l := &loop{Runner: r, Turn: t}
	if err := l.run(ctx); err != nil {
		return l.fail(ctx, err)
	}
	return nil
}

// Fail ends a turn that could not even begin.
func (r *Runner) Fail(ctx context.Context, t Turn, err error) error {
	return (&loop{Runner: r, Turn: t}).fail(ctx, err)
}

func (l *loop) fail(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		err = ctx.Err() // what broke because of the stop is no news
	}
	f := fault.Of(err)
	body := f.Body()
	if _, aerr := l.append(context.WithoutCancel(ctx), storage.Failed, body); aerr != nil {
		return fmt.Errorf("%w: %w", ErrUnkept, errors.Join(aerr, f))
	}
	return f
}

// ErrUnkept means that not even the reason why a turn ended could be kept.
var ErrUnkept = errors.New("the end of the turn could not be kept")

// loop is the state of one turn.
type loop struct {
	*Runner
	Turn

	plan   plan
	output int // tokens generated so far
}

func (l *loop) run(ctx context.Context) error {
	branch, err := l.Log.Branch(ctx, l.Chat, l.Leaf)
	if err != nil {
		return err
	}
	l.plan = newPlan(branch, l.Mode())
	for range maxRounds {
		branch, err := l.Log.Branch(ctx, l.Chat, l.Leaf)
		if err != nil {
			return err
		}
		answer, err := l.ask(ctx, branch)
		if errors.Is(err, llm.ErrMalformed) && l.plan.malformed(err) {
			continue
		}
		if err != nil {
			return err
		}
		if len(answer.Calls) == 0 {
			if answer.Rejected == "" {
				return nil
			}
			continue
		}
		stop, err := l.do(ctx, answer.Calls)
		if err != nil || stop {
			return err
		}
		if l.output > maxOutput {
			break
		}
	}
	return l.fallback(ctx)
}

// ask gets one answer from the model, shows it as it comes, and keeps it.
func (l *loop) ask(ctx context.Context, branch []storage.Entry) (storage.Assistant, error) {
	req := &llm.Request{Messages: messages(branch, l.plan), RequireCall: l.plan.needCode, Sampling: l.plan.sampling()}
	draft, err := l.Log.NewDraft(l.Chat, l.Leaf)
	if err != nil {
		return storage.Assistant{}, err
	}
	info := l.Model.Info()
	body := storage.Assistant{Model: l.Ref, Harness: info.Harness}
	start := time.Now()
	var text strings.Builder
	var genErr error
	phase := event.Phase("")
	show := func(p event.Phase, done float64) {
		if p != phase || done > 0 {
			phase = p
			l.phase(p, done, 0)
		}
	}
	for d, err := range l.Model.Generate(ctx, req) {
		if err != nil {
			genErr = err
			break
		}
		switch {
		case d.Load != nil && d.Load.Phase == "load":
			show(event.Loading, d.Load.Done)
		case d.Load != nil:
			show(event.Reading, d.Load.Done)
		case d.Text != "" || d.Code != "":
			show(event.Answering, 0)
			kind, s := "text", d.Text
			if d.Code != "" {
				kind, s = "code", d.Code
			} else {
				text.WriteString(s)
			}
			if err := draft.Write(kind, s); err != nil {
				genErr = err
			}
			l.Show(event.Event{Delta: &event.Delta{Chat: l.Chat, Turn: l.ID, Kind: kind, Text: s}})
		case d.Call != nil:
			c, err := harness.ReadCodeCall(*d.Call)
			if err != nil {
				genErr = err
				break
			}
			body.Calls = append(body.Calls, storage.Call{ID: uuid.NewString(), Language: c.Language, Code: c.Code})
		case d.Done != nil:
			u := d.Done.Usage
			body.Stop = string(d.Done.Stop)
			body.Usage = storage.Usage{Prompt: u.Prompt, Cached: u.Cached, Output: u.Output}
			l.output += u.Output
			l.phase(event.Answering, 0, u.Prompt+u.Output)
		}
		if genErr != nil {
			break
		}
	}
	body.Text = strings.TrimSpace(text.String())
	body.Usage.Seconds = time.Since(start).Seconds()
	if genErr == nil && len(body.Calls) == 0 {
		body.Rejected, body.Unsupported = l.plan.accept(body.Text, branch)
	}
	if genErr != nil {
		body.Calls = nil // what the model did not finish asking is not done
		body.Interrupted = true
	}
	if body.Text == "" && len(body.Calls) == 0 {
		return body, errors.Join(genErr, draft.Discard())
	}
	e, err := l.entry(storage.AssistantSaid, body)
	if err != nil {
		return body, err
	}
	e, err = draft.Commit(context.WithoutCancel(ctx), e)
	if err != nil {
		return body, errors.Join(genErr, err)
	}
	l.kept(e)
	return body, genErr
}

// do decides about the calls and runs those that are allowed. stop ends the turn.
func (l *loop) do(ctx context.Context, calls []storage.Call) (stop bool, err error) {
	for i, c := range calls {
		if stop {
			if err := l.end(ctx, storage.Result{Call: c.ID, Status: "denied", Note: "not run: the call before it was not"}); err != nil {
				return true, err
			}
			continue
		}
		if stop, err = l.call(ctx, c); err != nil {
			for _, rest := range calls[i+1:] {
				err = errors.Join(err, l.end(ctx, storage.Result{Call: rest.ID, Status: "interrupted", Note: "stopped before it ran"}))
			}
			return true, err
		}
	}
	return stop, nil
}

func (l *loop) call(ctx context.Context, c storage.Call) (stop bool, err error) {
	if l.plan.ranAlready(c.Code) {
		l.plan.repeated()
		return false, l.end(ctx, storage.Result{Call: c.ID, Status: "denied", Note: "this code was run before; it is not run again"})
	}
	tried := &attempt{loop: l, call: c}
	ans, err := l.before(ctx, c, tried)
	if err != nil {
		_, derr := tried.drop(ctx)
		return true, errors.Join(err, derr, l.end(ctx, storage.Result{Call: c.ID, Status: "interrupted", Note: "stopped before it was approved"}))
	}
	if _, err := l.append(context.WithoutCancel(ctx), storage.CallDecided, ans.Decision(c.ID)); err != nil {
		_, derr := tried.drop(ctx)
		return true, errors.Join(err, derr)
	}
	if !ans.Allow {
		l.plan.denied(ans.Note)
		res, derr := tried.drop(ctx)
		res.Call = c.ID
		deny(&res, ans)
		err := errors.Join(derr, l.end(ctx, res))
		return ans.Note == "" || ans.By == "policy", err
	}
	var before storage.Result // of the trial of code that was edited then
	if ans.Code != "" && ans.Code != c.Code {
		if before, err = tried.drop(ctx); err != nil {
			return true, errors.Join(err, l.end(ctx, storage.Result{Call: c.ID, Status: "died", Note: fault.Of(err).Title}))
		}
		c.Code = ans.Code
	}
	l.phase(event.Running, 0, 0)
	res, refused, err := l.carryOut(ctx, c, tried)
	res.Call, res.Note = c.ID, strings.TrimSpace(before.Note+" "+res.Note)
	if err != nil {
		res.Status, res.Note = "died", fault.Of(err).Title
	}
	if kerr := l.end(ctx, res); err != nil || kerr != nil {
		return true, errors.Join(err, kerr)
	}
	if ctx.Err() != nil {
		return true, ctx.Err()
	}
	if refused != nil {
		l.plan.denied(refused.Note)
		return refused.Note == "", nil
	}
	if gaveUp := l.plan.result(c, res); gaveUp {
		return true, ErrStuck.With(oneLine(res))
	}
	return false, nil
}

// fallback ends a turn whose rounds are used up: with what the code printed,
// if it printed something, because that was computed.
func (l *loop) fallback(ctx context.Context) error {
	out := strings.TrimSpace(l.plan.lastOutput)
	if out == "" {
		return ErrRounds
	}
	text := "The code printed:\n\n```\n" + strings.ReplaceAll(out, "```", "'''") + "\n```"
	_, err := l.append(ctx, storage.AssistantSaid, storage.Assistant{Text: text, Model: l.Ref, Harness: l.Model.Info().Harness, Stop: "length"})
	return err
}

var (
	// ErrRounds means the turn was cut off by its bounds.
	ErrRounds = fault.New("agent.rounds", "The model did not get to an answer in the steps it has", "Ask again in other words or in smaller steps, or choose a larger model.")
	// ErrStuck means the same error came back again and again.
	ErrStuck = fault.New("agent.stuck", "The model could not repair its code", "Ask again in other words, edit the code yourself and run it, or choose a larger model.")
)

func (l *loop) phase(p event.Phase, done float64, used int) {
	l.Show(event.Event{Turn: &event.Turn{Chat: l.Chat, Turn: l.ID, Phase: p, Done: done, Model: l.Ref, Context: l.Model.Info().Context, Used: used}})
}

func (l *loop) end(ctx context.Context, res storage.Result) error {
	_, err := l.append(context.WithoutCancel(ctx), storage.CallEnded, res)
	return err
}

func (l *loop) entry(k storage.Kind, body any) (storage.Entry, error) {
	b, err := json.Marshal(body)
	if err != nil {
		return storage.Entry{}, fmt.Errorf("write %s entry: %w", k, err)
	}
	e := storage.Entry{Parent: l.Leaf, Chat: l.Chat, Kind: k, Body: b}
	if res, ok := body.(storage.Result); ok {
		e.Blobs = res.BlobHashes()
	}
	return e, nil
}

func (l *loop) append(ctx context.Context, k storage.Kind, body any) (storage.Entry, error) {
	e, err := l.entry(k, body)
	if err != nil {
		return e, err
	}
	es, err := l.Log.Append(ctx, e)
	if err != nil {
		return e, err
	}
	l.kept(es[0])
	return es[0], nil
}

// kept moves the leaf and shows the entry.
func (l *loop) kept(e storage.Entry) {
	l.Leaf = e.ID
	l.Show(event.Event{Seq: e.Seq, Entry: &e})
}
