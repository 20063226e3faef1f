// Package web serves the page to a browser on this machine: a door of its own
// in front of a host, for this user only.
package web

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"
)

// CSP lets the page load its own files and nothing else.
const CSP = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' blob: data:; font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Page serves the built page and passes /rpc, /events, /blob and /upload on to
// the host behind rt. It asks for no credentials: callers stand in front.
func Page(page fs.FS, rt http.RoundTripper) http.Handler {
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: "host"})
			r.Out.Header.Del("Cookie")
			// The server closes the request's body when the reply begins. The
			// transport has sent the whole body by then, but may still have to
			// look for its end; were it to find the closed body instead, it
			// would take the request for failed and cut the reply off.
			if n := r.Out.ContentLength; n > 0 {
				r.Out.Body = struct {
					io.Reader
					io.Closer
				}{io.LimitReader(r.Out.Body, n), r.Out.Body}
			}
		},
		Transport:     rt,
		FlushInterval: -1, // events must not wait
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, `{"code":"host.gone","title":"Atoll's host is not running","hint":"Start Atoll again; nothing that was shown is lost."}`, http.StatusBadGateway)
		},
	}
	files := http.FileServerFS(page)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch first, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/"); first {
		case "rpc":
			// A page that is closed or loaded anew takes nothing back: a call
			// that was sent whole must not stop half way. A plain WithoutCancel
			// would let the proxy watch the connection by itself.
			ctx, done := context.WithCancel(context.WithoutCancel(r.Context()))
			defer done()
			proxy.ServeHTTP(w, r.WithContext(ctx))
		case "events", "blob", "upload":
			proxy.ServeHTTP(w, r)
		default:
			w.Header().Set("Content-Security-Policy", CSP)
			w.Header().Set("X-Content-Type-Options", "nosniff")
			w.Header().Set("Referrer-Policy", "no-referrer")
			w.Header().Set("Cache-Control", "no-cache")
			files.ServeHTTP(w, r)
		}
	})
}

// A Listener is an open door; URL is what the user opens, once: it carries the
// token that becomes a cookie.
type Listener struct {
	URL string
	ln  net.Listener
	h   http.Handler
}

// Listen opens addr, which must be on the loopback interface.
func Listen(addr string, page http.Handler) (*Listener, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("listen on %q: give an address such as 127.0.0.1:0: %w", addr, err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("listen on %q: Atoll serves this machine only; use 127.0.0.1", addr)
	}
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", addr, err)
	}
	key := make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		return nil, errors.Join(err, ln.Close())
	}
	token := base64.RawURLEncoding.EncodeToString(key)
	_, port, err := net.SplitHostPort(ln.Addr().String())
	if err != nil {
		return nil, errors.Join(err, ln.Close())
	}
	return &Listener{URL: fmt.Sprintf("http://%s/?token=%s", ln.Addr(), token), ln: ln, h: guard(page, port, token)}, nil
}

// Serve serves until ctx ends.
func (l *Listener) Serve(ctx context.Context) error {
	srv := &http.Server{Handler: l.h, ReadHeaderTimeout: 10 * time.Second, BaseContext: func(net.Listener) context.Context { return ctx }}
	stop := context.AfterFunc(ctx, func() { _ = srv.Close() })
	defer stop()
	if err := srv.Serve(l.ln); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// guard keeps everybody else out: other hosts by name (DNS rebinding), other
// origins, and other users of this machine, who do not know the token.
func guard(next http.Handler, port, token string) http.Handler {
	cookie := "atoll_" + port // cookies do not know ports; two doors must not share one
	own := func(hostport string) bool {
		return hostport == "127.0.0.1:"+port || hostport == "localhost:"+port || hostport == "[::1]:"+port
	}
	known := func(t string) bool { return subtle.ConstantTimeCompare([]byte(t), []byte(token)) == 1 }
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !own(r.Host) {
			http.Error(w, "this address is not Atoll's", http.StatusMisdirectedRequest)
			return
		}
		if o := r.Header.Get("Origin"); o != "" && o != "http://"+r.Host {
			http.Error(w, "another page may not talk to Atoll", http.StatusForbidden)
			return
		}
		if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
			http.Error(w, "another page may not talk to Atoll", http.StatusForbidden)
			return
		}
		if t := r.URL.Query().Get("token"); t != "" && r.Method == http.MethodGet && r.URL.Path == "/" && known(t) {
			http.SetCookie(w, &http.Cookie{Name: cookie, Value: t, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
			w.Header().Set("Referrer-Policy", "no-referrer")
			http.Redirect(w, r, "/", http.StatusSeeOther)
			return
		}
		c, err := r.Cookie(cookie)
		if err != nil || !known(c.Value) {
			http.Error(w, "open the address that atoll serve printed: it holds the key", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}
