//go:build !linux && !darwin && !windows

package sandbox

import (
	"context"
	"errors"
	"os"
	"testing"
)

func TestOtherSystemsRefuse(t *testing.T) {
	r := New(Options{Helper: []string{"helper"}})
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Start(context.Background(), Policy{}, Command{Files: []*os.File{f}}); !errors.Is(err, ErrUnsupported) {
		t.Errorf("Start: %v, want %v", err, ErrUnsupported)
	}
	if f.Close() == nil {
		t.Error("Start left the file open")
	}
	l := r.Level(context.Background())
	if l.Name != LevelNone || len(l.Guarantees) == 0 || l.Guarantees[0].Fix == "" {
		t.Errorf("%+v", l)
	}
}
