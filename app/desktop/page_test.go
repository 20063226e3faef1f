package desktop

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"atoll/app/client"
	"atoll/app/fault"
	"atoll/app/web"
	"atoll/storage"
)

func get(h http.Handler, method, path string) *http.Response {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader("{}")))
	return w.Result()
}

func body(t *testing.T, r *http.Response) string {
	t.Helper()
	var b strings.Builder
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(b.String(), "\r\n\r\n")
	return rest
}

var built = fstest.MapFS{"index.html": {Data: []byte("<title>Atoll</title><body>the page")}, "a.js": {Data: []byte("1")}}

func TestHandlerWithHost(t *testing.T) {
	home := newHome(t)
	h := startHost(t, home, &entries{})
	b, _ := bridgeTo(t, home)
	page := handler(built, b.door)

	r := get(page, "GET", "/")
	if got := body(t, r); r.StatusCode != 200 || !strings.Contains(got, "the page") {
		t.Errorf("%d %s", r.StatusCode, got)
	}
	if got := r.Header.Get("Content-Security-Policy"); got != web.CSP {
		t.Errorf("policy %q", got)
	}
	if r := get(page, "POST", "/rpc/app.status"); r.StatusCode != 200 {
		t.Errorf("call: %d %s", r.StatusCode, body(t, r))
	}

	// The host goes, and another comes.
	h.stop()
	if r := get(page, "POST", "/rpc/app.status"); r.StatusCode < 500 {
		t.Errorf("call without host: %d", r.StatusCode)
	}
	startHost(t, home, &entries{})
	if r := get(page, "POST", "/rpc/app.status"); r.StatusCode != 200 {
		t.Errorf("call to the next host: %d %s", r.StatusCode, body(t, r))
	}
}

func TestHandlerWithoutHost(t *testing.T) {
	for name, row := range map[string]struct {
		err   error
		files fs.FS
		code  string
		says  []string
	}{
		"locked":   {storage.ErrLocked, built, "data.locked", []string{"Another Atoll uses this data folder", "ATOLL_HOME", "Try again"}},
		"missing":  {errors.New("the program atoll is <missing>"), built, "host.start", []string{"could not be started", "atoll is &lt;missing&gt;"}},
		"no build": {nil, fstest.MapFS{".keep": {}}, "window.page", []string{"built without its page", "make build"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := &client.Door{Connect: func(context.Context) (*client.Client, error) { return nil, row.err }}
			page := handler(row.files, d)
			r := get(page, "GET", "/")
			got := body(t, r)
			if r.StatusCode != 200 || !strings.HasPrefix(r.Header.Get("Content-Type"), "text/html") {
				t.Errorf("%d %s: the window would stay blank", r.StatusCode, r.Header.Get("Content-Type"))
			}
			for _, want := range append(row.says, `data-code="`+row.code+`"`) {
				if !strings.Contains(got, want) {
					t.Errorf("the page does not say %q:\n%s", want, got)
				}
			}
			if strings.Contains(got, "<script") || r.Header.Get("Content-Security-Policy") != web.CSP {
				t.Error("the refusal is not behind the page's policy")
			}
			if row.err == nil {
				return
			}
			r = get(page, "POST", "/rpc/app.status")
			var f fault.Fault
			if err := json.Unmarshal([]byte(body(t, r)), &f); err != nil || f.Code != row.code || r.StatusCode < 400 {
				t.Errorf("call: %d %v %v", r.StatusCode, f, err)
			}
		})
	}
}
