package catalog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// tiny returns a valid model file with two tensors: 64 values of F32 and 64 of
// Q4_0, so 256 + 36 bytes of data behind an aligned header.
func tiny() []byte {
	var b bytes.Buffer
	put := func(v any) {
		if s, ok := v.(string); ok {
			_ = binary.Write(&b, binary.LittleEndian, uint64(len(s)))
			b.WriteString(s)
			return
		}
		_ = binary.Write(&b, binary.LittleEndian, v)
	}
	b.WriteString(magic)
	for _, v := range []any{
		uint32(3), uint64(2), uint64(4), // version, tensors, pairs
		"general.architecture", uint32(8), "tiny",
		"general.alignment", uint32(4), uint32(64),
		"tokens", uint32(9), uint32(8), uint64(2), "a", "b",
		"scores", uint32(9), uint32(6), uint64(3), float32(0), float32(1), float32(2),
		"one", uint32(1), uint64(64), uint32(0), uint64(0),
		"two", uint32(2), uint64(32), uint64(2), uint32(2), uint64(256),
	} {
		put(v)
	}
	for b.Len()%64 != 0 {
		b.WriteByte(0)
	}
	b.Write(make([]byte, 256+36))
	return b.Bytes()
}

func put(t *testing.T, dir, name string, b []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLeastSize(t *testing.T) {
	good, dir := tiny(), t.TempDir()
	least, err := leastSize(put(t, dir, "good.gguf", good))
	if err != nil || least != uint64(len(good)) {
		t.Errorf("least size of a valid file: %d, %v; want %d", least, err, len(good))
	}
	header := len(good) - 256 - 36 - 64
	for n := range header {
		if _, err := leastSize(put(t, dir, "cut.gguf", good[:n])); !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, errHeader) {
			t.Fatalf("header cut at %d: error %v", n, err)
		}
	}
	huge := append([]byte(nil), good...)
	binary.LittleEndian.PutUint64(huge[8:], math.MaxUint64)
	for name, b := range map[string][]byte{"text": []byte("just some text"), "counts": huge, "random": append([]byte(magic), pseudo(3, 4096)[4:]...)} {
		if _, err := leastSize(put(t, dir, name, b)); !errors.Is(err, errHeader) {
			t.Errorf("%s: error %v, want errHeader", name, err)
		}
	}
}

// No header makes the reader panic, hang or use much memory.
func FuzzLeastSize(f *testing.F) {
	f.Add(tiny())
	f.Add(pseudo(1, 200))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(dir, "f.gguf")
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		least, err := leastSize(path)
		if err == nil && least > 1<<62 {
			t.Errorf("least size %d", least)
		}
	})
}
