package sandbox

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
)

// fetch tries addresses through the proxy that the environment names, and one
// without it.
const fetch = `import os, socket, sys, urllib.request as u
for a in sys.argv[2:]:
    try: print(a, u.urlopen(a, timeout=10).read().decode().strip())
    except Exception as e: print(a, getattr(e, "code", type(e).__name__), e.read().decode().strip() if hasattr(e, "read") else e)
try: socket.create_connection(("127.0.0.1", int(sys.argv[1])), 2); print("direct: connected")
except OSError as e: print("direct:", type(e).__name__)
`

// office is a proxy of the machine, as companies have them, that leads every
// name to the test's server. It also counts what it was asked for.
func office(t *testing.T, server string) func(*http.Request) (*url.URL, error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				r := bufio.NewReader(c)
				if q, err := http.ReadRequest(r); err != nil || q.Method != http.MethodConnect {
					return
				}
				s, err := net.Dial("tcp", server)
				if err != nil {
					return
				}
				defer s.Close()
				io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
				go io.Copy(s, r)
				io.Copy(c, s)
			}()
		}
	}()
	return http.ProxyURL(&url.URL{Scheme: "http", Host: l.Addr().String()})
}

func hello(t *testing.T) net.Addr {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hello from "+r.Host) })}
	go s.Serve(l)
	t.Cleanup(func() { s.Close() })
	return l.Addr()
}

func TestNetworkModes(t *testing.T) {
	if _, err := os.Stat(python); err != nil {
		t.Skipf("NOT TESTED: the network from inside, because there is no %s", python)
	}
	r := newTestRunner(t).(*runner)
	requireFull(t, r)
	server := hello(t)
	r.upstream = office(t, server.String())
	for _, row := range []struct {
		name   string
		n      Network
		url    string
		answer string
	}{
		{"off", Network{}, "http://listed.test/", "URLError"},
		{"loopback", Network{Mode: NetworkLoopback}, "http://listed.test/", "URLError"},
		{"a listed host", Network{Mode: NetworkHosts, Hosts: []string{"listed.test"}}, "http://listed.test/", "hello from listed.test"},
		{"a host that is not listed", Network{Mode: NetworkHosts, Hosts: []string{"listed.test"}}, "http://other.test/", "403 The sandbox's policy does not allow other.test:80; it is not on its list of hosts."},
		{"no host", Network{Mode: NetworkHosts}, "http://other.test/", "403"},
		{"another port", Network{Mode: NetworkHosts, Hosts: []string{"listed.test"}}, "http://listed.test:8080/", "403"},
		{"metadata, though listed", Network{Mode: NetworkHosts, Hosts: []string{"169.254.169.254"}}, "http://169.254.169.254/", "403 The sandbox's policy does not allow 169.254.169.254"},
		{"metadata", Network{Mode: NetworkOn}, "http://169.254.169.254/", "403"},
		{"loopback of this machine", Network{Mode: NetworkOn}, "http://127.0.0.2/", "403"},
		{"IPv6 loopback", Network{Mode: NetworkOn}, "http://[::1]:80/", "403"},
		{"mapped loopback", Network{Mode: NetworkOn}, "http://[::ffff:127.0.0.1]/", "403"},
		{"a number", Network{Mode: NetworkOn}, "http://2130706433/", "403"},
		{"another port of all", Network{Mode: NetworkOn}, "http://8.8.8.8:22/", "403"},
	} {
		got := run(t, r, Policy{Network: row.n}, Command{Path: python, Args: []string{"-c", fetch, fmt.Sprint(server.(*net.TCPAddr).Port), row.url}})
		lines := strings.Split(got.out, "\n")
		if got.exit.Code != 0 || !strings.HasPrefix(lines[0], row.url+" "+row.answer) {
			t.Errorf("%s: %+v, want %q", row.name, got, row.answer)
		}
		if strings.Contains(got.out, "direct: connected") {
			t.Errorf("%s: a server of the machine was reached", row.name)
		}
	}
}

// TestLoopback shows that the modes with a network have the program's own
// servers, and the one without does not.
func TestLoopback(t *testing.T) {
	if _, err := os.Stat(python); err != nil {
		t.Skipf("NOT TESTED: the network from inside, because there is no %s", python)
	}
	r := newTestRunner(t)
	requireFull(t, r)
	script := `import socket
s = socket.socket(); s.bind(("127.0.0.1" if ` + "%v" + ` else "0.0.0.0", 0)); s.listen()
c = socket.socket()
try: c.connect(("127.0.0.1", s.getsockname()[1])); print("connected")
except OSError as e: print(e.strerror)
a, b = socket.socketpair(); a.send(b"x"); assert b.recv(1) == b"x"
l = socket.socket(socket.AF_UNIX); l.bind("/tmp/s"); l.listen(); k = socket.socket(socket.AF_UNIX); k.connect("/tmp/s")
`
	for mode, want := range map[NetworkMode]string{
		NetworkOff: "Network is unreachable\n", NetworkLoopback: "connected\n", NetworkHosts: "connected\n", NetworkOn: "connected\n",
	} {
		up := "True"
		if mode == NetworkOff {
			up = "False"
		}
		got := run(t, r, Policy{Network: Network{Mode: mode}}, Command{Path: python, Args: []string{"-c", strings.Replace(script, "%v", up, 1)}})
		if got.out != want || got.exit.Code != 0 {
			t.Errorf("%q: %+v, want %q", mode, got, want)
		}
	}
}

// TestProxyEnvironment shows what the program is told.
func TestProxyEnvironment(t *testing.T) {
	r := newTestRunner(t)
	requireFull(t, r)
	p := Policy{Env: []string{"A=1", "https_proxy=http://elsewhere:1", "No_Proxy=*"}, Network: Network{Mode: NetworkHosts}}
	got := run(t, r, p, Command{Path: "/usr/bin/env"})
	for _, want := range []string{"A=1", "HTTPS_PROXY=http://127.0.0.1:3128", "https_proxy=http://127.0.0.1:3128", "ALL_PROXY=http://127.0.0.1:3128", "NO_PROXY=localhost,127.0.0.1,::1"} {
		if !strings.Contains(got.out, want+"\n") {
			t.Errorf("%q lacks %s", got.out, want)
		}
	}
	if strings.Contains(got.out, "elsewhere") || strings.Contains(got.out, "*") {
		t.Errorf("the policy's own proxy is still there: %q", got.out)
	}
}

func TestReducedRefusesANetwork(t *testing.T) {
	r := newTestRunner(t).(*runner)
	r.known = &ability{level: LevelReduced, full: refused{"Namespaces are off in this test.", "Turn them on."}}
	for _, mode := range []NetworkMode{NetworkLoopback, NetworkHosts, NetworkOn} {
		_, err := r.Start(t.Context(), Policy{Network: Network{Mode: mode}}, sh("true"))
		if !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "needs namespaces") || !strings.Contains(err.Error(), "Turn them on.") {
			t.Errorf("%q: %v", mode, err)
		}
	}
}
