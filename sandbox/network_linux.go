package sandbox

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"atoll/sandbox/proxy"
	"golang.org/x/sys/unix"
)

// The proxy runs outside. What the program connects to is a socket that the
// helper has made inside, in the program's network, and handed to the host: so
// no byte passes the helper, and nothing outside has a name inside.

// proxyPort is where the program finds the proxy, on its own loopback.
const proxyPort = 3128

// proxyVariables tell programs of the proxy.
var proxyVariables = []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"}

// proxied reports whether the program gets a proxy.
func (n Network) proxied() bool { return n.Mode == NetworkHosts || n.Mode == NetworkOn }

const noProxy = "localhost,127.0.0.1,::1"

// proxyEnv returns the environment with the proxy in it.
func proxyEnv(env []string) []string {
	out := slices.DeleteFunc(slices.Clone(env), func(e string) bool {
		key, _, _ := strings.Cut(e, "=")
		return slices.Contains(proxyVariables, key) || strings.EqualFold(key, "NO_PROXY")
	})
	for _, key := range proxyVariables {
		out = append(out, fmt.Sprintf("%s=http://127.0.0.1:%d", key, proxyPort))
	}
	return append(out, "NO_PROXY="+noProxy, "no_proxy="+noProxy)
}

// openNetwork brings up what the mode has of the network inside, and sends the
// proxy's socket to the host.
func openNetwork(o order) error {
	if o.Network == NetworkOff {
		return nil
	}
	if err := loopbackUp(); err != nil {
		return err
	}
	if !(Network{Mode: o.Network}).proxied() {
		return nil
	}
	host := filesFD + o.Files
	defer unix.Close(host)
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := unix.Bind(fd, &unix.SockaddrInet4{Port: proxyPort, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return err
	}
	if err := unix.Listen(fd, 128); err != nil {
		return err
	}
	return unix.Sendmsg(host, []byte{0}, unix.UnixRights(fd), nil, 0)
}

// socketPair returns two connected sockets for handing over descriptors.
func socketPair() (ours, theirs *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	return os.NewFile(uintptr(fds[0]), "host"), os.NewFile(uintptr(fds[1]), "helper"), nil
}

// receive reads what is there and takes the descriptors that came with it; it
// waits only when told to.
func receive(fd int, b []byte, flags int) (n int, fds []int, err error) {
	oob := make([]byte, unix.CmsgSpace(4*8))
	n, oobn, _, _, err := unix.Recvmsg(fd, b, oob, flags|unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return 0, nil, err
	}
	messages, err := unix.ParseSocketControlMessage(oob[:oobn])
	if err != nil {
		return n, nil, err
	}
	for i := range messages {
		// Other kinds of messages were not asked for.
		if more, err := unix.ParseUnixRights(&messages[i]); err == nil {
			fds = append(fds, more...)
		}
	}
	return n, fds, nil
}

// A wayOut is a proxy, and the sockets over which the helper hands it the one
// on which it listens. All methods take nil for a program without.
type wayOut struct {
	proxy        *proxy.Proxy
	host, helper *os.File
}

// newWayOut returns nil for a network without a proxy.
func newWayOut(n Network, upstream func(*http.Request) (*url.URL, error)) (*wayOut, error) {
	if !n.proxied() {
		return nil, nil
	}
	p, err := proxy.New(proxy.Options{Hosts: n.Hosts, All: n.Mode == NetworkOn, Upstream: upstream})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPolicy, err)
	}
	host, helper, err := socketPair()
	if err != nil {
		p.Close()
		return nil, fmt.Errorf("make socket: %w", err)
	}
	return &wayOut{p, host, helper}, nil
}

// close ends every connection. It may be called more than once, also before
// serve: a program can be gone that fast.
func (w *wayOut) close() {
	if w != nil {
		w.proxy.Close()
	}
}

// release closes the sockets, which are needed only for the start.
func (w *wayOut) release() {
	if w != nil {
		closeAll([]*os.File{w.host, w.helper})
	}
}

// serve takes the socket that the helper has sent before the program started,
// and answers on it until close.
func (w *wayOut) serve() error {
	if w == nil {
		return nil
	}
	_, fds, err := receive(int(w.host.Fd()), make([]byte, 1), unix.MSG_DONTWAIT)
	if err == nil && len(fds) != 1 {
		err = errors.New("the helper sent no socket")
	}
	if err != nil {
		for _, fd := range fds {
			unix.Close(fd)
		}
		return err
	}
	f := os.NewFile(uintptr(fds[0]), "proxy")
	defer f.Close()
	l, err := net.FileListener(f)
	if err != nil {
		return err
	}
	go w.proxy.Serve(l)
	return nil
}

// addTo adds what the proxy has seen.
func (w *wayOut) addTo(r Record) Record {
	if w == nil {
		return r
	}
	seen := w.proxy.Log()
	r.Layers = append(slices.Clip(r.Layers), "proxy")
	r.Denials = slices.Clip(r.Denials)
	for _, host := range slices.Sorted(maps.Keys(seen.Refused)) {
		r.Denials = append(r.Denials, Denial{Kind: "network", What: host, Layer: "proxy", Count: seen.Refused[host]})
	}
	r.Usage.Sent, r.Usage.Received, r.Usage.Hosts = seen.Sent, seen.Received, seen.Hosts
	return r
}
