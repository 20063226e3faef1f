package catalog

import (
	"errors"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// A disk that becomes full in the middle, in spite of the check before, ends in
// a sentence; what arrived is kept and the fetch goes on when there is room. It
// runs on a small tmpfs in a namespace of its own.
func TestDiskBecomesFull(t *testing.T) {
	data := pseudo(1, 4*mib)
	if dir := os.Getenv("ATOLL_CATALOG_TEST_FULL"); dir != "" {
		e := entryOf("m", data, 4)
		s := serve(t, data, func(a *answer, n int, w http.ResponseWriter, r *http.Request) bool { return false })
		e = from(e, s)
		_, err := Fetch(t.Context(), e, dir, quick(), nil)
		if !errors.Is(err, ErrNoSpace) || !strings.Contains(err.Error(), "the disk became full at ") || !strings.Contains(err.Error(), "what was fetched is kept") {
			t.Fatalf("error %v, want one that says that the disk became full", err)
		}
		wantNoFile(t, dir, e)
		if kept := NewShelf(dir, &Catalog{}).Fetched(e); kept < 2*mib {
			t.Errorf("%d bytes are kept", kept)
		}
		if out, err := exec.Command("mount", "-o", "remount,size=10m", dir).CombinedOutput(); err != nil {
			t.Fatalf("make room: %v: %s", err, out)
		}
		if _, err := Fetch(t.Context(), e, dir, quick(), nil); err != nil {
			t.Fatal(err)
		}
		wantFile(t, dir, e, data)
		return
	}
	dir := t.TempDir()
	cmd := exec.Command("unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
		`mount -t tmpfs -o size=3m none "$1" || exit 77; exec "$2" -test.run='^TestDiskBecomesFull$' -test.v`, "sh", dir, os.Args[0])
	cmd.Env = append(os.Environ(), "ATOLL_CATALOG_TEST_FULL="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil && !strings.Contains(string(out), "=== RUN") {
		t.Skipf("SKIPPED: no small disk to fill: %v: %s", err, out)
	}
	if err != nil || !strings.Contains(string(out), "--- PASS: TestDiskBecomesFull") {
		t.Errorf("%v:\n%s", err, out)
	}
}
