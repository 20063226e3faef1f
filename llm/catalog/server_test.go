package catalog

import (
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
	data []byte
	etag string
	odd  func(n int, w http.ResponseWriter, r *http.Request) bool

	mu       sync.Mutex
	requests []string // Range and If-Range of each request
	sent     int64    // bytes of bodies
}

func serve(t *testing.T, data []byte, odd func(s *server, n int, w http.ResponseWriter, r *http.Request) bool) *server {
	s := &server{data: data, etag: `"one"`}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests, strings.TrimSpace(r.Header.Get("Range")+" "+r.Header.Get("If-Range")))
		n := len(s.requests)
		s.mu.Unlock()
		w = &counted{w, s}
		if odd != nil && odd(s, n, w, r) {
			return
		}
		s.proper(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *server) proper(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("ETag", s.etag)
	w.Header().Set("Content-Type", "application/octet-stream")
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(string(s.data)))
}

func (s *server) asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.requests...)
}

type counted struct {
	http.ResponseWriter
	s *server
}

func (c *counted) Write(b []byte) (int, error) {
	n, err := c.ResponseWriter.Write(b)
	c.s.mu.Lock()
	c.s.sent += int64(n)
	c.s.mu.Unlock()
	return n, err
}

func (c *counted) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// cut answers properly but ends the connection after n bytes.
func (s *server) cut(n int, w http.ResponseWriter, r *http.Request) {
	s.proper(&cutting{ResponseWriter: w, left: n}, r)
}

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
