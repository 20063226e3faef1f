package engine_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"atoll/llm"
	"atoll/llm/engine"
)

func TestWrongLibrary(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the name of the library is that of Linux")
	}
	libDir(t) // the control is every other test of this package
	for name, c := range map[string]struct {
		source string // of the library in C; "" is a file that is none
		want   string
	}{
		"not a library":                {"", "cannot be loaded"},
		"too old":                      {"int x;", "does not tell its version"},
		"other version":                {`const char *llama_version(void) { return "0.5.0"; }`, `"0.5.0", and this Atoll works with 0.4.0`},
		"right version, nothing in it": {`const char *llama_version(void) { return "0.4.0"; }`, "does not fit"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			lib := filepath.Join(dir, "libllama.so")
			if c.source == "" {
				if err := os.WriteFile(lib, []byte("no library"), 0o644); err != nil {
					t.Fatal(err)
				}
			} else {
				compile(t, c.source, lib)
			}
			e := newEngine(t, tinyModel(t), func(o *engine.Options) { o.LibDir = dir })
			_, _, err := collect(t.Context(), e, ask("x", 1))
			if !errors.Is(err, llm.ErrEngine) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %v with %q", err, llm.ErrEngine, c.want)
			}
		})
	}
}

func compile(t *testing.T, source, lib string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "lib.c")
	if err := os.WriteFile(file, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cc", "-shared", "-fPIC", "-o", lib, file).CombinedOutput(); err != nil {
		t.Skipf("SKIPPED, REFUSING A WRONG LIBRARY IS NOT TESTED: no C compiler: %v %s", err, out)
	}
}
