package approval_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"atoll/app/approval"
	"atoll/app/event"
	"atoll/storage"
)

func TestPolicyAnswersAtOnce(t *testing.T) {
	g := approval.NewGate(event.NewBus(nil), nil)
	for mode, allow := range map[string]bool{approval.ModeAuto: true, approval.ModeNever: false} {
		a, err := g.Ask(t.Context(), approval.Question{Mode: mode})
		if err != nil || a.Allow != allow || a.By != "policy" {
			t.Errorf("%s: %+v, %v", mode, a, err)
		}
	}
}

// asked is a question in a chat that asks each time.
func asked(a event.Ask) approval.Question {
	a.Needs = approval.Before(approval.ModeAsk, storage.ChatPolicy{}, a.Call, false)
	return approval.Question{Mode: approval.ModeAsk, Ask: a}
}

func TestPersonAnswersOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := approval.NewGate(event.NewBus(nil), nil)
		got := make(chan approval.Answer)
		go func() {
			a, err := g.Ask(t.Context(), asked(event.Ask{Chat: "c", Call: storage.Call{Code: "x"}}))
			if err != nil {
				t.Error(err)
			}
			got <- a
		}()
		synctest.Wait()
		open := g.Open("c")
		if len(open) != 1 || len(g.Open("other")) != 0 {
			t.Fatalf("open questions %+v", open)
		}
		if chat, err := g.Answer(t.Context(), open[0].ID, approval.Answer{Allow: true, Code: "y"}, nil); err != nil || chat != "c" {
			t.Errorf("answer: %q, %v", chat, err)
		}
		if _, err := g.Answer(t.Context(), open[0].ID, approval.Answer{}, nil); !errors.Is(err, approval.ErrNoAsk) {
			t.Errorf("second answer: %v", err)
		}
		if a := <-got; !a.Allow || a.By != "person" || a.Code != "y" {
			t.Errorf("got %+v", a)
		}
	})
}

func TestStopWithdrawsTheQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := approval.NewGate(event.NewBus(nil), nil)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			_, err := g.Ask(ctx, asked(event.Ask{Chat: "c"}))
			done <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if len(g.Open("c")) != 0 {
			t.Error("the question is still open")
		}
	})
}
