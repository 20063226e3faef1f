package proxy

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func direct(*http.Request) (*url.URL, error) { return nil, nil }

// serve starts a proxy whose made-up names have addresses of the list, and
// whose connections to 8.8.8.8 end at the test's server.
func serve(t *testing.T, o Options, names map[string][]string, server string) (*Proxy, string) {
	t.Helper()
	if o.Upstream == nil {
		o.Upstream = direct
	}
	p, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	p.lookup = func(_ context.Context, _, host string) (out []netip.Addr, err error) {
		for _, a := range names[host] {
			out = append(out, netip.MustParseAddr(a))
		}
		if len(out) == 0 {
			return nil, errors.New("no such host")
		}
		return out, nil
	}
	p.usable = public // what this machine is near to is its own business
	p.dialer = func(ctx context.Context, network, address string) (net.Conn, error) {
		if host, _, _ := net.SplitHostPort(address); host != "8.8.8.8" && host != "127.0.0.1" {
			return nil, fmt.Errorf("the test has no %s", address)
		} else if host == "127.0.0.1" && o.All { // only an upstream proxy may be there
			t.Errorf("it dials %s", address)
		} else if host == "8.8.8.8" {
			address = server
		}
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { p.Serve(l); close(done) }()
	t.Cleanup(func() { p.Close(); <-done })
	return p, l.Addr().String()
}

func client(address string) *http.Client {
	return &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: address}), DisableKeepAlives: true}}
}

func get(t *testing.T, c *http.Client, u string) (int, string) {
	t.Helper()
	res, err := c.Get(u)
	if err != nil {
		return 0, err.Error()
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, strings.TrimSpace(string(b))
}

func web(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hello from "+r.Host) }))
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

func TestRequests(t *testing.T) {
	server := web(t)
	names := map[string][]string{
		"a.example": {"8.8.8.8"}, "sub.tree.example": {"8.8.8.8"}, "tree.example": {"8.8.8.8"}, "port.example": {"8.8.8.8"},
		"home.example": {"127.0.0.1"}, "lan.example": {"192.168.1.1"}, "mapped.example": {"::ffff:127.0.0.1"}, "nat64.example": {"64:ff9b::7f00:1"},
		"meta.example": {"169.254.169.254"}, "mixed.example": {"10.0.0.1", "8.8.8.8"}, "mapped-public.example": {"::ffff:8.8.8.8"},
	}
	listed := Options{Hosts: []string{"A.example", "*.tree.example", "port.example:8080", "127.0.0.1", "home.example", "gone.example"}}
	all := Options{All: true}
	for _, row := range []struct {
		o    Options
		url  string
		code int
		text string
	}{
		{listed, "http://a.example/", 200, "hello from a.example"},
		{listed, "http://a.example:443/", 200, "hello from a.example:443"},
		{listed, "http://A.EXAMPLE./", 200, "hello"},
		{listed, "http://a.example:8080/", 403, "does not allow a.example:8080; it is not on its list"},
		{listed, "http://sub.tree.example/", 200, "hello"},
		{listed, "http://tree.example/", 403, "list"},
		{listed, "http://xtree.example/", 403, "list"},
		{listed, "http://port.example:8080/", 200, "hello"},
		{listed, "http://port.example/", 403, "list"},
		{listed, "http://127.0.0.1/", 403, "no address of the public internet"},
		{listed, "http://home.example/", 403, "no address of the public internet"},
		{listed, "http://gone.example/", 502, "no address"},
		{all, "http://a.example/", 200, "hello"},
		{all, "http://a.example:22/", 403, "only ports 80 and 443"},
		{all, "http://home.example/", 403, "public internet"},
		{all, "http://lan.example/", 403, "public internet"},
		{all, "http://mapped.example/", 403, "public internet"},
		{all, "http://nat64.example/", 403, "public internet"},
		{all, "http://meta.example/", 403, "public internet"},
		{all, "http://mixed.example/", 200, "hello"},
		{all, "http://mapped-public.example/", 200, "hello"},
		{all, "http://[::1]/", 403, "public internet"},
		{all, "http://[::ffff:127.0.0.1]/", 403, "public internet"},
		{all, "http://[::ffff:8.8.8.8]/", 403, "public internet"},
		{all, "http://[fe80::1%25eth0]/", 403, ""},
		{all, "http://169.254.169.254/latest/meta-data/", 403, "public internet"},
		{all, "http://2130706433/", 403, "a number"},
		{all, "http://0x7f000001/", 403, "a number"},
		{all, "http://127.1/", 403, "a number"},
		{all, "http://0177.0.0.1/", 403, "a number"},
		{all, "http://0/", 403, "a number"},
	} {
		_, address := serve(t, row.o, names, server)
		if code, text := get(t, client(address), row.url); code != row.code || !strings.Contains(text, row.text) {
			t.Errorf("%s: %d %q, want %d %q", row.url, code, text, row.code, row.text)
		}
	}
}

// TestRebinding lets a name change its address between two looks.
func TestRebinding(t *testing.T) {
	p, address := serve(t, Options{All: true}, nil, web(t))
	var looks atomic.Int64
	p.lookup = func(context.Context, string, string) ([]netip.Addr, error) {
		if looks.Add(1) == 1 {
			return []netip.Addr{netip.MustParseAddr("8.8.8.8")}, nil
		}
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}
	for i, want := range []int{200, 403} {
		if code, text := get(t, client(address), "http://rebind.example/"); code != want || looks.Load() != int64(i+1) {
			t.Errorf("%d %q after %d looks, want %d", code, text, looks.Load(), want)
		}
		p.transport.CloseIdleConnections()
	}
}

func TestTunnel(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				b, _ := io.ReadAll(c)
				c.Write([]byte("got " + string(b)))
				c.Close()
			}()
		}
	}()
	p, address := serve(t, Options{Hosts: []string{"a.example"}}, map[string][]string{"a.example": {"8.8.8.8"}}, l.Addr().String())
	ask := func(to string) (*http.Response, *net.TCPConn) {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", to, to)
		r := bufio.NewReaderSize(c, 16)
		res, err := http.ReadResponse(r, &http.Request{Method: http.MethodConnect})
		if err != nil {
			t.Fatal(err)
		}
		return res, c.(*net.TCPConn)
	}
	res, c := ask("a.example:443")
	io.WriteString(c, "1234567")
	c.CloseWrite()
	b, _ := io.ReadAll(c)
	if res.StatusCode != 200 || string(b) != "got 1234567" {
		t.Errorf("%d %q", res.StatusCode, b)
	}
	for range 3 {
		if res, _ := ask("b.example:443"); res.StatusCode != 403 {
			t.Errorf("%d", res.StatusCode)
		}
	}
	for i := range 2 * maxLog { // a flood of names does not fill the log
		p.refuse(fmt.Sprintf("flood%d.example:443", i), "no")
	}
	got := p.Log()
	if len(got.Refused) != maxLog+1 || got.Refused[otherTarget] != maxLog+1 || got.Refused["b.example:443"] != 3 {
		t.Errorf("%d refused hosts, %d times others", len(got.Refused), got.Refused[otherTarget])
	}
	if d := cmp.Diff(Log{Sent: 7, Received: 11, Hosts: []string{"a.example:443"}, Refused: got.Refused}, got); d != "" {
		t.Error(d)
	}
}

// TestUpstream is about machines that have a proxy themselves.
func TestUpstream(t *testing.T) {
	var asked atomic.Value
	server := web(t)
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Store(r.Method + " " + r.RequestURI + " " + r.Header.Get("Proxy-Authorization"))
		s, err := net.Dial("tcp", server)
		if err != nil {
			t.Error(err)
			return
		}
		defer s.Close()
		c, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
		go io.Copy(s, c)
		io.Copy(c, s)
	}))
	defer up.Close()
	u := &url.URL{Scheme: "http", Host: up.Listener.Addr().String(), User: url.UserPassword("ann", "x")}
	names := map[string][]string{"known.example": {"8.8.8.8"}, "below.tree.example": {"8.8.8.8"}, "lan.example": {"10.0.0.1"}}
	o := Options{Hosts: []string{"known.example", "unknown.example", "lan.example", "*.tree.example"}, Upstream: http.ProxyURL(u)}
	_, address := serve(t, o, names, server)
	for _, row := range []struct {
		host  string
		code  int
		asked string
	}{
		{"known.example", 200, "CONNECT known.example:80 Basic YW5uOng="},
		{"unknown.example", 200, "CONNECT unknown.example:80 Basic YW5uOng="},
		{"below.tree.example", 200, "CONNECT 8.8.8.8:80 Basic YW5uOng="},
		{"hidden.tree.example", 502, ""},
		{"lan.example", 403, ""},
		{"other.example", 403, ""},
	} {
		asked.Store("")
		if code, text := get(t, client(address), "http://"+row.host+"/"); code != row.code || asked.Load() != row.asked {
			t.Errorf("%s: %d %q, the upstream was asked %q", row.host, code, text, asked.Load())
		}
	}
}

func FuzzHost(f *testing.F) {
	for _, s := range []string{"a.example:443", "[::1]:80", "0x7f.1:80", "*.a:1", "a:b:c", "xn--a.b:80"} {
		f.Add(s)
	}
	p, err := New(Options{All: true, Hosts: []string{"a.example"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, s string) {
		_ = CheckHost(s)
		name, port, err := p.allow(s)
		if err == nil && (port != "80" && port != "443" || name == "" || strings.ContainsAny(name, "\r\n /@%")) {
			t.Fatalf("%q is allowed as %q %q", s, name, port)
		}
		if n := len(p.Log().Refused); n > maxLog+1 {
			t.Fatalf("%d refused hosts", n)
		}
	})
}
