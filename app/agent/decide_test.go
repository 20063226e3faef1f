package agent_test

import (
	"context"
	"encoding/json"
	"iter"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atoll/app/agent"
	"atoll/app/approval"
	"atoll/app/event"
	"atoll/storage"
)

// nothing is a log without entries.
type nothing struct{}

func (nothing) Since(context.Context, uint64) iter.Seq2[storage.Entry, error] {
	return func(func(storage.Entry, error) bool) {}
}

// What a person is asked, what they say, and what becomes of code and files.
func TestEffectsAreDecidedAbout(t *testing.T) {
	overwrite := event.Effects{Changes: []event.FileChange{{Path: "project/a.csv", Kind: "changed"}}}
	harmless := event.Effects{Changes: []event.FileChange{{Path: "project/new.csv", Kind: "created"}, {Path: "made.csv", Kind: "changed", Own: true}}}
	project := storage.ChatPolicy{Preset: "offline-project", Project: "/p"}
	tests := []struct {
		name    string
		mode    string
		policy  storage.ChatPolicy
		effects event.Effects
		preview bool
		allow   bool
		edit    string
		asked   []string // stage and effects of each question
		ran     []string
		trials  []string
		status  string // of the result
	}{
		{"sealed, auto", approval.ModeAuto, storage.ChatPolicy{}, overwrite, false, true, "", nil, []string{"good"}, nil, "ok"},
		{"sealed, ask", approval.ModeAsk, storage.ChatPolicy{}, overwrite, false, true, "", []string{"before code"}, []string{"good"}, nil, "ok"},
		{"preview and yes: it does not run twice", approval.ModeAsk, storage.ChatPolicy{}, overwrite, true, true, "", []string{"before code"}, []string{"good"}, []string{"kept good"}, "ok"},
		{"preview and no", approval.ModeAsk, storage.ChatPolicy{}, overwrite, true, false, "", []string{"before code"}, []string{"good"}, []string{"dropped good"}, "denied"},
		{"preview and another code", approval.ModeAsk, storage.ChatPolicy{}, overwrite, true, true, "better", []string{"before code"}, []string{"good", "better"}, []string{"dropped good"}, "ok"},
		{"project, nothing of the person's is touched", approval.ModeAuto, project, harmless, false, false, "", nil, []string{"good"}, []string{"kept good"}, "ok"},
		{"project, overwrites, yes", approval.ModeAuto, project, overwrite, false, true, "", []string{"after overwrite"}, []string{"good"}, []string{"kept good"}, "ok"},
		{"project, overwrites, no", approval.ModeAuto, project, overwrite, false, false, "", []string{"after overwrite"}, []string{"good"}, []string{"dropped good"}, "denied"},
		{"network", approval.ModeAuto, storage.ChatPolicy{Preset: "network", Hosts: []string{"example.com"}}, harmless, false, true, "", []string{"before network"}, []string{"good"}, nil, "ok"},
		{"never", approval.ModeNever, project, harmless, false, true, "", nil, nil, nil, "denied"},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			w := &world{t: t, answers: []string{"```good", "It is 12."}, mode: c.mode, policy: c.policy, effects: c.effects,
				cells: map[string]storage.Result{"good": printed("12\n"), "better": printed("12\n")}}
			var asked []string
			bus := event.NewBus(nothing{})
			gate := approval.NewGate(bus, nil)
			ctx, done := context.WithCancel(t.Context())
			watched := make(chan struct{})
			person := func(es []event.Event) error {
				for _, e := range es {
					if e.Ask == nil || !e.Ask.Open {
						continue
					}
					if c.preview && !e.Ask.Previewed {
						if err := gate.Preview(t.Context(), e.Ask.ID); err != nil {
							t.Error(err)
						}
						continue
					}
					line := e.Ask.Stage
					for _, n := range e.Ask.Needs {
						line += " " + n.Effect
					}
					asked = append(asked, line)
					if _, err := gate.Answer(t.Context(), e.Ask.ID, approval.Answer{Allow: c.allow, Code: c.edit}, nil); err != nil {
						t.Error(err)
					}
				}
				return nil
			}
			go func() {
				defer close(watched)
				_ = bus.Watch(ctx, 0, person) // ends with the context
			}()
			for bus.Watchers() == 0 {
				runtime.Gosched()
			}
			body, _ := json.Marshal(storage.User{Text: "compute 3*4"})
			es, _ := w.Append(t.Context(), storage.Entry{Kind: storage.UserSaid, Body: body})
			r := &agent.Runner{Log: w, Gate: gate, Cells: w, Show: func(event.Event) {}}
			_ = r.Run(t.Context(), agent.Turn{ID: "t", Chat: "c", Leaf: es[0].ID, Model: w, Ref: "test/model",
				Mode: func() string { return w.mode }, Policy: func() storage.ChatPolicy { return w.policy }})
			done()
			<-watched
			if d := cmp.Diff(c.asked, asked); d != "" {
				t.Error("asked:", d)
			}
			if d := cmp.Diff(c.ran, w.ran); d != "" {
				t.Error("ran:", d)
			}
			if d := cmp.Diff(c.trials, w.trials); d != "" {
				t.Error("trials:", d)
			}
			i := slices.IndexFunc(w.entries, func(e storage.Entry) bool { return e.Kind == storage.CallEnded })
			var res storage.Result
			if i < 0 || json.Unmarshal(w.entries[i].Body, &res) != nil || res.Status != c.status {
				t.Errorf("result %+v, want %s", res, c.status)
			}
		})
	}
}
