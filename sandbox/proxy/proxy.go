// Package proxy is the only way out of a sandbox whose policy has a network: an
// HTTP proxy that connects to allowed hosts on public addresses, and logs. It
// imports no sibling package and runs outside the boundary, so that everything
// it is told is hostile.
package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Bounds of what one sandbox can make the proxy hold or wait for.
const (
	maxConns    = 128
	maxHeader   = 32 << 10
	maxLog      = 256 // different hosts, connected to and refused
	dialTime    = 15 * time.Second
	headerTime  = 20 * time.Second
	answerTime  = 2 * time.Minute
	idleTime    = 5 * time.Minute // without a byte in either direction
	otherTarget = "other hosts"   // what the log counts when it is full
)

// Options says what a [Proxy] lets through.
type Options struct {
	Hosts []string // as [CheckHost] takes them
	All   bool     // every public address, on ports 80 and 443
	// Upstream returns the proxy through which this machine itself reaches a
	// URL, nil for none; nil means [http.ProxyFromEnvironment].
	Upstream func(*http.Request) (*url.URL, error)
}

// Log is what a proxy has seen.
type Log struct {
	Sent, Received int64            // bytes to and from hosts
	Hosts          []string         // connected to, "name:port", sorted
	Refused        map[string]int64 // how often, by "name:port"
}

// A Proxy serves one sandbox.
type Proxy struct {
	patterns []pattern
	all      bool
	upstream func(*http.Request) (*url.URL, error)
	// How names become connections; tests put their own here.
	lookup func(ctx context.Context, network, host string) ([]netip.Addr, error)
	usable func(netip.Addr) bool
	dialer func(ctx context.Context, network, address string) (net.Conn, error)

	server    *http.Server
	transport *http.Transport
	forward   *httputil.ReverseProxy
	ctx       context.Context // ends with Close
	cancel    context.CancelFunc

	sent, received atomic.Int64
	mu             sync.Mutex
	hosts          map[string]bool
	refused        map[string]int64
}

// New returns a proxy, or an error when an entry of Hosts is none.
func New(o Options) (*Proxy, error) {
	p := &Proxy{
		all: o.All, upstream: o.Upstream, lookup: net.DefaultResolver.LookupNetIP,
		usable: func(a netip.Addr) bool { return public(a) && !near(a) },
		dialer: (&net.Dialer{Timeout: dialTime}).DialContext,
		hosts:  map[string]bool{}, refused: map[string]int64{},
	}
	if p.upstream == nil {
		p.upstream = http.ProxyFromEnvironment
	}
	for _, h := range o.Hosts {
		e, err := parsePattern(h)
		if err != nil {
			return nil, err
		}
		p.patterns = append(p.patterns, e)
	}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	silent := log.New(io.Discard, "", 0) // the sandbox must not fill the host's log
	p.transport = &http.Transport{
		Proxy: nil, DialContext: func(ctx context.Context, _, address string) (net.Conn, error) { return p.dial(ctx, address) },
		DisableCompression: true, MaxIdleConns: 16, IdleConnTimeout: time.Minute,
		ResponseHeaderTimeout: answerTime, MaxResponseHeaderBytes: 256 << 10,
	}
	p.forward = &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.Out.Host = r.Out.URL.Host },
		Transport: p.transport, FlushInterval: -1, ErrorLog: silent,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) { explain(w, err) },
	}
	p.server = &http.Server{
		Handler: p, ErrorLog: silent, MaxHeaderBytes: maxHeader, ReadHeaderTimeout: headerTime, IdleTimeout: time.Minute,
		BaseContext: func(net.Listener) context.Context { return p.ctx },
	}
	return p, nil
}

// Serve answers connections of l until Close, and closes l.
func (p *Proxy) Serve(l net.Listener) {
	// It always ends with an error: that of the closed listener.
	_ = p.server.Serve(&bounded{Listener: l, free: make(chan struct{}, maxConns), ctx: p.ctx})
}

// Close ends every connection.
func (p *Proxy) Close() {
	p.cancel()
	_ = p.server.Close() // only the listener's error, which has ended anyway
	p.transport.CloseIdleConnections()
}

// Log returns what was seen until now.
func (p *Proxy) Log() Log {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := Log{Sent: p.sent.Load(), Received: p.received.Load(), Refused: map[string]int64{}}
	for h := range p.hosts {
		l.Hosts = append(l.Hosts, h)
	}
	slices.Sort(l.Hosts)
	for h, n := range p.refused {
		l.Refused[h] = n
	}
	return l
}

// refusal is a decision of the proxy; its text is a sentence for people.
type refusal struct{ text string }

func (r refusal) Error() string { return r.text }

func explain(w http.ResponseWriter, err error) {
	var r refusal
	switch {
	case errors.As(err, &r):
		http.Error(w, r.text, http.StatusForbidden)
	case errors.Is(err, context.DeadlineExceeded):
		http.Error(w, "The host did not answer in time.", http.StatusGatewayTimeout)
	default:
		http.Error(w, "The host was not reached: "+err.Error()+".", http.StatusBadGateway)
	}
}

// ServeHTTP answers one request of the sandbox.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodConnect {
		p.tunnel(w, r)
		return
	}
	if r.URL.Scheme != "http" || r.URL.Host == "" {
		http.Error(w, "This is the sandbox's proxy; it takes requests for http addresses, and CONNECT.", http.StatusBadRequest)
		return
	}
	// Asked for every request: the transport may have a connection already.
	if _, _, err := p.allow(target(r.URL)); err != nil {
		explain(w, err)
		return
	}
	p.forward.ServeHTTP(w, r)
}

func target(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = "80"
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// tunnel carries bytes between the sandbox and a host.
func (p *Proxy) tunnel(w http.ResponseWriter, r *http.Request) {
	host, err := p.dial(r.Context(), r.Host)
	if err != nil {
		explain(w, err)
		return
	}
	defer host.Close()
	hijacker, ok := w.(http.Hijacker)
	if !ok {
		explain(w, errors.New("the connection cannot be taken over"))
		return
	}
	inside, buffered, err := hijacker.Hijack()
	if err != nil {
		return
	}
	defer inside.Close()
	stop := context.AfterFunc(p.ctx, func() {
		inside.Close()
		host.Close()
	})
	defer stop()
	_ = inside.SetDeadline(time.Now().Add(idleTime))
	if _, err := io.WriteString(inside, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	// Each end is seen by the other; a broken connection has nobody to tell.
	done := make(chan struct{})
	busy := func() {
		end := time.Now().Add(idleTime)
		_ = inside.SetDeadline(end)
		_ = host.SetDeadline(end)
	}
	go func() {
		defer close(done)
		_, _ = io.Copy(host, &watched{buffered, busy})
		_ = halfClose(host)
	}()
	_, _ = io.Copy(inside, &watched{host, busy})
	_ = halfClose(inside)
	<-done
}

// watched calls busy for everything that is read.
type watched struct {
	io.Reader
	busy func()
}

func (w *watched) Read(b []byte) (int, error) {
	n, err := w.Reader.Read(b)
	if n > 0 {
		w.busy()
	}
	return n, err
}

// allow returns the clean parts of "host:port" when the policy allows it.
func (p *Proxy) allow(hostport string) (name, port string, err error) {
	name, port, err = net.SplitHostPort(hostport)
	if err == nil {
		name, err = cleanName(name)
	}
	if err != nil {
		return "", "", p.refuse(hostport, "The sandbox's proxy does not connect to %s: %v.", short(hostport), err)
	}
	hostport = net.JoinHostPort(name, port)
	for _, e := range p.patterns {
		if e.matches(name, port) {
			return name, port, nil
		}
	}
	switch {
	case !p.all:
		return "", "", p.refuse(hostport, "The sandbox's policy does not allow %s; it is not on its list of hosts.", hostport)
	case port != "80" && port != "443":
		return "", "", p.refuse(hostport, "The sandbox's policy does not allow %s; of all hosts only ports 80 and 443 can be reached.", hostport)
	}
	return name, port, nil
}

func (p *Proxy) refuse(hostport, format string, args ...any) error {
	hostport = short(hostport)
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, seen := p.refused[hostport]; !seen && len(p.refused) >= maxLog {
		hostport = otherTarget
	}
	p.refused[hostport]++
	return refusal{fmt.Sprintf(format, args...)}
}

// short bounds what hostile text can take of a log, and what it can print.
func short(s string) string {
	if len(s) > maxName+8 {
		s = s[:maxName+8]
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
}
