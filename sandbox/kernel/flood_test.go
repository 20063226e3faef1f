//go:build unix

package kernel

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"atoll/sandbox"
)

// TestFlood prints much in two ways; the host keeps a bounded part of it.
func TestFlood(t *testing.T) {
	mb := 20
	if os.Getenv("ATOLL_TEST_LONG") != "" {
		mb = 200
	} else {
		t.Log("SHORTENED to 20 MB of output: set ATOLL_TEST_LONG=1 for 200 MB")
	}
	o := options(t)
	o.MaxLog = int64(mb) << 20 / 4
	s := open(t, o)
	for _, c := range []struct{ name, code string }{
		{"print", fmt.Sprintf("for i in range(%d): print('x' * 199)\nprint('the end')", mb*5000)},
		{"raw", fmt.Sprintf("import os\nfor i in range(%d): os.write(1, b'z' * 62499 + b'\\n')\nprint('the end')", mb*16)},
	} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		d := NewDigest(DigestLimits{})
		size, end := 0, ""
		res, err := s.Run(t.Context(), c.code, func(o Output) {
			size += len(o.Text)
			end = o.Text
			d.Add(o)
		})
		runtime.GC()
		runtime.ReadMemStats(&after)
		if err != nil || res.Status != OK {
			t.Fatalf("%s: %+v, %v", c.name, res, err)
		}
		if size > defaultText+tailText+1000 || int64(size)+res.Cut < int64(mb)*1e6 {
			t.Errorf("%s: %d bytes shown, %d cut", c.name, size, res.Cut)
		}
		if !strings.HasSuffix(end, "the end\n") {
			t.Errorf("%s: the end is not shown: %.60q", c.name, end)
		}
		if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 16<<20 {
			t.Errorf("%s: the host keeps %d MB", c.name, grown>>20)
		}
		st, err := os.Stat(res.Log)
		if err != nil || st.Size() > o.MaxLog || st.Size() < o.MaxLog/2 {
			t.Errorf("%s: log: %v, %v", c.name, st, err)
		}
		if len(d.Text()) > 6500 {
			t.Errorf("%s: digest of %d bytes", c.name, len(d.Text()))
		}
		t.Logf("%s: %v", c.name, res.Took)
	}
}

// TestMemory: an allocation that is refused ends the cell, not the kernel. The
// limit is that of the fake runner, so that the test is harmless everywhere.
func TestMemory(t *testing.T) {
	o := options(t)
	o.Runner = bare{}
	o.Limits = sandbox.Limits{Memory: 1 << 30}
	s := open(t, o)
	exec1(t, s, "kept = 1")
	got := exec1(t, s, "blocks = []\nfor i in range(100): blocks.append(bytes(50 << 20))")
	if got.Status != Error || got.Error.Name != "MemoryError" || !strings.Contains(got.Error.Hint, "memory limit of 1 GiB") {
		t.Fatalf("got %+v, %+v", got.Result, got.Error)
	}
	if next := exec1(t, s, "del blocks\nkept"); next.Value != "1" {
		t.Errorf("next: %+v", next.Result)
	}
}

// TestMemoryLimit: beyond the limit of the sandbox the kernel ends, and says so.
func TestMemoryLimit(t *testing.T) {
	if jail() == nil {
		t.Skip("SKIPPED: there is no sandbox on this machine")
	}
	if raced {
		t.Skip("SKIPPED: the helper of a race-detecting build needs more memory than the limit; make test-escape")
	}
	o := options(t)
	o.Runner = jail()
	o.Limits = sandbox.Limits{Memory: 256 << 20}
	s := open(t, o)
	got := exec1(t, s, "blocks = []\nfor i in range(60): blocks.append(b'x' * (10 << 20))") // 600 MB at most
	switch {
	case got.Status == Error && got.Error.Name == "MemoryError":
	case got.Status == Died && got.Exit.Cause == sandbox.OutOfMem && strings.Contains(got.Note, "memory limit"):
	default:
		t.Fatalf("got %+v, %+v", got.Result, got.Exit)
	}
	t.Log(got.Note)
	if next := exec1(t, s, "1 + 1"); next.Value != "2" {
		t.Errorf("next: %+v", next.Result)
	}
}

// TestOriginalsAreReadOnly needs the boundary: a write to an original is
// refused with a hint, and the same write elsewhere succeeds.
func TestOriginalsAreReadOnly(t *testing.T) {
	if jail() == nil {
		t.Skip("SKIPPED: there is no sandbox on this machine")
	}
	o := options(t)
	o.Runner = jail()
	files := t.TempDir()
	if err := os.WriteFile(files+"/sales.csv", []byte("a,b\n1,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(files+"/sales.csv", o.Dir+"/sales.csv"); err != nil {
		t.Fatal(err)
	}
	o.Read = []string{files}
	s := open(t, o)
	if got := exec1(t, s, "print(open('sales.csv').read())"); got.text != "a,b\n1,2\n\n" {
		t.Fatalf("read: %q %+v", got.text, got.Error)
	}
	if got := exec1(t, s, "open('copy.csv', 'w').write('x')"); got.Status != OK {
		t.Fatalf("control: %+v", got.Error)
	}
	got := exec1(t, s, "open('sales.csv', 'w')")
	if got.Error == nil || !strings.Contains(got.Error.Hint, "'new_sales.csv'") {
		t.Errorf("write: %+v", got.Error)
	}
	if b, _ := os.ReadFile(files + "/sales.csv"); string(b) != "a,b\n1,2\n" {
		t.Errorf("the original holds %q", b)
	}
}
