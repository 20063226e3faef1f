package catalog

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// restart runs one test of this binary in a process of its own.
func restart(t *testing.T, test string, env ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^"+test+"$", "-test.timeout=60s")
	cmd.Env = append(os.Environ(), env...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd
}

func TestNoSpace(t *testing.T) {
	data := pseudo(1, mib)
	s := serve(t, data, nil)
	e, dir := from(entryOf("m", data, 1), s), t.TempDir()
	o := quick()
	o.Spare = 0
	o.free = func(string) (int64, error) { return 2 << 30, nil }
	_, err := Fetch(t.Context(), e, dir, o, nil)
	if !errors.Is(err, ErrNoSpace) {
		t.Fatalf("error %v, want ErrNoSpace", err)
	}
	for _, number := range []string{"m needs 1.0 MiB more in " + dir, "2.00 GiB must stay free", "there is 2.00 GiB", "free 1.0 MiB and run again"} {
		if !strings.Contains(err.Error(), number) {
			t.Errorf("the error %q lacks %q", err, number)
		}
	}
	if n := len(s.asked()); n != 0 {
		t.Errorf("the server got %d requests", n)
	}
	// Control: one byte more of room for the whole need is enough.
	o.free = func(string) (int64, error) { return 2<<30 + mib, nil }
	if _, err := Fetch(t.Context(), e, dir, o, nil); err != nil {
		t.Error(err)
	}
}

func TestAlreadyThere(t *testing.T) {
	data := pseudo(1, 1000)
	s := serve(t, data, nil)
	e, dir := from(entryOf("m", data, 1), s), t.TempDir()
	path := filepath.Join(dir, e.File)

	if err := os.WriteFile(path, pseudo(2, 1000), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Fetch(t.Context(), e, dir, quick(), nil)
	if !errors.Is(err, ErrWrongBytes) || !strings.Contains(err.Error(), "delete or rename that file") {
		t.Errorf("other bytes by that name: error %v", err)
	}
	if b, _ := os.ReadFile(path); sum(b) != sum(pseudo(2, 1000)) {
		t.Error("somebody's file was changed")
	}
	if err := os.WriteFile(path, data[:10], 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Fetch(t.Context(), e, dir, quick(), nil); !errors.Is(err, ErrWrongBytes) || !strings.Contains(err.Error(), "has 10 bytes, expected 1000") {
		t.Errorf("short file by that name: error %v", err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	for range 2 { // hashed the first time, recorded the second
		if _, err := Fetch(t.Context(), e, dir, quick(), nil); err != nil {
			t.Fatal(err)
		}
		wantFile(t, dir, e, data)
	}
	if n := len(s.asked()); n != 0 {
		t.Errorf("the server got %d requests", n)
	}
}

// A file that changed after it was verified counts as unverified again.
func TestRecordEndsWithChange(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.gguf")
	if err := os.WriteFile(path, []byte("GGUF 1"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := writeRecord(path, "abc"); err != nil {
		t.Fatal(err)
	}
	if got := recorded(path); got != "abc" {
		t.Fatalf("recorded is %q", got)
	}
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	// Same size and time, but another file.
	if err := os.Rename(path, path+".old"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("GGUF 2"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, st.ModTime(), st.ModTime()); err != nil {
		t.Fatal(err)
	}
	if now, err := os.Stat(path); err == nil && inode(now) != 0 {
		if got := recorded(path); got != "" {
			t.Errorf("a replaced file is recorded as %q", got)
		}
	}
	if err := os.WriteFile(path, []byte("GGUF 12"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := recorded(path); got != "" {
		t.Errorf("a changed file is recorded as %q", got)
	}
}

func TestOneAtATime(t *testing.T) {
	data := pseudo(1, 1000)
	e, dir := from(entryOf("m", data, 1), serve(t, data, nil)), t.TempDir()
	unlock, err := lock(dir, &e)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Fetch(t.Context(), e, dir, quick(), nil); !errors.Is(err, ErrBusy) {
		t.Errorf("error %v, want ErrBusy", err)
	}
	unlock()
	if _, err := Fetch(t.Context(), e, dir, quick(), nil); err != nil {
		t.Error(err)
	}
}

func TestOrder(t *testing.T) {
	data := pseudo(1, 1000)
	one, two := serve(t, data, nil), serve(t, data, nil)
	e := from(entryOf("m", data, 1), one, two)
	o := quick()
	o.Order = []string{"host2"}
	if _, err := Fetch(t.Context(), e, t.TempDir(), o, nil); err != nil {
		t.Fatal(err)
	}
	if len(one.asked()) != 0 || len(two.asked()) != 1 {
		t.Errorf("requests: host1 %d, host2 %d", len(one.asked()), len(two.asked()))
	}
	o.Order = []string{"folder"}
	if _, err := Fetch(t.Context(), e, t.TempDir(), o, nil); !errors.Is(err, ErrNoSource) || !strings.Contains(err.Error(), "host1, host2") {
		t.Errorf("error %v, want one that lists the sources", err)
	}
}

// Whatever happened to the unfinished file, the result is right.
func TestDamagedPart(t *testing.T) {
	data := pseudo(1, 4000)
	bad := append(append([]byte(nil), data[:2100]...), make([]byte, 400)...) // a power cut left zeros in part 3
	for name, part := range map[string][]byte{"zeros": bad, "too long": append(append([]byte(nil), data...), 1, 2, 3), "empty": nil, "other": pseudo(9, 3000)} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, data, nil)
			e, dir := from(entryOf("m", data, 4), s), t.TempDir()
			p, err := openPart(dir, &e, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.from(origin{Source: "host1", URL: s.URL + "/repo/model.gguf", ETag: `"one"`}); err != nil {
				t.Fatal(err)
			}
			if err := p.close(); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(partPath(dir, &e), part, 0o644); err != nil {
				t.Fatal(err)
			}
			if _, err := Fetch(t.Context(), e, dir, quick(), nil); err != nil {
				t.Fatal(err)
			}
			wantFile(t, dir, e, data)
		})
	}
}

func TestFolder(t *testing.T) {
	data := pseudo(1, 4000)
	e := entryOf("m", data, 4)
	e.Sources = []Source{{Kind: HTTP, Name: "host", Base: "http://host.invalid", Path: "m.gguf"}}
	stick := t.TempDir()
	put := func(b []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(stick, e.File), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	o := quick()
	o.Folder, o.Order = stick, []string{"folder"}
	dir := t.TempDir()
	if _, err := Fetch(t.Context(), e, dir, o, nil); err == nil || !strings.Contains(err.Error(), "m.gguf is not in "+stick) {
		t.Errorf("empty folder: error %v", err)
	}
	put(data[:3000])
	if _, err := Fetch(t.Context(), e, dir, o, nil); !errors.Is(err, ErrWrongBytes) || !strings.Contains(err.Error(), "has 3000 bytes") {
		t.Errorf("short file: error %v", err)
	}
	put(append(append([]byte(nil), data[:3500]...), make([]byte, 500)...))
	if _, err := Fetch(t.Context(), e, dir, o, nil); !errors.Is(err, ErrWrongBytes) || !strings.Contains(err.Error(), "part 4 of m from folder") {
		t.Errorf("damaged file: error %v", err)
	}
	put(data)
	if _, err := Fetch(t.Context(), e, dir, o, nil); err != nil {
		t.Fatal(err)
	}
	wantFile(t, dir, e, data)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Fetch(ctx, e, t.TempDir(), o, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: error %v", err)
	}
}
