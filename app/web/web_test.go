package web_test

import (
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"testing/fstest"

	"atoll/app/web"
)

// host answers what the proxy passes on.
type host struct{ got []*http.Request }

func (h *host) RoundTrip(r *http.Request) (*http.Response, error) {
	h.got = append(h.got, r)
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(`{"chats":[]}`)), Request: r}, nil
}

func TestDoor(t *testing.T) {
	h := &host{}
	l, err := web.Listen("127.0.0.1:0", web.Page(fstest.MapFS{"index.html": {Data: []byte("<title>Atoll</title>")}}, h))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- l.Serve(ctx) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	u, _ := url.Parse(l.URL)
	base := "http://" + u.Host
	jar, _ := cookiejar.New(nil)
	with, without := &http.Client{Jar: jar}, &http.Client{}

	get := func(c *http.Client, method, target string, header ...string) (int, string) {
		t.Helper()
		req, _ := http.NewRequestWithContext(t.Context(), method, target, nil)
		for i := 0; i < len(header); i += 2 {
			if header[i] == "Host" {
				req.Host = header[i+1]
			}
			req.Header.Set(header[i], header[i+1])
		}
		res, err := c.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		b, _ := io.ReadAll(res.Body)
		return res.StatusCode, string(b)
	}

	if code, body := get(with, "GET", l.URL); code != 200 || !strings.Contains(body, "Atoll") {
		t.Fatalf("the printed address: %d %q", code, body)
	}
	if code, body := get(with, "POST", base+"/rpc/chats.list", "Origin", base); code != 200 || body != `{"chats":[]}` {
		t.Errorf("own page: %d %q", code, body)
	}
	if r := h.got[0]; r.Header.Get("Cookie") != "" || r.URL.Path != "/rpc/chats.list" {
		t.Errorf("the host was sent %v %v", r.URL, r.Header)
	}
	denied := len(h.got)
	for name, try := range map[string]func() (int, string){
		"no cookie":       func() (int, string) { return get(without, "POST", base+"/rpc/chats.list") },
		"wrong token":     func() (int, string) { return get(without, "GET", base+"/?token=x") },
		"rebinding":       func() (int, string) { return get(with, "POST", base+"/rpc/chats.list", "Host", "evil.test") },
		"foreign origin":  func() (int, string) { return get(with, "POST", base+"/rpc/chats.list", "Origin", "http://evil.test") },
		"other port":      func() (int, string) { return get(with, "POST", base+"/rpc/chats.list", "Origin", "http://127.0.0.1:1") },
		"cross-site":      func() (int, string) { return get(with, "POST", base+"/rpc/chats.list", "Sec-Fetch-Site", "cross-site") },
		"opaque origin":   func() (int, string) { return get(with, "POST", base+"/rpc/chats.list", "Origin", "null") },
		"same-site frame": func() (int, string) { return get(with, "GET", base+"/events?since=0", "Sec-Fetch-Site", "same-site") },
	} {
		if code, _ := try(); code < 400 {
			t.Errorf("%s: %d", name, code)
		}
	}
	if len(h.got) != denied {
		t.Errorf("%d refused requests reached the host", len(h.got)-denied)
	}
}

func TestLoopbackOnly(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", ":0", "192.0.2.1:0", "example.com:0", "nonsense"} {
		if l, err := web.Listen(addr, http.NotFoundHandler()); err == nil {
			t.Errorf("%s was opened as %s", addr, l.URL)
		}
	}
}
