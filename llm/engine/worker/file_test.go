package worker

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atoll/llm/engine/wire"
)

func TestCheckFile(t *testing.T) {
	dir := t.TempDir()
	header := func(version uint32) string {
		return "GGUF" + string(binary.LittleEndian.AppendUint32(nil, version)) + strings.Repeat("\x01", 100)
	}
	for name, c := range map[string]struct{ file, content, want string }{
		"fine":             {"a.gguf", header(3), ""},
		"version 2":        {"a.gguf", header(2), ""},
		"empty":            {"a.gguf", "", "is empty"},
		"page":             {"a.gguf", "\n<!DOCTYPE HTML><html>Log in</html>", "is a web page"},
		"page with mark":   {"a.gguf", "\xef\xbb\xbf<html>", "is a web page"},
		"LFS pointer":      {"a.gguf", "version https://git-lfs.github.com/spec/v1\n", "pointer"},
		"random":           {"a.gguf", "\x93\x1f\x00random", "not a GGUF file"},
		"cut in header":    {"a.gguf", "GGUF\x03", "cut off after 5 bytes"},
		"old version":      {"a.gguf", header(1), "version 1"},
		"future version":   {"a.gguf", header(4), "version 4"},
		"other byte order": {"a.gguf", header(0x03000000), "byte order"},
		"middle part":      {"a-00002-of-00003.gguf", header(3), "one of 3 parts"},
		"first part":       {"a-00001-of-00003.gguf", header(3), "one of 3 parts"},
		"only part":        {"a-00001-of-00001.gguf", header(3), ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, c.file)
			if err := os.WriteFile(path, []byte(c.content), 0o644); err != nil {
				t.Fatal(err)
			}
			n, err := checkFile(path)
			switch {
			case c.want == "":
				if err != nil || n != int64(len(c.content)) {
					t.Errorf("%d, %v", n, err)
				}
			case err == nil || faultOf(err).Kind != wire.KindModel || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.file):
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	for path, want := range map[string]string{filepath.Join(dir, "gone.gguf"): "moved or deleted", dir: "not a file but a folder"} {
		if _, err := checkFile(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", path, err, want)
		}
	}
}

func TestExplain(t *testing.T) {
	for _, c := range []struct {
		said string
		kind wire.Kind
		want string
	}{
		{"llama_model_load: error loading model: unknown model architecture: 'foo'", wire.KindModel, "a kind (foo)"},
		{"llama_model_load: error loading model: tensor 'x' data is not within the file bounds, model is corrupted or incomplete", wire.KindModel, "is incomplete"},
		{"alloc_tensor_range: failed to allocate CPU buffer of size 99", wire.KindMemory, "not enough memory"},
		{"gguf_init_from_file_impl: duplicated key", wire.KindModel, "(duplicated key)"},
		{"", wire.KindModel, "no reason was given"},
	} {
		err := explain("/x/m.gguf", strings.Split(c.said, "\n"))
		if faultOf(err).Kind != c.kind || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v", c.said, err)
		}
	}
}

func TestLibraryLog(t *testing.T) {
	l := &libraryLog{}
	l.write(2, "load_backend: loaded CPU backend from /x/libggml-cpu-haswell.so\n")
	l.write(4, "first ")
	l.write(levelCont, "half\n")
	l.write(2, "only information\n")
	l.write(3, "a warning\n")
	if got := strings.Join(l.complaints(), "|"); got != "first half|a warning" {
		t.Errorf("complaints %q", got)
	}
	if got := l.cpuVariant(); got != "haswell" {
		t.Errorf("variant %q", got)
	}
	for range 3 * keptLines {
		l.write(4, "again\n")
	}
	if n := len(l.complaints()); n != keptLines {
		t.Errorf("%d lines are kept", n)
	}
}
