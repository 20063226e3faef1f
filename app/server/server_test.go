package server_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"atoll/app/api"
	"atoll/app/event"
	"atoll/app/server"
)

// TestUploadAnswers: who sends a file learns what became of it, also when it
// was refused before its content was read.
func TestUploadAnswers(t *testing.T) {
	const token = "key"
	content := bytes.Repeat([]byte("x,y\n"), 2<<20) // more than any socket holds
	for _, row := range []struct {
		name   string
		keep   server.Keep
		status int
		want   string
	}{
		{"kept", func(_ context.Context, _, name string, r io.Reader) (any, error) {
			n, err := io.Copy(io.Discard, r)
			return fmt.Sprintf("%s %d", name, n), err
		}, http.StatusOK, "a.csv 8388608"},
		{"refused at once", func(context.Context, string, string, io.Reader) (any, error) {
			return nil, fmt.Errorf("%w: there is no such chat", api.ErrInput)
		}, http.StatusBadRequest, "there is no such chat"},
		{"refused half way", func(_ context.Context, _, _ string, r io.Reader) (any, error) {
			_, _ = io.CopyN(io.Discard, r, 1<<20)
			return "the disk is full", nil
		}, http.StatusOK, "the disk is full"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := &server.Server{Table: &api.Table{}, Bus: &event.Bus{}, Keep: row.keep}
			srv := httptest.NewServer(s.Handler(token))
			defer srv.Close()
			c, err := net.Dial("tcp", srv.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if _, err := fmt.Fprintf(c, "POST /upload?chat=c&name=a.csv HTTP/1.1\r\nHost: host\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n", token, len(content)); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Write(content); err != nil {
				t.Fatalf("send: %v", err)
			}
			res, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			b, err := io.ReadAll(res.Body)
			if err != nil || res.StatusCode != row.status || !strings.Contains(string(b), row.want) {
				t.Errorf("got %d %s %v, want %d %s", res.StatusCode, b, err, row.status, row.want)
			}
		})
	}
}
