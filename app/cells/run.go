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

// Run implements the agent's Cells: it runs a call in the chat's kernel,
// passes its output on as it comes, and returns what is kept of it. Errors are
// only for what was not the code's own fault.
func (s *Service) Run(ctx context.Context, id string, call storage.Call, out func(storage.Output)) (storage.Result, error) {
	if call.Language != "python" {
		return storage.Result{Status: "error", Note: fmt.Sprintf("Atoll runs Python; %q is not available. Write it in Python.", call.Language)}, nil
	}
	c, err := s.take(id)
	if err != nil {
		return storage.Result{}, err
	}
	defer s.give(c)
	c.mu.Lock()
	defer c.mu.Unlock()
	k, err := s.session(ctx, id, c)
	if err != nil {
		return storage.Result{}, err
	}
	var notes []string
	changed, err := c.ws.Refresh()
	if err != nil {
		notes = append(notes, err.Error())
	}
	for _, f := range changed {
		if f.Gone {
			notes = append(notes, f.Name+" is not where it was; the content from before is used.")
		} else {
			notes = append(notes, f.Name+" has changed since it was attached; the new content is used.")
		}
	}
	before, err := c.ws.Snapshot()
	if err != nil {
		return storage.Result{}, err
	}
	col := &collector{blobs: s.Blobs, out: out}
	digest := kernel.NewDigest(digestLimits)
	res, err := k.Run(ctx, call.Code, func(o kernel.Output) {
		if o.Stream != "stderr" { // warnings lead small models astray; errors come with the result
			digest.Add(o)
		}
		col.take(o)
	})
	outputs, cerr := col.end()
	if err != nil || cerr != nil {
		return storage.Result{Outputs: outputs}, errors.Join(err, cerr)
	}
	r := storage.Result{Status: string(res.Status), Outputs: outputs, Digest: strings.TrimSpace(digest.Text()), Seconds: res.Took.Seconds(), Cut: res.Cut}
	if res.Log != "" {
		if r.Log, err = s.keepLog(res.Log); err != nil {
			notes = append(notes, fmt.Sprintf("The whole output could not be kept: %v.", err))
		}
	}
	if e := res.Error; e != nil {
		r.Error = &storage.Error{Name: e.Name, Message: e.Message, Line: e.Line, Trace: e.Trace, Hint: e.Hint}
	}
	files, ferr := s.keepFiles(c, before)
	r.Files = files
	for _, n := range append(notes, res.Note, ferr) {
		if n != "" {
			r.Note = strings.TrimSpace(r.Note + " " + n)
		}
	}
	return r, nil
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
