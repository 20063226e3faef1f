package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atoll/app/agent"
	"atoll/app/approval"
	"atoll/app/event"
	"atoll/llm"
	"atoll/llm/harness"
	"atoll/storage"
)

// world is a chat in memory with a scripted model and scripted cells.
type world struct {
	t        *testing.T
	entries  []storage.Entry
	answers  []string                  // what the model says, in order; "```" begins code
	requests []*llm.Request            // what the model was asked
	cells    map[string]storage.Result // by code
	ran      []string
	mode     string
	stopAt   string // code at which the person stops the turn
	cancel   context.CancelFunc
	policy   storage.ChatPolicy
	effects  event.Effects // of every trial
	trials   []string      // what became of them
}

// trial is a run whose writes wait.
type trial struct {
	w    *world
	code string
}

func (w *world) CanTry(context.Context, string) bool { return true }
func (w *world) Try(_ context.Context, _ string, c storage.Call, _ func(storage.Output), _ agent.Longer) (agent.Trial, storage.Result, error) {
	w.ran = append(w.ran, c.Code)
	return &trial{w, c.Code}, storage.Result{}, nil
}
func (t *trial) Effects() event.Effects { return t.w.effects }
func (t *trial) Keep(context.Context) (storage.Result, error) {
	t.w.trials = append(t.w.trials, "kept "+t.code)
	return t.w.cells[t.code], nil
}
func (t *trial) Drop(context.Context) (storage.Result, error) {
	t.w.trials = append(t.w.trials, "dropped "+t.code)
	return t.w.cells[t.code], nil
}

func (w *world) Append(_ context.Context, es ...storage.Entry) ([]storage.Entry, error) {
	for i := range es {
		if n := len(w.entries); n > 0 && es[i].Parent != w.entries[n-1].ID {
			w.t.Errorf("entry %d has parent %q, want %q", n, es[i].Parent, w.entries[n-1].ID)
		}
		es[i].Seq = uint64(len(w.entries) + 1)
		es[i].ID = fmt.Sprint("e", es[i].Seq)
		w.entries = append(w.entries, es[i])
	}
	return es, nil
}
func (w *world) Branch(context.Context, string, string) ([]storage.Entry, error) {
	return w.entries, nil
}
func (w *world) NewDraft(string, string) (agent.Draft, error) { return &draft{w: w}, nil }

type draft struct {
	w    *world
	text string
}

func (d *draft) Write(_, text string) error { d.text += text; return nil }
func (d *draft) Discard() error             { return nil }
func (d *draft) Commit(ctx context.Context, e storage.Entry) (storage.Entry, error) {
	es, err := d.w.Append(ctx, e)
	return es[0], err
}

func (w *world) Info() llm.Info                                   { return llm.Info{Harness: "test", Context: 4096} }
func (w *world) Count(context.Context, *llm.Request) (int, error) { return 1, nil }
func (w *world) Generate(ctx context.Context, req *llm.Request) llm.Stream {
	return func(yield func(llm.Delta, error) bool) {
		w.requests = append(w.requests, req)
		if len(w.answers) == 0 {
			yield(llm.Delta{}, errors.New("the script is over"))
			return
		}
		a := w.answers[0]
		w.answers = w.answers[1:]
		if a == "malformed" {
			yield(llm.Delta{}, llm.ErrMalformed)
			return
		}
		if a == "crash" {
			yield(llm.Delta{Text: "half an"}, nil)
			yield(llm.Delta{}, llm.ErrCrashed)
			return
		}
		d := llm.Delta{Text: a}
		if code, ok := strings.CutPrefix(a, "```"); ok {
			d = llm.Delta{Call: harness.NewCodeCall("", "python", code)}
		}
		_ = yield(d, nil) && yield(llm.Delta{Done: &llm.Done{Stop: llm.StopEnd, Usage: llm.Usage{Output: 10}}}, nil)
	}
}

func (w *world) Run(ctx context.Context, _ string, c storage.Call, out func(storage.Output), _ agent.Longer) (storage.Result, error) {
	w.ran = append(w.ran, c.Code)
	if c.Code == w.stopAt {
		w.cancel()
		return storage.Result{Status: "interrupted"}, nil
	}
	r, ok := w.cells[c.Code]
	if !ok {
		w.t.Errorf("unexpected code %q", c.Code)
	}
	return r, nil
}

func printed(s string) storage.Result {
	return storage.Result{Status: "ok", Outputs: []storage.Output{{Stream: "stdout", Text: s}}, Digest: s}
}

func raised(name, msg, hint string) storage.Result {
	return storage.Result{Status: "error", Error: &storage.Error{Name: name, Message: msg, Hint: hint}}
}

func at(line int, r storage.Result) storage.Result {
	r.Error.Line = line
	return r
}

// say runs a turn and returns a line for each entry.
func (w *world) say(text string, files ...storage.File) ([]string, error) {
	body, _ := json.Marshal(storage.User{Text: text, Files: files})
	parent := ""
	if n := len(w.entries); n > 0 {
		parent = w.entries[n-1].ID
	}
	es, _ := w.Append(w.t.Context(), storage.Entry{Kind: storage.UserSaid, Parent: parent, Body: body})
	if w.mode == "" {
		w.mode = approval.ModeAuto
	}
	var ctx context.Context
	ctx, w.cancel = context.WithCancel(w.t.Context())
	defer w.cancel()
	r := &agent.Runner{Log: w, Gate: approval.NewGate(event.NewBus(nil), nil), Cells: w, Show: func(event.Event) {}}
	err := r.Run(ctx, agent.Turn{ID: "t", Chat: "c", Leaf: es[0].ID, Mode: func() string { return w.mode }, Policy: func() storage.ChatPolicy { return w.policy }, Model: w, Ref: "test/model"})
	var lines []string
	for _, e := range w.entries {
		var a storage.Assistant
		var res storage.Result
		var f storage.Fault
		switch e.Kind {
		case storage.AssistantSaid:
			_ = json.Unmarshal(e.Body, &a)
			line := a.Text
			for _, c := range a.Calls {
				line += "[" + c.Code + "]"
			}
			if a.Rejected != "" {
				line += " (rejected)"
			}
			if a.Interrupted {
				line += " (interrupted)"
			}
			lines = append(lines, line)
		case storage.CallEnded:
			_ = json.Unmarshal(e.Body, &res)
			lines = append(lines, res.Status)
		case storage.Failed:
			_ = json.Unmarshal(e.Body, &f)
			lines = append(lines, "fault "+f.Code)
		}
	}
	return lines, err
}

var sales = storage.File{Name: "sales.csv", Card: "File 'sales.csv': 3 rows."}

func TestTurn(t *testing.T) {
	ok := map[string]storage.Result{"good": printed("North 1234.56\n"), "silent": printed(""), "bad": raised("KeyError", "'x'", "Columns of df: ['region']"), "bad2": raised("KeyError", "'x'", "")}
	tests := []struct {
		name    string
		ask     string
		answers []string
		mode    string
		want    []string
		fails   bool
	}{
		{"computed", "best region?", []string{"```good", "North, with 1,234.56."}, "", []string{"[good]", "ok", "North, with 1,234.56."}, false},
		{"repaired", "best region?", []string{"```bad", "```good", "North, 1234.6"}, "", []string{"[bad]", "error", "[good]", "ok", "North, 1234.6"}, false},
		{"nothing printed is no result", "best?", []string{"```silent", "```good", "North"}, "", []string{"[silent]", "ok", "[good]", "ok", "North"}, false},
		{"same error gives up", "best?", []string{"```bad", "```bad2", "```bad"}, "", []string{"[bad]", "error", "[bad2]", "error", "[bad]", "error", "fault agent.stuck"}, true},
		{"program written again is not run again", "best?", []string{"```good", "```good", "North"}, "", []string{"[good]", "ok", "[good]", "denied", "North"}, false},
		{"invented number is rejected", "best?", []string{"```good", "North, 9999.", "North, 1234.56"}, "", []string{"[good]", "ok", "North, 9999. (rejected)", "North, 1234.56"}, false},
		{"question said again is rejected", "best region?", []string{"```good", "Best region?", "North, 1234.56"}, "", []string{"[good]", "ok", "Best region? (rejected)", "North, 1234.56"}, false},
		{"malformed is asked again", "best?", []string{"malformed", "```good", "North"}, "", []string{"[good]", "ok", "North"}, false},
		{"crash keeps the text", "best?", []string{"crash"}, "", []string{"half an (interrupted)", "fault model.crashed"}, true},
		{"never runs nothing", "best?", []string{"```good"}, approval.ModeNever, []string{"[good]", "denied"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := &world{t: t, answers: tt.answers, cells: ok, mode: tt.mode}
			got, err := w.say(tt.ask, sales)
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("entries (-want +got):\n%s", d)
			}
			if (err != nil) != tt.fails {
				t.Errorf("error %v", err)
			}
			if len(w.answers) > 0 {
				t.Errorf("model was not asked for %q", w.answers)
			}
		})
	}
}

func TestStopKeepsOneResultForEachCall(t *testing.T) {
	w := &world{t: t, answers: []string{"```slow"}, stopAt: "slow"}
	got, err := w.say("best?", sales)
	if d := cmp.Diff([]string{"[slow]", "interrupted", "fault stopped"}, got); d != "" || !errors.Is(err, context.Canceled) {
		t.Errorf("entries (-want +got):\n%s\nerror %v", d, err)
	}
}

// TestAfterAStop: the question that was stopped is not answered with the next.
func TestAfterAStop(t *testing.T) {
	w := &world{t: t, answers: []string{"```slow"}, stopAt: "slow"}
	if _, err := w.say("best?", sales); err == nil {
		t.Fatal("not stopped")
	}
	w.answers, w.stopAt = []string{"It comes and goes."}, ""
	if _, err := w.say("hello, what of the tide?"); err != nil {
		t.Fatal(err)
	}
	var roles []llm.Role
	for _, m := range w.requests[1].Messages {
		roles = append(roles, m.Role)
	}
	if d := cmp.Diff([]llm.Role{llm.User, llm.Assistant, llm.User}, roles); d != "" {
		t.Errorf("turns (-want +got):\n%s", d)
	}
	if last := w.requests[1].Messages[2].Text; last != "hello, what of the tide?" {
		t.Errorf("the model is asked %q", last)
	}
}

func TestWhatTheModelSees(t *testing.T) {
	w := &world{t: t, answers: []string{"```bad", "```good", "North"}, cells: map[string]storage.Result{
		"bad":  at(1, raised("KeyError", "'Price'", "Columns of df: ['price']. Did you mean 'price'?")),
		"good": printed("North 12\n"),
	}}
	if _, err := w.say("best region?", sales); err != nil {
		t.Fatal(err)
	}
	if len(w.requests) != 3 || !w.requests[0].RequireCall || !w.requests[1].RequireCall || w.requests[2].RequireCall {
		t.Fatalf("%d requests; code must be required until a program ran", len(w.requests))
	}
	first := w.requests[0].Messages[0].Text
	if !strings.HasPrefix(first, sales.Card) || !strings.HasSuffix(first, "best region?") {
		t.Errorf("first message %q", first)
	}
	second := w.requests[1].Messages
	last := second[len(second)-1]
	for _, want := range []string{"KeyError: 'Price'", "Did you mean 'price'?", "The line was: bad"} {
		if !strings.Contains(last.Text, want) {
			t.Errorf("error as the model sees it: %q lacks %q", last.Text, want)
		}
	}
	if len(second) != 2 || last.Role != llm.User {
		t.Errorf("the failed program is shown: %+v", second)
	}
	third := w.requests[2].Messages
	if d := cmp.Diff(second, third[:2]); d != "" {
		t.Errorf("what the model saw before has changed (-before +after):\n%s", d)
	}
}

func TestTalkNeedsNoCode(t *testing.T) {
	w := &world{t: t, answers: []string{"Hello! Drop a file and ask."}}
	got, err := w.say("Hi, who are you?")
	if err != nil || len(got) != 1 || w.requests[0].RequireCall {
		t.Errorf("%q, %v, code required: %v", got, err, w.requests[0].RequireCall)
	}
}
