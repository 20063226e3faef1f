package catalog

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const mib = 1 << 20

// A server may do anything; the result is the right file or a refusal that says
// what was wrong, never a wrong file.
func TestHTTPTorture(t *testing.T) {
	data, other := pseudo(1, mib), pseudo(2, mib)
	page := []byte("<!DOCTYPE html><html><body>" + strings.Repeat("please log in ", 200) + "</body></html>")
	rows := []struct {
		name   string
		parts  int
		odd    oddity
		err    string   // part of the error; "": the file arrives
		asked  []string // requests; nil: not looked at
		resent int64    // most bytes sent more than the file has
	}{
		{name: "well-behaved", parts: 1, asked: []string{""}},
		{name: "cut three times", parts: 1, asked: []string{"", `bytes=300000- "one"`, `bytes=600000- "one"`, `bytes=900000- "one"`},
			odd: func(a *answer, n int, w http.ResponseWriter, r *http.Request) bool {
				if n <= 3 {
					a.cut(300000, w, r)
				}
				return false
			}},
		{name: "range ignored", parts: 1, resent: mib, odd: func(a *answer, n int, w http.ResponseWriter, r *http.Request) bool {
			if n == 1 {
				a.cut(400000, w, r)
			}
			r.Header.Del("Range")
			return false
		}},
		{name: "range ignored, parts are kept", parts: 4, resent: mib, odd: func(a *answer, n int, w http.ResponseWriter, r *http.Request) bool {
			if n == 1 {
				a.cut(700000, w, r)
			}
			r.Header.Del("Range")
			return false
		}},
		{name: "206 that starts at 0", parts: 1, resent: mib, odd: func(a *answer, n int, w http.ResponseWriter, r *http.Request) bool {
			if n == 1 {
				a.cut(400000, w, r)
			}
			w.Header().Set("ETag", a.etag)
			w.Header().Set("Content-Range", fmt.Sprintf("bytes 0-%d/%d", mib-1, mib))
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write(data)
			return true
		}},
		{name: "206 with another range", parts: 1, err: `the server sent the range "bytes 77-`,
			odd: func(a *answer, n int, w http.ResponseWriter, r *http.Request) bool {
				if n == 1 {
					a.cut(400000, w, r)
				}
				w.Header().Set("Content-Range", fmt.Sprintf("bytes 77-%d/%d", mib-1, mib))
				w.WriteHeader(http.StatusPartialContent)
				_, _ = w.Write(data[77:])
				return true
			}},
		{name: "206 without a range", parts: 1, err: `the server sent the range ""`,
			odd: func(a *answer, n int, w http.ResponseWriter, r *http.Request) bool {
				if n == 1 {
					a.cut(400000, w, r)
				}
				w.WriteHeader(http.StatusPartialContent)
				_, _ = w.Write(data[400000:])
				return true
			}},
		{name: "file changed while it was fetched", parts: 1, resent: 400000,
			odd: func(a *answer, n int, w http.ResponseWriter, r *http.Request) bool {
				a.data, a.etag = data, `"two"`
				if n == 1 {
					a.data, a.etag = other, `"one"`
					a.cut(400000, w, r)
				}
				return false
			}},
		{name: "206 of a changed file in spite of If-Range", parts: 1, resent: mib,
			odd: func(a *answer, n int, w http.ResponseWriter, r *http.Request) bool {
				a.data, a.etag = data, `"two"`
				if n == 1 {
					a.data, a.etag = other, `"one"`
					a.cut(400000, w, r)
				}
				r.Header.Del("If-Range")
				return false
			}},
		{name: "no ETag, so nothing is continued within a part", parts: 1, asked: []string{"", ""}, resent: 400000,
			odd: func(a *answer, n int, w http.ResponseWriter, r *http.Request) bool {
				a.etag = ""
				if n == 1 {
					a.cut(400000, w, r)
				}
				return false
			}},
		{name: "no ETag, but parts are continued", parts: 4, asked: []string{"", "bytes=262144-"}, resent: 400000 - 262144,
			odd: func(a *answer, n int, w http.ResponseWriter, r *http.Request) bool {
				a.etag = ""
				if n == 1 {
					a.cut(400000, w, r)
				}
				return false
			}},
		{name: "416 once", parts: 1, resent: 400000, odd: func(a *answer, n int, w http.ResponseWriter, r *http.Request) bool {
			switch n {
			case 1:
				a.cut(400000, w, r)
			case 2:
				w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
				return true
			}
			return false
		}},
		{name: "web page", parts: 1, err: "got a web page instead of the model", asked: []string{""},
			odd: func(a *answer, n int, w http.ResponseWriter, r *http.Request) bool {
				w.Header().Set("Content-Type", "text/html; charset=utf-8")
				_, _ = w.Write(page)
				return true
			}},
		{name: "log-in page by redirect", parts: 1, err: "got a web page instead of the model",
			odd: func(a *answer, n int, w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path == "/login" {
					w.Header().Set("Content-Type", "text/html")
					_, _ = w.Write(page)
				} else {
					http.Redirect(w, r, "/login", http.StatusFound)
				}
				return true
			}},
		{name: "good redirect", parts: 1, odd: func(a *answer, n int, w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != "/cdn" {
				http.Redirect(w, r, "/cdn", http.StatusFound)
				return true
			}
			return false
		}},
		{name: "not a model", parts: 1, err: "does not begin like a model file",
			odd: func(a *answer, n int, w http.ResponseWriter, r *http.Request) bool {
				w.Header().Set("Content-Length", fmt.Sprint(mib))
				_, _ = w.Write(make([]byte, mib))
				return true
			}},
		{name: "404", parts: 1, err: "404 Not Found", asked: []string{""},
			odd: func(a *answer, n int, w http.ResponseWriter, r *http.Request) bool {
				w.WriteHeader(http.StatusNotFound)
				return true
			}},
		{name: "500 and 429, then well", parts: 1, odd: func(a *answer, n int, w http.ResponseWriter, r *http.Request) bool {
			if n <= 2 {
				w.WriteHeader([]int{0, 500, 429}[n])
			}
			return n <= 2
		}},
		{name: "500 for ever", parts: 1, err: "gave up after 5 tries: the server answered 500",
			odd: func(a *answer, n int, w http.ResponseWriter, r *http.Request) bool {
				w.WriteHeader(500)
				return true
			}},
		{name: "another size", parts: 1, err: "the server's file has 99 bytes, the catalog's 1048576",
			odd: func(a *answer, n int, w http.ResponseWriter, r *http.Request) bool {
				a.data = data[:99]
				return false
			}},
		{name: "more bytes than the file has", parts: 1, resent: mib,
			odd: func(a *answer, n int, w http.ResponseWriter, r *http.Request) bool {
				_, _ = w.Write(data[:1000])
				_ = http.NewResponseController(w).Flush() // chunked: no length is told
				_, _ = w.Write(data[1000:])
				_, _ = w.Write(data)
				return true
			}},
		{name: "wrong bytes", parts: 1, err: "m from host1 has SHA-256 " + sum(other) + ", expected " + sum(data) + "; it was deleted, run again to fetch it",
			odd: func(a *answer, n int, w http.ResponseWriter, r *http.Request) bool {
				a.data = other
				return false
			}},
		{name: "wrong bytes in part 3", parts: 4, err: "part 3 of m from host1 has SHA-256 ", asked: []string{""},
			odd: func(a *answer, n int, w http.ResponseWriter, r *http.Request) bool {
				a.data = append(append([]byte(nil), data[:700000]...), other[700000:]...)
				return false
			}},
		{name: "stalls, then goes on", parts: 1, odd: func(a *answer, n int, w http.ResponseWriter, r *http.Request) bool {
			if n == 1 {
				w.Header().Set("ETag", a.etag)
				w.Header().Set("Content-Length", fmt.Sprint(mib))
				_, _ = w.Write(data[:500000])
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
			}
			return n == 1
		}},
		{name: "never answers", parts: 1, err: "nothing arrived for too long",
			odd: func(a *answer, n int, w http.ResponseWriter, r *http.Request) bool {
				<-r.Context().Done()
				return true
			}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, data, row.odd)
			e, dir, o := from(entryOf("m", data, row.parts), s), t.TempDir(), quick()
			o.Stall = 300 * time.Millisecond
			if !strings.Contains(row.name, "stall") && row.name != "never answers" {
				o.Stall = time.Minute
			}
			_, err := Fetch(t.Context(), e, dir, o, nil)
			if row.err == "" {
				if err != nil {
					t.Fatal(err)
				}
				wantFile(t, dir, e, data)
				if more := s.sent() - mib; more > row.resent && row.name != "stalls, then goes on" && row.name != "500 and 429, then well" && row.name != "good redirect" {
					t.Errorf("%d bytes more than needed were sent, at most %d are due", more, row.resent)
				}
			} else {
				if err == nil || !strings.Contains(err.Error(), row.err) || !errors.Is(err, ErrNoSource) {
					t.Errorf("error %v, want one with %q", err, row.err)
				}
				wantNoFile(t, dir, e)
			}
			if row.asked != nil {
				if diff := cmp.Diff(row.asked, s.asked()); diff != "" {
					t.Errorf("requests (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestEndpointReplacesHub(t *testing.T) {
	data := pseudo(1, 1000)
	s := serve(t, data, nil)
	e := entryOf("m", data, 1)
	e.Sources = []Source{{Kind: HTTP, Name: "hub", Hub: true, Base: "https://hub.invalid", Path: "repo/model.gguf"}}
	t.Run("option", func(t *testing.T) {
		dir, o := t.TempDir(), quick()
		o.Endpoint = s.URL + "/"
		if _, err := Fetch(t.Context(), e, dir, o, nil); err != nil {
			t.Fatal(err)
		}
		wantFile(t, dir, e, data)
	})
	t.Run("variable", func(t *testing.T) {
		t.Setenv("HF_ENDPOINT", s.URL)
		dir := t.TempDir()
		if _, err := Fetch(t.Context(), e, dir, quick(), nil); err != nil {
			t.Fatal(err)
		}
		wantFile(t, dir, e, data)
	})
}

func TestUntrustedCertificateNamesIssuer(t *testing.T) {
	data := pseudo(1, 1000)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write(data) }))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // it reports the refused handshake
	s.StartTLS()
	defer s.Close()
	e, dir := entryOf("m", data, 1), t.TempDir()
	e.Sources = []Source{{Kind: HTTP, Name: "host", Base: s.URL, Path: "m.gguf"}}
	_, err := Fetch(t.Context(), e, dir, quick(), nil)
	if err == nil || !strings.Contains(err.Error(), "Acme Co") || !strings.Contains(err.Error(), "add it to the certificates") {
		t.Errorf("error %v, want one that names the issuer", err)
	}
	wantNoFile(t, dir, e)
	// Control: the same server is fine for a client that trusts it.
	o := quick()
	o.Client = s.Client()
	if _, err := Fetch(t.Context(), e, dir, o, nil); err != nil {
		t.Error(err)
	}
}

// No step down from an encrypted address to one in the clear.
func TestNoDowngrade(t *testing.T) {
	data := pseudo(1, 1000)
	plain := serve(t, data, nil)
	s := httptest.NewTLSServer(http.RedirectHandler(plain.URL+"/m.gguf", http.StatusFound))
	defer s.Close()
	ours := client(nil)
	ours.Transport = s.Client().Transport
	e, dir, o := entryOf("m", data, 1), t.TempDir(), quick()
	e.Sources = []Source{{Kind: HTTP, Name: "host", Base: s.URL, Path: "m.gguf"}}
	o.Client = ours
	if _, err := Fetch(t.Context(), e, dir, o, nil); err == nil || !strings.Contains(err.Error(), "without encryption") {
		t.Errorf("error %v, want a refusal", err)
	}
	if n := len(plain.asked()); n != 0 {
		t.Errorf("the plain server got %d requests", n)
	}
}
