package cells

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"atoll/sandbox/kernel"
	"atoll/sandbox/workspace"
	"atoll/storage"
)

// Longer is asked whether code that has run for very long may go on as long
// again. ctx ends when that does not matter any more.
type Longer = func(ctx context.Context, ran time.Duration) bool

// Run implements the agent's Cells: it runs a call in the chat's kernel,
// passes its output on as it comes, and returns what is kept of it. longer may
// be nil. Errors are only for what was not the code's own fault.
func (s *Service) Run(ctx context.Context, id string, call storage.Call, out func(storage.Output), longer Longer) (storage.Result, error) {
	r, err := s.begin(ctx, id, call, out, longer)
	if r == nil {
		return refused(call), err
	}
	defer r.release()
	res, err := r.k.Run(ctx, call.Code, r.take)
	return r.end(ctx, res, err)
}

// refused is the result of a call in a language that is not to be had.
func refused(call storage.Call) storage.Result {
	return storage.Result{Status: "error", Note: fmt.Sprintf("Atoll runs Python; %q is not available. Write it in Python.", call.Language)}
}

// A run is one call in the kernel of a chat, which it holds until release.
type run struct {
	s      *Service
	c      *chat
	k      *kernel.Python
	notes  []string
	before workspace.Snapshot
	out    *collector
	digest *kernel.Digest
}

// begin gets the chat's kernel and files ready. It returns nil without an error
// for a language that there is not.
func (s *Service) begin(ctx context.Context, id string, call storage.Call, out func(storage.Output), longer Longer) (*run, error) {
	if call.Language != "python" {
		return nil, nil
	}
	c, err := s.take(id)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.longer = longer
	r := &run{s: s, c: c, out: &collector{blobs: s.Blobs, out: out}, digest: kernel.NewDigest(digestLimits)}
	if err := r.prepare(ctx, id); err != nil {
		r.release()
		return nil, err
	}
	return r, nil
}

func (r *run) prepare(ctx context.Context, id string) (err error) {
	if r.k, err = r.s.session(ctx, id, r.c); err != nil {
		return err
	}
	if r.c.lost != "" {
		r.notes, r.c.lost = append(r.notes, r.c.lost), ""
	}
	changed, err := r.c.ws.Refresh()
	if err != nil {
		r.notes = append(r.notes, err.Error())
	}
	for _, f := range changed {
		if f.Gone {
			r.notes = append(r.notes, f.Name+" is not where it was; the content from before is used.")
		} else {
			r.notes = append(r.notes, f.Name+" has changed since it was attached; the new content is used.")
		}
	}
	r.before, err = r.c.ws.Snapshot()
	return err
}

func (r *run) release() {
	r.c.longer = nil
	r.c.mu.Unlock()
	r.s.give(r.c)
}

func (r *run) take(o kernel.Output) {
	if o.Stream != "stderr" { // warnings lead small models astray; errors come with the result
		r.digest.Add(o)
	}
	r.out.take(o)
}

// end gathers what is kept of a run.
func (r *run) end(ctx context.Context, res kernel.Result, err error) (storage.Result, error) {
	outputs, cerr := r.out.end()
	if err != nil || cerr != nil {
		return storage.Result{Outputs: outputs}, errors.Join(err, cerr)
	}
	kept := storage.Result{Status: string(res.Status), Outputs: outputs, Digest: strings.TrimSpace(r.digest.Text()), Seconds: res.Took.Seconds(), Cut: res.Cut}
	if res.Log != "" {
		if kept.Log, err = r.s.keepLog(res.Log); err != nil {
			r.notes = append(r.notes, fmt.Sprintf("The whole output could not be kept: %v.", err))
		}
	}
	if e := res.Error; e != nil {
		kept.Error = &storage.Error{Name: e.Name, Message: e.Message, Line: e.Line, Trace: e.Trace, Hint: e.Hint}
	}
	files, ferr := r.s.keepFiles(r.c, r.before)
	kept.Files = files
	kept.Receipt = r.s.receipt(ctx, r.c, res, files)
	if kept.Status != string(kernel.OK) { // a program that coped needs no advice
		r.notes = append(r.notes, kept.Receipt.Explained...)
	}
	for _, n := range append(r.notes, res.Note, ferr) {
		if n != "" {
			kept.Note = strings.TrimSpace(kept.Note + " " + n)
		}
	}
	return kept, nil
}

// digestLimits bounds what the model is told of one run. Reading is slow: on a
// CPU 1,600 bytes take some 20 seconds.
var digestLimits = kernel.DigestLimits{Head: 900, Tail: 450, Errors: 250}

// keepLog moves the log of a run into the store.
func (s *Service) keepLog(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	hash, _, err := s.Blobs.Put(f, maxKeep)
	if err != nil {
		return "", err
	}
	return hash, os.Remove(path)
}

// flushEvery is how long output of one stream is gathered before it is passed
// on: a page cannot show more often.
const flushEvery = 30 * time.Millisecond

// collector gathers what a run shows: pieces of the same stream are joined,
// displayed objects go to the blob store.
type collector struct {
	blobs interface {
		Put(r io.Reader, limit int64) (string, int64, error)
	}
	out func(storage.Output)

	mu    sync.Mutex
	kept  []storage.Output
	next  storage.Output // text not passed on yet
	timer *time.Timer
	err   error
	over  bool
}

func (c *collector) take(o kernel.Output) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return
	}
	if o.Data != nil {
		c.flush()
		kept, err := c.display(o.Data)
		if err != nil {
			c.err = errors.Join(c.err, err)
			return
		}
		c.kept = append(c.kept, kept)
		c.out(kept)
		return
	}
	if c.next.Stream != o.Stream || len(c.next.Text) > 32<<10 {
		c.flush()
	}
	c.next.Stream = o.Stream
	c.next.Text += o.Text
	if c.timer == nil {
		c.timer = time.AfterFunc(flushEvery, func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.timer = nil
			c.flush()
		})
	}
}

// flush needs c.mu.
func (c *collector) flush() {
	if c.next.Text == "" {
		return
	}
	o := c.next
	c.next = storage.Output{}
	if n := len(c.kept); n > 0 && c.kept[n-1].Stream == o.Stream && c.kept[n-1].MIME == "" {
		c.kept[n-1].Text += o.Text
	} else {
		c.kept = append(c.kept, o)
	}
	if !c.over {
		c.out(o)
	}
}

// display keeps an object: the richest form as a file, the text beside it.
func (c *collector) display(data map[string][]byte) (storage.Output, error) {
	o := storage.Output{Plain: string(data["text/plain"]), MIME: "text/plain"}
	for _, m := range []string{"image/png", kernel.TableMIME} {
		b, ok := data[m]
		if !ok {
			continue
		}
		hash, _, err := c.blobs.Put(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return o, fmt.Errorf("keep %s: %w", m, err)
		}
		o.MIME, o.Blob = m, hash
		break
	}
	return o, nil
}

func (c *collector) end() ([]storage.Output, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer != nil {
		c.timer.Stop()
	}
	c.flush()
	c.over = true
	return c.kept, c.err
}

// keepFiles copies what the run made into the store, so that a later run which
// writes the same name does not change the past. The second result is a
// sentence about what could not be kept.
func (s *Service) keepFiles(c *chat, before workspace.Snapshot) ([]storage.File, string) {
	changed, err := c.ws.Changed(before)
	if err != nil {
		return nil, err.Error()
	}
	var out []storage.File
	notes := []string{changed.Note}
	for _, f := range changed.Files {
		file := storage.File{Name: f.Name, Size: f.Size, MIME: mime.TypeByExtension(filepath.Ext(f.Name))}
		if f.Size > maxKeep {
			notes = append(notes, fmt.Sprintf("%s is large and stays in the chat's folder only.", f.Name))
		} else if file.Blob, err = s.keep(c, f.Name); err != nil {
			notes = append(notes, fmt.Sprintf("%s could not be kept: %v.", f.Name, err))
		}
		out = append(out, file)
	}
	return out, strings.TrimSpace(strings.Join(notes, " "))
}

func (s *Service) keep(c *chat, name string) (string, error) {
	f, err := c.ws.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	hash, _, err := s.Blobs.Put(f, maxKeep)
	return hash, err
}
