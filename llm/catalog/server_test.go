package catalog

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// pseudo returns n bytes that begin like a model file.
func pseudo(seed byte, n int) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{seed}).Read(b)
	copy(b, magic)
	return b
}

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// entryOf returns an entry for data, cut into the given number of parts.
func entryOf(name string, data []byte, parts int) Entry {
	e := Entry{Name: name, Title: name, File: name + ".gguf", Bytes: int64(len(data)), SHA256: sum(data),
		License: "Apache-2.0", Context: 1, MinMemory: 1}
	each := (len(data) + parts - 1) / parts
	for i := 0; parts > 1 && i < len(data); i += each {
		p := data[i:min(i+each, len(data))]
		e.Parts = append(e.Parts, Part{Bytes: int64(len(p)), SHA256: sum(p)})
	}
	return e
}

func from(e Entry, servers ...*server) Entry {
	for i, s := range servers {
		e.Sources = append(e.Sources, Source{Kind: HTTP, Name: fmt.Sprintf("host%d", i+1), Base: s.URL, Path: "repo/model.gguf"})
	}
	return e
}

// server serves one file properly, unless odd answers a request in its own way
// (n counts from 1) and returns true.
type server struct {
	*httptest.Server

	mu       sync.Mutex // guards what follows
	requests []string   // Range and If-Range of each request
	bytes    int64      // sent in bodies
}

// answer is what one request would get; odd may change it.
type answer struct {
	data []byte
	etag string
}

type oddity func(a *answer, n int, w http.ResponseWriter, r *http.Request) bool

func serve(t *testing.T, data []byte, odd oddity) *server {
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests, strings.TrimSpace(r.Header.Get("Range")+" "+r.Header.Get("If-Range")))
		n := len(s.requests)
		s.mu.Unlock()
		w = &counted{w, s}
		a := &answer{data: data, etag: `"one"`}
		if odd == nil || !odd(a, n, w, r) {
			a.proper(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func (a *answer) proper(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("ETag", a.etag)
	w.Header().Set("Content-Type", "application/octet-stream")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(a.data))
}

// cut answers properly but ends the connection after n bytes.
func (a *answer) cut(n int, w http.ResponseWriter, r *http.Request) {
	a.proper(&cutting{ResponseWriter: w, left: n}, r)
}

func (s *server) asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.requests...)
}

func (s *server) sent() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes
}

type counted struct {
	http.ResponseWriter
	s *server
}

func (c *counted) Write(b []byte) (int, error) {
	n, err := c.ResponseWriter.Write(b)
	c.s.mu.Lock()
	c.s.bytes += int64(n)
	c.s.mu.Unlock()
	return n, err
}

func (c *counted) Unwrap() http.ResponseWriter { return c.ResponseWriter }

type cutting struct {
	http.ResponseWriter
	left int
}

func (c *cutting) Write(b []byte) (int, error) {
	n, _ := c.ResponseWriter.Write(b[:min(len(b), c.left)])
	if c.left -= n; c.left == 0 {
		_ = http.NewResponseController(c.ResponseWriter).Flush()
		panic(http.ErrAbortHandler)
	}
	return n, nil
}

// quick are options for tests: no waiting, any disk will do.
func quick() Options {
	return Options{pause: time.Millisecond, Spare: 1, free: func(string) (int64, error) { return 1 << 40, nil }}
}

// wantFile fails unless dir holds exactly data as the finished file of e, and
// nothing unfinished.
func wantFile(t *testing.T, dir string, e Entry, data []byte) {
	t.Helper()
	got, err := os.ReadFile(filepath.Join(dir, e.File))
	if err != nil {
		t.Fatal(err)
	}
	if sum(got) != sum(data) {
		t.Errorf("the finished file has other bytes")
	}
	if recorded(filepath.Join(dir, e.File)) != e.SHA256 {
		t.Errorf("the finished file is not recorded as verified")
	}
	for _, left := range []string{e.File + ".part", e.File + ".part.json", "." + e.File + ".pip"} {
		if _, err := os.Stat(filepath.Join(dir, left)); err == nil {
			t.Errorf("%s was left behind", left)
		}
	}
}

// wantNoFile fails if a file has the final name.
func wantNoFile(t *testing.T, dir string, e Entry) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(dir, e.File)); err == nil {
		t.Errorf("unverified bytes got the final name")
	}
}
