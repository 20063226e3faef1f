package catalog

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A bad source costs only its own part: the next one goes on after it.
func TestNextSourceContinues(t *testing.T) {
	data := pseudo(1, mib)
	bad := serve(t, append(append([]byte(nil), data[:700000]...), pseudo(2, mib)[700000:]...), nil)
	good := serve(t, data, nil)
	e, dir := from(entryOf("m", data, 4), bad, good), t.TempDir()
	var notes []string
	if _, err := Fetch(t.Context(), e, dir, quick(), func(p Progress) {
		if p.Note != "" {
			notes = append(notes, p.Note)
		}
	}); err != nil {
		t.Fatal(err)
	}
	wantFile(t, dir, e, data)
	if diff := cmp.Diff([]string{"bytes=524288-"}, good.asked()); diff != "" {
		t.Errorf("requests to the good source (-want +got):\n%s", diff)
	}
	if all := strings.Join(notes, "\n"); !strings.Contains(all, "part 3 of m from host1 has SHA-256") {
		t.Errorf("the refusal was not told: %s", all)
	}
}

func TestCancelKeepsWhatArrived(t *testing.T) {
	data := pseudo(1, 4*mib)
	arrived := make(chan struct{})
	s := serve(t, data, func(a *answer, n int, w http.ResponseWriter, r *http.Request) bool {
		if n > 1 {
			return false
		}
		w.Header().Set("ETag", a.etag)
		w.Header().Set("Content-Length", fmt.Sprint(len(data)))
		_, _ = w.Write(data[:3*mib])
		_ = http.NewResponseController(w).Flush()
		close(arrived)
		<-r.Context().Done()
		return true
	})
	e, dir := from(entryOf("m", data, 1), s), t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	_, err := Fetch(ctx, e, dir, quick(), func(p Progress) {
		if p.Done >= 2*mib {
			<-arrived
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, want a cancellation", err)
	}
	wantNoFile(t, dir, e)
	shelf := NewShelf(dir, &Catalog{})
	if kept := shelf.Fetched(e); kept < 2*mib {
		t.Fatalf("%d bytes are kept, want at least %d", kept, 2*mib)
	}
	if _, err := Fetch(t.Context(), e, dir, quick(), nil); err != nil {
		t.Fatal(err)
	}
	wantFile(t, dir, e, data)
	if got := s.asked()[1]; !strings.HasPrefix(got, "bytes=") || !strings.HasSuffix(got, `"one"`) {
		t.Errorf("second request is %q, want a range with If-Range", got)
	}
}

// The process is killed in the middle, as a power cut would; the next one goes
// on and the server sends hardly a byte twice.
func TestResumeAfterKill(t *testing.T) {
	if url := os.Getenv("ATOLL_CATALOG_TEST_URL"); url != "" {
		e := entryOf("m", pseudo(1, 8*mib), 4)
		e.Sources = []Source{{Kind: HTTP, Name: "host1", Base: url, Path: "repo/model.gguf"}}
		_, err := Fetch(t.Context(), e, os.Getenv("ATOLL_CATALOG_TEST_DIR"), quick(), nil)
		t.Fatalf("the child should have been killed; it ended with %v", err)
	}
	data := pseudo(1, 8*mib)
	const first = 5 * mib // in part 3
	s := serve(t, data, func(a *answer, n int, w http.ResponseWriter, r *http.Request) bool {
		if n > 1 {
			return false
		}
		w.Header().Set("ETag", a.etag)
		w.Header().Set("Content-Length", fmt.Sprint(len(data)))
		_, _ = w.Write(data[:first])
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		return true
	})
	e, dir := from(entryOf("m", data, 4), s), t.TempDir()
	child := restart(t, "TestResumeAfterKill", "ATOLL_CATALOG_TEST_URL="+s.URL, "ATOLL_CATALOG_TEST_DIR="+dir)
	part := filepath.Join(dir, e.File+".part")
	for {
		if st, err := os.Stat(part); err == nil && st.Size() >= first {
			break
		}
		if t.Context().Err() != nil || child.ProcessState != nil {
			t.Fatal("the child never got so far")
		}
		time.Sleep(5 * time.Millisecond)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait()
	if _, err := Fetch(t.Context(), e, dir, quick(), nil); err != nil {
		t.Fatal(err)
	}
	wantFile(t, dir, e, data)
	if most := int64(len(data)) * 102 / 100; s.sent() > most {
		t.Errorf("the server sent %d bytes, at most %d are due", s.sent(), most)
	}
}
