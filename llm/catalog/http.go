package catalog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// magic are the first bytes of every model file.
// Source: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
const magic = "GGUF"

// mostTries is how often in a row a server may fail without sending one new
// byte.
const mostTries = 5

var errStalled = errors.New("nothing arrived for too long")

// httpSource gets the file from a web server, resuming with ranges.
type httpSource struct{ source *Source }

func (s httpSource) name() string { return s.source.Name }
func (s httpSource) extra() int64 { return 0 }

func (s httpSource) url(o *Options) string {
	base := s.source.Base
	if s.source.Hub {
		if o.Endpoint != "" {
			base = o.Endpoint
		} else if env := os.Getenv("HF_ENDPOINT"); env != "" {
			base = env
		}
	}
	return strings.TrimSuffix(base, "/") + "/" + s.source.Path
}

// deliver asks until the file is complete: as long as new bytes come, a cut
// connection costs nothing but a pause.
func (s httpSource) deliver(ctx context.Context, f *fetch) error {
	pause := backoff.NewExponentialBackOff()
	if f.options.pause > 0 {
		pause.InitialInterval = f.options.pause
	}
	pause.Reset()
	most, tries := f.part.offset, 0
	for {
		err := s.once(ctx, f)
		if err == nil && f.part.complete() {
			return nil
		}
		if err == nil {
			err = io.ErrUnexpectedEOF
		}
		var final *backoff.PermanentError
		if errors.As(err, &final) {
			return final.Err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if f.part.offset > most {
			most, tries = f.part.offset, 0
			pause.Reset()
		}
		if tries++; tries >= mostTries {
			return fmt.Errorf("gave up after %d tries: %w", tries, err)
		}
		wait := pause.NextBackOff()
		var later *backoff.RetryAfterError
		if errors.As(err, &later) {
			wait = max(wait, min(later.Duration, 2*time.Minute))
		}
		f.note(fmt.Sprintf("%s: %v; next try in %s", s.name(), err, wait.Round(time.Second)))
		if err := sleep(ctx, wait); err != nil {
			return err
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

// once sends one request and writes its answer. Permanent errors are those that
// another try of the same source cannot cure.
func (s httpSource) once(ctx context.Context, f *fetch) error {
	stall := f.options.Stall
	if stall == 0 {
		stall = 30 * time.Second
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := time.AfterFunc(stall, func() { cancel(errStalled) })
	defer watch.Stop()

	err := s.request(ctx, f, func() { watch.Reset(stall) })
	if context.Cause(ctx) == errStalled {
		return fmt.Errorf("%w (%s)", errStalled, stall)
	}
	return err
}

func (s httpSource) request(ctx context.Context, f *fetch, alive func()) error {
	p, url := f.part, s.url(&f.options)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return backoff.Permanent(err)
	}
	req.Header.Set("User-Agent", "atoll")
	req.Header.Set("Accept-Encoding", "identity") // ranges count the bytes of the file itself
	// The tail needs proof that the file is still the same one. Verified parts
	// need none: their bytes are right wherever they came from.
	if p.offset > p.verified {
		if p.origin.Source == s.name() && p.origin.URL == url && p.origin.ETag != "" {
			req.Header.Set("If-Range", p.origin.ETag)
		} else if err := p.rewind(); err != nil {
			return backoff.Permanent(err)
		}
	}
	if p.offset > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", p.offset))
	}
	resp, err := client(f.options.Client).Do(req)
	if err != nil {
		return certificate(err)
	}
	defer resp.Body.Close()
	alive()
	skip, err := s.accept(resp, p)
	if err != nil {
		return err
	}
	if err := p.from(origin{Source: s.name(), URL: url, ETag: strong(resp.Header.Get("ETag"))}); err != nil {
		return backoff.Permanent(err)
	}
	return copyBody(&body{resp.Body, alive}, p, skip)
}

// accept decides what the answer is: the rest of the file (skip 0), the whole
// file of which skip bytes are not needed, or a reason to give up.
func (s httpSource) accept(resp *http.Response, p *partFile) (skip int64, err error) {
	switch {
	case resp.StatusCode == http.StatusPartialContent && p.offset > 0:
		first, total, ok := contentRange(resp.Header.Get("Content-Range"))
		switch {
		case !ok || first != p.offset && first != 0:
			return 0, backoff.Permanent(fmt.Errorf("asked for the bytes from %d, the server sent the range %q", p.offset, resp.Header.Get("Content-Range")))
		case total >= 0 && total != p.entry.Bytes:
			return 0, backoff.Permanent(otherSize(total, p.entry))
		case first == p.offset && p.offset > p.verified && strong(resp.Header.Get("ETag")) != p.origin.ETag:
			return 0, errors.Join(errors.New("the file on the server changed"), p.rewind())
		case first == p.offset:
			return 0, nil
		}
		return p.verified, p.rewind() // a range that starts at 0 is the whole file
	case resp.StatusCode == http.StatusOK:
		if n := resp.ContentLength; n >= 0 && n != p.entry.Bytes && !isPage(resp.Header) {
			return 0, backoff.Permanent(otherSize(n, p.entry))
		}
		return p.verified, p.rewind()
	case resp.StatusCode == http.StatusRequestedRangeNotSatisfiable && p.offset > p.verified:
		return 0, errors.Join(errors.New("the server has no such range, starting the part again"), p.rewind())
	case resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusServiceUnavailable:
		if n, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && n > 0 {
			return 0, fmt.Errorf("the server answered %s: %w", resp.Status, backoff.RetryAfter(n))
		}
		return 0, fmt.Errorf("the server answered %s", resp.Status)
	case resp.StatusCode >= 500 || resp.StatusCode == http.StatusRequestTimeout:
		return 0, fmt.Errorf("the server answered %s", resp.Status)
	}
	return 0, backoff.Permanent(fmt.Errorf("the server answered %s", resp.Status))
}

func otherSize(n int64, e *Entry) error {
	return fmt.Errorf("%w: the server's file has %d bytes, the catalog's %d: it is another file", ErrWrongBytes, n, e.Bytes)
}

// contentRange parses "bytes 5-9/10" (RFC 9110, section 14.4); total is -1 when
// the server does not tell it.
func contentRange(v string) (first, total int64, ok bool) {
	v, ok = strings.CutPrefix(v, "bytes ")
	span, all, found := strings.Cut(v, "/")
	from, _, dash := strings.Cut(span, "-")
	if !ok || !found || !dash {
		return 0, 0, false
	}
	first, err := strconv.ParseInt(from, 10, 64)
	if err != nil || first < 0 {
		return 0, 0, false
	}
	if all == "*" {
		return first, -1, true
	}
	total, err = strconv.ParseInt(all, 10, 64)
	return first, total, err == nil
}

// strong returns tag if it proves equality of bytes, else "".
func strong(tag string) string {
	if strings.HasPrefix(tag, `"`) {
		return tag
	}
	return ""
}

func isPage(h http.Header) bool {
	return strings.HasPrefix(strings.ToLower(h.Get("Content-Type")), "text/html")
}

// copyBody appends the body to p after leaving out skip bytes, and looks at the
// first KiB of a whole file: an error page must not cost a gigabyte.
func copyBody(r io.Reader, p *partFile, skip int64) error {
	if p.offset == skip { // the body begins with the file's first byte
		head := make([]byte, min(1024, p.entry.Bytes))
		n, err := io.ReadFull(r, head)
		head = head[:n]
		if m := min(n, len(magic)); string(head[:m]) != magic[:m] {
			return backoff.Permanent(notAModel(head))
		}
		if err != nil {
			return err
		}
		r = io.MultiReader(bytes.NewReader(head), r)
	}
	if _, err := io.CopyN(io.Discard, r, skip); err != nil {
		return err
	}
	// What stands behind the last byte is not our business: the hash decides.
	r = io.LimitReader(r, p.entry.Bytes-p.offset)
	continued := p.offset > p.verified
	buf := make([]byte, 256<<10)
	for {
		n, err := r.Read(buf)
		if n > 0 {
			_, werr := p.Write(buf[:n])
			var wrong *WrongBytes
			switch {
			case continued && errors.As(werr, &wrong):
				return werr // perhaps the tail from an earlier run was bad: once more from the part's beginning
			case werr != nil:
				return backoff.Permanent(werr) // the disk, or wrong bytes
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func notAModel(head []byte) error {
	text := strings.ToLower(strings.TrimSpace(string(head)))
	if strings.HasPrefix(text, "<!doctype") || strings.HasPrefix(text, "<html") {
		return fmt.Errorf("%w: got a web page instead of the model; the network may want a log-in, or the server blocks the download", ErrWrongBytes)
	}
	return fmt.Errorf("%w: what the server sends does not begin like a model file", ErrWrongBytes)
}

// body tells alive about every read that brought bytes.
type body struct {
	io.Reader
	alive func()
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if n > 0 {
		b.alive()
	}
	return n, err
}
