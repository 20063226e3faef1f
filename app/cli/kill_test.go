//go:build unix

package cli_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"atoll/app/chats"
	"atoll/app/client"
	"atoll/app/config"
	"atoll/app/event"
	"atoll/app/server"
	"atoll/storage"
)

// TestKillKeepsPromptAndText kills the host in the middle of an answer and
// looks at what the next one finds.
func TestKillKeepsPromptAndText(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "script.json")
	lines, err := json.Marshal([]map[string]any{{"when": "", "say": strings.Repeat("The tide comes in and goes out. ", 400), "everyMs": 10}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(script, lines, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("ATOLL_SCRIPT", script)
	t.Setenv("ATOLL_MODEL", "script/model")
	t.Setenv("ATOLL_IDLE_EXIT", "1m")
	home := config.Home(filepath.Join(dir, "home"))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	defer leave(t, home)

	host := connect(t, ctx, home)
	var chat storage.Chat
	call(t, host, "chats.create", chats.Create{}, &chat)
	shown := ""
	enough := errors.New("enough")
	err = host.Follow(ctx, 0, func() error {
		return host.Call(ctx, "chats.send", chats.Send{ID: chat.ID, Text: "hello, tell me of the tide"}, nil)
	}, func(e event.Event) error {
		if e.Delta != nil && e.Delta.Kind == "text" {
			shown += e.Delta.Text
		}
		if len(shown) > 400 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) {
		t.Fatal(err)
	}
	// What was shown more than a second ago must survive.
	old := shown
	time.Sleep(1200 * time.Millisecond)
	kill(t, home)

	host = connect(t, ctx, home)
	var v chats.View
	call(t, host, "chats.get", chats.ID{ID: chat.ID}, &v)
	if len(v.Entries) != 3 {
		t.Fatalf("%d entries, want prompt, part of the answer, and why it ended: %+v", len(v.Entries), v.Entries)
	}
	var user storage.User
	var said storage.Assistant
	var f storage.Fault
	for i, body := range []any{&user, &said, &f} {
		if err := json.Unmarshal(v.Entries[i].Body, body); err != nil {
			t.Fatal(err)
		}
	}
	if user.Text != "hello, tell me of the tide" || !said.Interrupted || f.Code != "lost" {
		t.Errorf("prompt %q, interrupted %v, fault %q", user.Text, said.Interrupted, f.Code)
	}
	if !strings.HasPrefix(said.Text, strings.TrimSpace(old)) {
		t.Errorf("%d bytes of the answer were shown, %d are kept", len(old), len(said.Text))
	}
}

// TestOneHost starts two hosts of one data folder: the second says so at once.
func TestOneHost(t *testing.T) {
	home := config.Home(filepath.Join(t.TempDir(), "home"))
	t.Setenv("ATOLL_IDLE_EXIT", "1m")
	defer leave(t, home)
	connect(t, t.Context(), home)
	first := address(t, home)
	clients := make(chan error, 4)
	for range cap(clients) {
		go func() {
			_, err := client.Connect(t.Context(), home, first.Build)
			clients <- err
		}()
	}
	for range cap(clients) {
		if err := <-clients; err != nil {
			t.Error(err)
		}
	}
	if now := address(t, home); now.PID != first.PID {
		t.Errorf("host %d was replaced by %d", first.PID, now.PID)
	}
	if s, err := storage.Open(home.Store(), storage.Options{Wait: 10 * time.Millisecond}); !errors.Is(err, storage.ErrLocked) {
		t.Errorf("the store of a running host was opened: %v %v", s, err)
	}
}

func connect(t *testing.T, ctx context.Context, home config.Home) *client.Client {
	t.Helper()
	c, err := client.Connect(ctx, home, config.BuildID("test"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func call(t *testing.T, c *client.Client, method string, in, out any) {
	t.Helper()
	if err := c.Call(t.Context(), method, in, out); err != nil {
		t.Fatal(err)
	}
}

func address(t *testing.T, home config.Home) server.Address {
	t.Helper()
	b, err := os.ReadFile(home.HostFile())
	if err != nil {
		t.Fatal(err)
	}
	var a server.Address
	if err := json.Unmarshal(b, &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// kill ends the host as a power cut would, without a chance to tidy up.
func kill(t *testing.T, home config.Home) {
	t.Helper()
	pid := address(t, home).PID
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for range 500 {
		if syscall.Kill(pid, 0) != nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("host %d does not end", pid)
}
