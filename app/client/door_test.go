package client_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"atoll/app/api"
	"atoll/app/client"
	"atoll/app/config"
	"atoll/app/event"
	"atoll/app/server"
)

// TestForget: a door that was told to search anew keeps no connection to the
// host that it knew.
func TestForget(t *testing.T) {
	home := config.Home(filepath.Join(t.TempDir(), "home"))
	if err := home.Make(); err != nil {
		t.Fatal(err)
	}
	table := &api.Table{}
	api.Add(table, "chats.list", "lists nothing", func(context.Context, api.Empty) (api.Empty, error) { return api.Empty{}, nil })
	s := &server.Server{Table: table, Bus: &event.Bus{}, Build: "test"}
	ln, token, gone, err := s.Listen(home.HostFile())
	if err != nil {
		t.Fatal(err)
	}
	defer gone()
	var open atomic.Int64 // connections
	changed := make(chan struct{}, 1)
	srv := &http.Server{Handler: s.Handler(token), ConnState: func(_ net.Conn, st http.ConnState) {
		switch st {
		case http.StateNew:
			open.Add(1)
		case http.StateClosed:
			open.Add(-1)
		}
		select {
		case changed <- struct{}{}:
		default:
		}
	}}
	done := make(chan struct{})
	go func() { defer close(done); _ = srv.Serve(ln) }()
	defer func() { srv.Close(); <-done }()

	door := &client.Door{Connect: func(ctx context.Context) (*client.Client, error) { return client.Find(ctx, home) }}
	c, err := door.Host(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Call(t.Context(), "chats.list", nil, nil); err != nil {
		t.Fatal(err)
	}
	door.Forget(c)
	for hang := time.After(20 * time.Second); open.Load() > 0; {
		select {
		case <-changed:
		case <-hang:
			t.Fatalf("%d connections to the host are kept that nobody will use", open.Load())
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://host/rpc/chats.list", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	res, err := door.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if b, err := io.ReadAll(res.Body); err != nil || res.StatusCode != http.StatusOK {
		t.Errorf("after Forget: %d %s %v", res.StatusCode, b, err)
	}
}
