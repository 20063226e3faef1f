package client

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"

	"atoll/app/fault"
)

// A Door leads to the host of the data folder: it finds or starts one when it
// is first needed, and again after the one it knew has gone. It is safe for
// concurrent use.
type Door struct {
	// Connect finds or starts the host.
	Connect func(context.Context) (*Client, error)

	mu    sync.Mutex // held while connecting: one search at a time
	known *Client
}

// Host returns a client of the host. It may have gone since; whoever finds out
// says so with Forget.
func (d *Door) Host(ctx context.Context) (*Client, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.known != nil {
		return d.known, nil
	}
	c, err := d.Connect(ctx)
	if err != nil {
		return nil, doorFault(err)
	}
	d.known = c
	return c, nil
}

// Forget makes the next call of Host search anew, unless somebody did already.
func (d *Door) Forget(c *Client) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.known == c {
		d.known = nil
		c.http.CloseIdleConnections() // it may be there yet, and nobody will use them
	}
}

// RoundTrip sends a request of a page to the host. When there is no host and
// none can be started it answers with the fault that says why. A host that was
// replaced does not know the old one's key; then the next request finds it.
func (d *Door) RoundTrip(req *http.Request) (*http.Response, error) {
	c, err := d.Host(req.Context())
	if err != nil {
		return say(req, fault.Of(err)), nil
	}
	res, err := c.RoundTrip(req)
	switch {
	case err != nil && req.Context().Err() == nil:
		d.Forget(c)
		return say(req, fault.Of(fmt.Errorf("%w: %w", fault.ErrHostGone, err))), nil
	case err == nil && res.StatusCode == http.StatusUnauthorized:
		res.Body.Close()
		d.Forget(c)
		return say(req, fault.Of(fmt.Errorf("%w: another one has taken its place", fault.ErrHostGone))), nil
	}
	return res, err
}

// say is the answer to a request that cannot be passed on.
func say(req *http.Request, f *fault.Fault) *http.Response {
	if req.Body != nil {
		req.Body.Close()
	}
	return &http.Response{
		StatusCode: f.Status(), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:  http.Header{"Content-Type": {"application/json"}},
		Body:    io.NopCloser(bytes.NewReader(f.JSON())),
		Request: req,
	}
}

// doorFault says why there is no host.
func doorFault(err error) *fault.Fault {
	f := fault.Of(err)
	if f.Code != "internal" {
		return f
	}
	return fault.New("host.start", "Atoll's host could not be started",
		"Try again. If it comes back, run atoll doctor in a terminal.").With(err.Error())
}
