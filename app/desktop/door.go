package desktop

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"sync"

	"atoll/app/client"
	"atoll/app/fault"
)

// A door leads to the host of the data folder: it finds or starts one when it
// is first needed, and again after the one it knew has gone. It is safe for
// concurrent use.
type door struct {
	connect func(context.Context) (*client.Client, error)

	mu    sync.Mutex // held while connecting: one search at a time
	known *client.Client
}

// host returns a client of the host. It may have gone since; whoever finds out
// says so with forget.
func (d *door) host(ctx context.Context) (*client.Client, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.known != nil {
		return d.known, nil
	}
	c, err := d.connect(ctx)
	if err != nil {
		return nil, startFault(err)
	}
	d.known = c
	return c, nil
}

// forget makes the next call of host search anew, unless somebody did already.
func (d *door) forget(c *client.Client) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.known == c {
		d.known = nil
	}
}

// RoundTrip sends a request of the page to the host. When there is no host and
// none can be started it answers with the fault that says why.
func (d *door) RoundTrip(req *http.Request) (*http.Response, error) {
	c, err := d.host(req.Context())
	if err != nil {
		if req.Body != nil {
			req.Body.Close()
		}
		f := fault.Of(err)
		return &http.Response{
			StatusCode: f.Status(), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
			Header:  http.Header{"Content-Type": {"application/json"}},
			Body:    io.NopCloser(bytes.NewReader(f.JSON())),
			Request: req,
		}, nil
	}
	res, err := c.RoundTrip(req)
	if err != nil && req.Context().Err() == nil {
		d.forget(c)
	}
	return res, err
}

// startFault says why there is no host.
func startFault(err error) *fault.Fault {
	f := fault.Of(err)
	if f.Code != "internal" {
		return f
	}
	return fault.New("host.start", "Atoll's host could not be started",
		"Try again. If it comes back, run atoll doctor in a terminal.").With(err.Error())
}
