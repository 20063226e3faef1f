package proxy

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"sync/atomic"
)

// dial connects to an allowed host. The address that was checked is the one
// that is connected to: a name that resolves differently the next time (DNS
// rebinding) gains nothing.
func (p *Proxy) dial(ctx context.Context, hostport string) (net.Conn, error) {
	name, port, err := p.allow(hostport)
	if err != nil {
		return nil, err
	}
	hostport = net.JoinHostPort(name, port)
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	up, err := p.upstreamOf(name, port)
	if err != nil {
		return nil, err
	}
	addrs, err := p.resolve(ctx, name)
	var refused refusal
	switch {
	case errors.As(err, &refused):
		return nil, p.refuse(hostport, "%s", refused.text)
	case err != nil && (up == nil || !p.named(name, port)):
		// Where names are known to the upstream proxy alone, only a host that a
		// person has listed by its own name is left to it.
		return nil, err
	}
	var conn net.Conn
	switch {
	case up == nil:
		for _, a := range addrs {
			if conn, err = p.dialer(ctx, "tcp", net.JoinHostPort(a.String(), port)); err == nil {
				break
			}
		}
	case p.named(name, port):
		conn, err = p.through(ctx, up, hostport)
	default:
		conn, err = p.through(ctx, up, net.JoinHostPort(addrs[0].String(), port))
	}
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	if len(p.hosts) >= maxLog && !p.hosts[hostport] {
		p.hosts[otherTarget] = true
	} else {
		p.hosts[hostport] = true
	}
	p.mu.Unlock()
	return &counted{Conn: conn, sent: &p.sent, received: &p.received}, nil
}

// resolve returns the usable addresses of a name, at least one.
func (p *Proxy) resolve(ctx context.Context, name string) ([]netip.Addr, error) {
	var found []netip.Addr
	if a, err := netip.ParseAddr(name); err == nil {
		found = []netip.Addr{a}
	} else if found, err = p.lookup(ctx, "ip", name); err != nil {
		return nil, fmt.Errorf("%s has no address: %w", name, err)
	}
	var good []netip.Addr
	for _, a := range found {
		// The resolver writes IPv4 addresses as mapped ones; what is meant by a
		// mapped address in a request is refused, so that it has one name only.
		if a.Is4In6() && name != a.String() {
			a = a.Unmap()
		}
		if p.usable(a) {
			good = append(good, a)
		}
	}
	if len(good) == 0 {
		return nil, refusal{fmt.Sprintf("The sandbox's policy does not allow %s; it is this machine, in the local network, or no address of the public internet.", name)}
	}
	return good, nil
}

// named reports whether a person has listed a host by this very name.
func (p *Proxy) named(name, port string) bool {
	for _, e := range p.patterns {
		if !e.tree && e.matches(name, port) {
			return true
		}
	}
	return false
}

// upstreamOf returns the proxy of this machine for a host, nil for none.
func (p *Proxy) upstreamOf(name, port string) (*url.URL, error) {
	scheme := "https"
	if port == "80" {
		scheme = "http"
	}
	up, err := p.upstream(&http.Request{URL: &url.URL{Scheme: scheme, Host: net.JoinHostPort(name, port)}})
	if err != nil || up == nil {
		return nil, err
	}
	if up.Scheme != "http" && up.Scheme != "https" {
		return nil, fmt.Errorf("this machine's proxy is of kind %q, which is not supported; http is", up.Scheme)
	}
	return up, nil
}

// through asks an upstream proxy for a connection.
func (p *Proxy) through(ctx context.Context, up *url.URL, hostport string) (net.Conn, error) {
	port := up.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[up.Scheme]
	}
	conn, err := p.dialer(ctx, "tcp", net.JoinHostPort(up.Hostname(), port))
	if err != nil {
		return nil, fmt.Errorf("this machine's proxy: %w", err)
	}
	// Also while the answer is awaited.
	raw := conn
	stop := context.AfterFunc(ctx, func() { raw.Close() })
	defer stop()
	if up.Scheme == "https" {
		conn = tls.Client(conn, &tls.Config{ServerName: up.Hostname()})
	}
	head := "CONNECT " + hostport + " HTTP/1.1\r\nHost: " + hostport + "\r\n"
	if u := up.User; u != nil {
		password, _ := u.Password()
		head += "Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(u.Username()+":"+password)) + "\r\n"
	}
	if _, err := io.WriteString(conn, head+"\r\n"); err != nil {
		conn.Close()
		return nil, fmt.Errorf("this machine's proxy: %w", err)
	}
	// A host that speaks first may follow the answer at once, so nothing after
	// it must be lost in the buffer.
	buffered := bufio.NewReader(io.LimitReader(conn, maxHeader))
	res, err := http.ReadResponse(buffered, &http.Request{Method: http.MethodConnect})
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("this machine's proxy: %w", err)
	}
	if res.StatusCode != http.StatusOK {
		conn.Close()
		return nil, fmt.Errorf("this machine's proxy answered %q for %s", short(res.Status), hostport)
	}
	early, _ := buffered.Peek(buffered.Buffered())
	return &prefixed{Conn: conn, early: early}, nil
}

// prefixed gives what was read too early first.
type prefixed struct {
	net.Conn
	early []byte
}

func (c *prefixed) Read(b []byte) (int, error) {
	if len(c.early) > 0 {
		n := copy(b, c.early)
		c.early = c.early[n:]
		return n, nil
	}
	return c.Conn.Read(b)
}

func (c *prefixed) CloseWrite() error { return halfClose(c.Conn) }

// counted adds up the bytes of a connection to a host.
type counted struct {
	net.Conn
	sent, received *atomic.Int64
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.received.Add(int64(n))
	return n, err
}

func (c *counted) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.sent.Add(int64(n))
	return n, err
}

func (c *counted) CloseWrite() error { return halfClose(c.Conn) }

// halfClose ends one direction where the connection can.
func halfClose(c net.Conn) error {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Close()
}

// bounded accepts a connection only while fewer than its capacity are open;
// the others wait in the kernel.
type bounded struct {
	net.Listener
	free chan struct{}
	ctx  context.Context
}

func (l *bounded) Accept() (net.Conn, error) {
	select {
	case l.free <- struct{}{}:
	case <-l.ctx.Done():
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.free
		return nil, err
	}
	return &slot{Conn: c, release: sync.OnceFunc(func() { <-l.free })}, nil
}

// slot frees its place with its end.
type slot struct {
	net.Conn
	release func()
}

func (c *slot) Close() error {
	c.release()
	return c.Conn.Close()
}

func (c *slot) CloseWrite() error { return halfClose(c.Conn) }
