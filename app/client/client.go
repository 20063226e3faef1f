// Package client finds the host of a data folder or starts one, calls its
// methods and follows its events. Window, command line and served page use it.
package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"atoll/app/config"
	"atoll/app/event"
	"atoll/app/fault"
	"atoll/app/server"
)

// A Client talks to one host. It is safe for concurrent use.
type Client struct {
	addr server.Address
	http *http.Client
}

// ErrNoHost means that no host runs for this data folder.
var ErrNoHost = errors.New("no host is running")

// startTime bounds how long a new host may take until it answers: it checks
// its store first.
const startTime = 30 * time.Second

// helloTime bounds how long a host that is there may take to say so.
const helloTime = 10 * time.Second

// Connect returns a client of the host of home; it starts one when there is
// none. build is the caller's own: an idle host of another build is replaced.
func Connect(ctx context.Context, home config.Home, build string) (*Client, error) {
	c, err := Find(ctx, home)
	if err == nil && c.addr.Build != build {
		if c.Leave(ctx) == nil { // else it is busy: better an older host than a lost answer
			err = ErrNoHost
		}
	}
	if err == nil || errors.Is(err, fault.ErrHostBusy) || ctx.Err() != nil {
		return c, err
	}
	if err := home.Make(); err != nil {
		return nil, err
	}
	release, err := lockSpawn(ctx, filepath.Join(home.Run(), "spawn.lock"))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", config.ErrHome, err)
	}
	defer release()
	if c, err := Find(ctx, home); err == nil && c.addr.Build == build { // another door was faster
		return c, nil
	}
	exited, err := spawn(home)
	if err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(startTime); time.Now().Before(deadline); {
		if c, err := Find(ctx, home); err == nil {
			return c, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-exited:
			if c, err := Find(ctx, home); err == nil { // another door started one at the same moment
				return c, nil
			}
			return nil, startFault(home)
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil, fmt.Errorf("the host did not answer within %v; see %s", startTime, home.HostLog())
}

// Find connects to the host of home, or returns [ErrNoHost].
func Find(ctx context.Context, home config.Home) (*Client, error) {
	b, err := os.ReadFile(home.HostFile())
	if err != nil {
		return nil, ErrNoHost
	}
	c := &Client{}
	if err := json.Unmarshal(b, &c.addr); err != nil {
		return nil, ErrNoHost
	}
	c.http = &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "unix", c.addr.Socket)
		},
		MaxIdleConnsPerHost: 8,
	}}
	hello, cancel := context.WithTimeout(ctx, helloTime)
	defer cancel()
	res, err := c.Do(hello, http.MethodGet, "/hello", nil)
	if err != nil && hello.Err() != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("%w: process %d, within %v", fault.ErrHostBusy, c.addr.PID, helloTime)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoHost, err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, ErrNoHost
	}
	return c, nil
}

// Leave asks the host to end and waits until it has; a busy host refuses.
func (c *Client) Leave(ctx context.Context) error {
	if err := c.Call(ctx, "app.leave", nil, nil); err != nil {
		return err
	}
	for {
		res, err := c.Do(ctx, http.MethodGet, "/hello", nil)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return nil
		}
		res.Body.Close()
		time.Sleep(20 * time.Millisecond)
	}
}

// startFault says why the host did not start: it left its fault as the last
// line of its log.
func startFault(home config.Home) error {
	b, err := os.ReadFile(home.HostLog())
	if err != nil {
		return fmt.Errorf("start the host: %w", err)
	}
	text := strings.TrimSpace(string(b))
	if text == "" { // not even that could be written
		return fmt.Errorf("%w: the host ended without a word; is the disk full?", config.ErrHome)
	}
	lines := strings.Split(text, "\n")
	if f, err := fault.Read([]byte(lines[len(lines)-1])); err == nil {
		return f
	}
	return fmt.Errorf("start the host: %s", strings.Join(lines[max(0, len(lines)-3):], "; "))
}

// Do sends a request to the host's HTTP door.
func (c *Client) Do(ctx context.Context, method, path string, body io.Reader) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://host"+path, body)
	if err != nil {
		return nil, err
	}
	return c.RoundTrip(req)
}

// RoundTrip sends a request that somebody else made (a page) to the host,
// with the client's own credentials. It is an [http.RoundTripper].
func (c *Client) RoundTrip(req *http.Request) (*http.Response, error) {
	req.Header.Set("Authorization", "Bearer "+c.addr.Token)
	return c.http.Transport.RoundTrip(req)
}

// Call calls a method; in and out may be nil. A refusal is a *fault.Fault.
func (c *Client) Call(ctx context.Context, method string, in, out any) error {
	body := []byte("{}")
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return err
		}
	}
	res, err := c.Do(ctx, http.MethodPost, "/rpc/"+method, bytes.NewReader(body))
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("%w: %s: %w", fault.ErrHostGone, method, err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", fault.ErrHostGone, method, err)
	}
	if res.StatusCode != http.StatusOK {
		f, err := fault.Read(b)
		if err != nil {
			return fmt.Errorf("%s: %s: %s", method, res.Status, b)
		}
		return f
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(b, out)
}

// Follow calls f with every event after since until f or the stream ends.
// ready is called once when the stream is open: what is done after that is
// seen.
func (c *Client) Follow(ctx context.Context, since uint64, ready func() error, f func(event.Event) error) error {
	res, err := c.Do(ctx, http.MethodGet, fmt.Sprintf("/events?since=%d", since), nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("follow events: %s", res.Status)
	}
	r := bufio.NewReaderSize(res.Body, 64<<10)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return fmt.Errorf("%w: follow events: %w", fault.ErrHostGone, err)
		}
		if bytes.HasPrefix(line, []byte(": hello")) && ready != nil {
			if err := ready(); err != nil {
				return err
			}
			ready = nil
		}
		data, ok := bytes.CutPrefix(line, []byte("data: "))
		if !ok {
			continue
		}
		var batch []event.Event
		if err := json.Unmarshal(data, &batch); err != nil {
			return fmt.Errorf("follow events: %w", err)
		}
		for _, e := range batch {
			if err := f(e); err != nil {
				return err
			}
		}
	}
}

// Blob opens a kept file.
func (c *Client) Blob(ctx context.Context, hash string) (io.ReadCloser, error) {
	res, err := c.Do(ctx, http.MethodGet, "/blob/"+url.PathEscape(hash), nil)
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		res.Body.Close()
		return nil, fmt.Errorf("read kept file %s: %s", hash, res.Status)
	}
	return res.Body, nil
}

// Hold keeps the host from leaving while it seems idle, until the returned
// function is called.
func (c *Client) Hold(ctx context.Context) (func(), error) {
	ctx, cancel := context.WithCancel(ctx)
	res, err := c.Do(ctx, http.MethodGet, fmt.Sprintf("/events?since=%d", uint64(math.MaxUint64)), nil)
	if err != nil {
		cancel()
		return nil, err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(io.Discard, res.Body) // passing events; ends with ctx or the host
		res.Body.Close()
	}()
	return func() { cancel(); <-done }, nil
}
