package fault

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"atoll/llm"
)

// TestTable: every row says what happened and has an exit status and an HTTP
// status; a code has one meaning.
func TestTable(t *testing.T) {
	seen := map[string]string{}
	for _, row := range table {
		f := row.f
		if f.Code == "" || f.Title == "" || f.exit == 0 || f.status == 0 {
			t.Errorf("row %v is not complete: %+v", row.is, f)
		}
		if f.Hint == "" && f.Code != "stopped" {
			t.Errorf("%s does not say what to do", f.Code)
		}
		if old, ok := seen[f.Code]; ok && f.Code != "model.unknown" {
			t.Errorf("code %s says both %q and %q", f.Code, old, f.Title)
		}
		seen[f.Code] = f.Title
	}
}

func TestOf(t *testing.T) {
	own := New("own", "My title", "Do this.")
	tests := []struct {
		err        error
		code, text string
		exit       int
	}{
		{fmt.Errorf("%w: 4.1 GB are needed, 2.0 GB are free", llm.ErrNoMemory), "model.memory", "4.1 GB are needed, 2.0 GB are free", ExitModel},
		{fmt.Errorf("turn: %w", context.Canceled), "stopped", "turn: context canceled", ExitStopped},
		{context.Canceled, "stopped", "", ExitStopped},
		{fmt.Errorf("wrapped: %w", own), "own", "", ExitFailed},
		{own.With("in detail"), "own", "in detail", ExitFailed},
		{errors.New("something odd"), "internal", "something odd", ExitFailed},
	}
	for _, tt := range tests {
		f := Of(tt.err)
		if f.Code != tt.code || f.Detail != tt.text || f.Exit() != tt.exit {
			t.Errorf("Of(%v) = %s, detail %q, exit %d", tt.err, f.Code, f.Detail, f.Exit())
		}
		sent, err := Read(f.JSON())
		if err != nil || sent.Code != f.Code || sent.Detail != f.Detail {
			t.Errorf("sent %s arrived as %+v, %v", f.JSON(), sent, err)
		}
	}
	if Of(nil) != nil {
		t.Error("no error is a fault")
	}
	if !errors.Is(own.With("x"), own) {
		t.Error("a fault with a detail is another fault")
	}
}

// TestExitTravels: a fault that crossed a door ends a command with the same
// status.
func TestExitTravels(t *testing.T) {
	for _, row := range table {
		f := row.f
		sent, err := Read(f.JSON())
		if err != nil || sent.Exit() != f.exit || sent.Status() != f.status {
			t.Errorf("%s arrived with exit %d, status %d: %v", f.Code, sent.Exit(), sent.Status(), err)
		}
	}
}
