// Package server is the host's door: the table of methods, the events and the
// kept files over HTTP on a local socket that only its owner can reach.
package server

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"atoll/app/api"
	"atoll/app/event"
	"atoll/app/fault"
)

// Address tells clients where a host listens and what it is; it is the
// content of the host file in the data folder, readable by its owner only.
type Address struct {
	Socket string `json:"socket"`
	Token  string `json:"token"`
	PID    int    `json:"pid"`
	Build  string `json:"build"` // identity of the program; clients of another build ask an idle host to leave
}

// Blobs reads kept files by hash.
type Blobs interface {
	Open(hash string) (*os.File, error)
}

// Keep stores uploaded content as an attachment of a chat.
type Keep func(ctx context.Context, chat, name string, r io.Reader) (any, error)

// A Server serves one host.
type Server struct {
	Table *api.Table
	Bus   *event.Bus
	Blobs Blobs
	Keep  Keep
	Build string

	doors atomic.Int64 // open event streams and calls
	last  atomic.Int64 // unix nanoseconds of the last time there was one
}

// uploadMax bounds one upload, in bytes: more than that is better dropped by
// path, which copies nothing.
const uploadMax = 4 << 30

// Handler serves requests that carry token.
func (s *Server) Handler(token string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /rpc/{method}", s.rpc)
	mux.HandleFunc("GET /events", s.events)
	mux.HandleFunc("GET /blob/{hash}", s.blob)
	mux.HandleFunc("POST /upload", s.upload)
	mux.HandleFunc("GET /hello", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, Address{PID: os.Getpid(), Build: s.Build})
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !ok || subtle.ConstantTimeCompare([]byte(got), []byte(token)) != 1 {
			http.Error(w, "unauthorized", http.StatusUnauthorized)
			return
		}
		s.doors.Add(1)
		defer func() {
			s.last.Store(time.Now().UnixNano())
			s.doors.Add(-1)
		}()
		mux.ServeHTTP(w, r)
	})
}

// Idle returns for how long nobody has been at the door; 0 while somebody is.
func (s *Server) Idle() time.Duration {
	if s.doors.Load() > 0 {
		return 0
	}
	return time.Since(time.Unix(0, s.last.Load()))
}

func (s *Server) rpc(w http.ResponseWriter, r *http.Request) {
	in, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 16<<20))
	if err != nil {
		refuse(w, fmt.Errorf("%w: %w", api.ErrInput, err))
		return
	}
	out, err := s.Table.Call(r.Context(), r.PathValue("method"), in)
	if err != nil {
		refuse(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(out) // the client may be gone; nothing to do about it
}

func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	since, err := strconv.ParseUint(r.URL.Query().Get("since"), 10, 64)
	if err != nil {
		refuse(w, fmt.Errorf("%w: since must be a number", api.ErrInput))
		return
	}
	if id := r.Header.Get("Last-Event-ID"); id != "" { // EventSource came back by itself
		if n, err := strconv.ParseUint(id, 10, 64); err == nil {
			since = n
		}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	flush := http.NewResponseController(w)
	fmt.Fprint(w, ": hello\n\n")
	_ = flush.Flush()
	// A watcher that lags is cut off by closing the stream: it comes back with
	// the last Seq it saw.
	_ = s.Bus.Watch(r.Context(), since, func(batch []event.Event) error {
		b, err := json.Marshal(batch)
		if err != nil {
			return err
		}
		id := ""
		for _, e := range batch {
			if e.Seq > 0 {
				id = fmt.Sprintf("id: %d\n", e.Seq)
			}
		}
		if _, err := fmt.Fprintf(w, "%sdata: %s\n\n", id, b); err != nil {
			return err
		}
		return flush.Flush()
	})
}

func (s *Server) blob(w http.ResponseWriter, r *http.Request) {
	f, err := s.Blobs.Open(r.PathValue("hash"))
	if err != nil {
		http.Error(w, "there is no such file", http.StatusNotFound)
		return
	}
	defer f.Close()
	h := w.Header()
	// Content comes from programs that a model wrote: it is only ever data.
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "private, max-age=31536000, immutable")
	h.Set("Content-Type", safeType(r.URL.Query().Get("type")))
	if name := r.URL.Query().Get("name"); name != "" {
		h.Set("Content-Disposition", "attachment; filename*=UTF-8''"+escapeName(name))
	}
	http.ServeContent(w, r, "", time.Time{}, f)
}

// safeType lets through what a page shows; the rest is bytes.
func safeType(t string) string {
	switch t {
	case "image/png", "image/jpeg", "image/gif", "image/webp", "application/json":
		return t
	case "application/vnd.atoll.table+json":
		return "application/json"
	}
	if strings.HasPrefix(t, "text/") {
		return "text/plain; charset=utf-8"
	}
	return "application/octet-stream"
}

// escapeName is RFC 5987 percent encoding.
func escapeName(name string) string {
	var b strings.Builder
	for _, c := range []byte(name) {
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("-._~", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}

func (s *Server) upload(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	body := http.MaxBytesReader(w, r.Body, uploadMax)
	f, err := s.Keep(r.Context(), q.Get("chat"), q.Get("name"), body)
	// Who uploads reads no answer before all is sent: a connection that is
	// closed earlier hides why the content was refused.
	_, _ = io.Copy(io.Discard, body)
	if err != nil {
		refuse(w, err)
		return
	}
	reply(w, f)
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}

func refuse(w http.ResponseWriter, err error) {
	f := fault.Of(err)
	if errors.Is(err, api.ErrInput) {
		f = fault.BadRequest(err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(f.Status())
	_ = json.NewEncoder(w).Encode(f)
}

// Listen opens the socket and writes the host file, which appears complete or
// not at all. The returned function removes both.
func (s *Server) Listen(hostFile string) (net.Listener, string, func(), error) {
	s.last.Store(time.Now().UnixNano())
	dir, err := socketDir(filepath.Dir(hostFile))
	if err != nil {
		return nil, "", nil, err
	}
	sock := filepath.Join(dir, "host.sock")
	_ = os.Remove(sock) // left by a host that was killed; the data folder's lock says there is no other
	ln, err := net.Listen("unix", sock)
	if err != nil {
		return nil, "", nil, fmt.Errorf("listen for windows and commands: %w", err)
	}
	key := make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		return nil, "", nil, errors.Join(err, ln.Close())
	}
	a := Address{Socket: sock, Token: base64.RawURLEncoding.EncodeToString(key), PID: os.Getpid(), Build: s.Build}
	b, err := json.Marshal(a)
	if err == nil {
		err = os.Chmod(sock, 0o600)
	}
	if err == nil {
		err = os.WriteFile(hostFile+".new", b, 0o600)
	}
	if err == nil {
		err = os.Rename(hostFile+".new", hostFile)
	}
	if err != nil {
		return nil, "", nil, errors.Join(fmt.Errorf("write %s: %w", hostFile, err), ln.Close())
	}
	return ln, a.Token, func() {
		_ = os.Remove(hostFile)
		_ = os.Remove(sock)
		if dir != filepath.Dir(hostFile) {
			_ = os.Remove(dir)
		}
	}, nil
}

// socketDir returns a private folder whose path is short enough for a socket
// address (108 bytes on Linux, 104 on macOS): dir itself, or one that is named
// after it.
func socketDir(dir string) (string, error) {
	if len(filepath.Join(dir, "host.sock")) < 100 || runtime.GOOS == "windows" {
		return dir, nil
	}
	sum := sha256.Sum256([]byte(dir))
	short := filepath.Join("/tmp", fmt.Sprintf("atoll-%d-%x", os.Getuid(), sum[:6]))
	err := os.Mkdir(short, 0o700)
	if err != nil && !errors.Is(err, os.ErrExist) {
		return "", fmt.Errorf("make a folder for the socket: %w", err)
	}
	st, err := os.Lstat(short)
	if err != nil || !st.IsDir() || st.Mode().Perm() != 0o700 || !ownedByMe(st) {
		return "", fmt.Errorf("make a folder for the socket: %s is there and not ours; remove it", short)
	}
	return short, nil
}
