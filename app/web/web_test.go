package web_test

import (
	"context"
	"fmt"
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

// open serves the page in front of rt until the test ends. It returns the
// address that is printed and the one without the key.
func open(t *testing.T, rt http.RoundTripper) (printed, base string) {
	t.Helper()
	return listen(t, web.Page(fstest.MapFS{"index.html": {Data: []byte("<title>Atoll</title>")}}, rt))
}

func listen(t *testing.T, page http.Handler) (printed, base string) {
	t.Helper()
	l, err := web.Listen("127.0.0.1:0", page)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- l.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	u, err := url.Parse(l.URL)
	if err != nil {
		t.Fatal(err)
	}
	return l.URL, "http://" + u.Host
}

// admitted returns a browser that was let in.
func admitted(t *testing.T, printed string) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &http.Client{Jar: jar}
	res, err := c.Get(printed)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	return c
}

func TestDoor(t *testing.T) {
	h := &host{}
	printed, base := open(t, h)
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

	if code, body := get(with, "GET", printed); code != 200 || !strings.Contains(body, "Atoll") {
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

// late is a host that has begun its reply before the transport sees the end of
// the request's body, as [http.Transport] may: it looks for more than the
// announced length once the whole body is on its way.
type late struct{ ends chan error }

func (h *late) RoundTrip(r *http.Request) (*http.Response, error) {
	if _, err := io.CopyN(io.Discard, r.Body, r.ContentLength); err != nil {
		return nil, err
	}
	first := strings.NewReader("the first half, ")
	return &http.Response{StatusCode: 200, Header: http.Header{}, Request: r, Body: io.NopCloser(io.MultiReader(first, reader(func([]byte) (int, error) {
		n, err := r.Body.Read(make([]byte, 1))
		if n != 0 || err == nil {
			err = fmt.Errorf("%d more bytes than the page sent: %w", n, err)
		}
		h.ends <- err
		if err != io.EOF {
			return 0, err // a transport closes its connection
		}
		return 0, io.EOF
	}), strings.NewReader("the second half")))}, nil
}

type reader func([]byte) (int, error)

func (f reader) Read(p []byte) (int, error) { return f(p) }

// TestReplyIsWhole: a reply must not depend on whether the transport is done
// with the request when the reply begins.
func TestReplyIsWhole(t *testing.T) {
	h := &late{ends: make(chan error, 1)}
	printed, base := open(t, h)
	page := admitted(t, printed)
	for _, path := range []string{"/rpc/chats.get", "/upload?chat=c&name=n"} {
		res, err := page.Post(base+path, "application/json", strings.NewReader(`{"id":"c"}`))
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || string(b) != "the first half, the second half" {
			t.Errorf("%s: got %q, %v", path, b, err)
		}
		if err := <-h.ends; err != io.EOF {
			t.Errorf("%s: after the announced length the transport read: %v", path, err)
		}
	}
}

// TestPageGoes: a call that was sent is carried through when its page goes; a
// stream of events, which nobody reads then, ends.
func TestPageGoes(t *testing.T) {
	for _, row := range []struct {
		method, path, body string
		ends               bool
	}{
		{"POST", "/rpc/chats.send", `{"id":"c","text":"a question"}`, false},
		{"POST", "/rpc/chats.list", "", false},
		{"GET", "/events?since=0", "", true},
	} {
		t.Run(row.path, func(t *testing.T) {
			sent, gone, ended := make(chan error, 1), make(chan struct{}), make(chan error, 1)
			page := web.Page(fstest.MapFS{"index.html": {}}, reply(func(r *http.Request) (*http.Response, error) {
				var err error
				if r.Body != nil {
					_, err = io.Copy(io.Discard, r.Body)
				}
				sent <- err
				<-gone
				if row.ends {
					<-r.Context().Done()
				}
				ended <- r.Context().Err()
				return &http.Response{StatusCode: 200, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
			}))
			printed, base := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/" {
					context.AfterFunc(r.Context(), func() { close(gone) })
				}
				page.ServeHTTP(w, r)
			}))
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			req, err := http.NewRequestWithContext(ctx, row.method, base+row.path, strings.NewReader(row.body))
			if err != nil {
				t.Fatal(err)
			}
			browser, left := admitted(t, printed), make(chan struct{})
			go func() {
				defer close(left)
				if res, err := browser.Do(req); err == nil {
					res.Body.Close()
				}
			}()
			if err := <-sent; err != nil {
				t.Fatal(err)
			}
			leave()
			if err := <-ended; (err != nil) != row.ends {
				t.Errorf("the host's request after the page went: %v", err)
			}
			<-left
		})
	}
}

type reply func(*http.Request) (*http.Response, error)

func (f reply) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
