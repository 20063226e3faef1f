package api_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"atoll/app/api"
)

func TestCall(t *testing.T) {
	var tab api.Table
	type in struct {
		ID string `json:"id"`
	}
	type out struct {
		Title string `json:"title"`
	}
	api.Add(&tab, "chats.get", "reads a chat", func(_ context.Context, in in) (out, error) { return out{"T" + in.ID}, nil })
	api.Add(&tab, "chats.break", "panics", func(context.Context, api.Empty) (api.Empty, error) { panic("oops") })

	if got, err := tab.Call(t.Context(), "chats.get", []byte(`{"id":"1"}`)); err != nil || string(got) != `{"title":"T1"}` {
		t.Errorf("call = %s, %v", got, err)
	}
	if _, err := tab.Call(t.Context(), "chats.get", []byte(`{"id":`)); !errors.Is(err, api.ErrInput) {
		t.Errorf("bad JSON: %v", err)
	}
	if _, err := tab.Call(t.Context(), "chats.none", nil); !errors.Is(err, api.ErrInput) {
		t.Errorf("unknown method: %v", err)
	}
	if _, err := tab.Call(t.Context(), "chats.break", nil); err == nil || !strings.Contains(err.Error(), "oops") {
		t.Errorf("panic: %v", err)
	}
}
