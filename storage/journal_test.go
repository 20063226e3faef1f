package storage

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What a power cut leaves of a journal: cut anywhere, a tail of NULs, garbage.
func TestTornJournals(t *testing.T) {
	t.Parallel()
	s, _, d := streaming(t)
	want := "The quick brown fox jumps over the lazy dog"
	head := must(os.ReadFile(d.path))(t)
	write(t, d, TextChunk, strings.SplitAfter(want, " ")...)
	whole := must(os.ReadFile(d.path))(t)
	read := func(b []byte) (string, error) {
		h, chunks, err := parseJournal(b)
		if err == nil && h != d.header {
			t.Errorf("header %+v", h)
		}
		return interrupted(chunks).Text, err
	}
	longest := 0
	for n := range len(whole) + 1 {
		flipped := bytes.Clone(whole)
		if n < len(whole) {
			flipped[n] ^= 0x10
		}
		for name, b := range map[string][]byte{
			"cut":     whole[:n],
			"NULs":    append(bytes.Clone(whole[:n]), make([]byte, len(whole)-n+4096)...),
			"garbage": append(bytes.Clone(whole[:n]), bytes.Repeat([]byte{0xa5}, 64)...),
			"flipped": flipped,
		} {
			text, err := read(b)
			if n < len(head) != errors.Is(err, ErrDamaged) {
				t.Errorf("%s at %d: error %v", name, n, err)
			}
			if !strings.HasPrefix(want, text) {
				t.Errorf("%s at %d: %q", name, n, text)
			}
			// All frames that are whole must be read.
			if name == "cut" && len(text) < longest {
				t.Errorf("cut at %d: only %q", n, text)
			} else if name == "cut" {
				longest = len(text)
			}
		}
	}
	if longest != len(want) {
		t.Errorf("%d bytes of the whole journal were read", longest)
	}
	// A journal without a header is set aside, and the store opens.
	if err := os.WriteFile(filepath.Join(s.dir, draftsName, "bad"+journalExt), head[:len(head)-1], 0o600); err != nil {
		t.Fatal(err)
	}
	s = reopen(t, s)
	aside := s.Report().SetAside
	if len(aside) != 1 || len(s.Report().Folded) != 1 {
		t.Fatalf("report: %+v", s.Report())
	}
	if b := must(os.ReadFile(aside[0]))(t); !bytes.Equal(b, head[:len(head)-1]) {
		t.Error("the file that was set aside has changed")
	}
}

func FuzzJournal(f *testing.F) {
	h, err := encode(journalHeader{ID: "i", Chat: "c"})
	if err != nil {
		f.Fatal(err)
	}
	b := frame([]byte(journalMagic), h)
	f.Add(b)
	f.Add(chunkFrames(b, Chunk{TextChunk, "text"}))
	f.Add(chunkFrames(b, Chunk{CodeChunk, "code"})[:len(b)+9])
	f.Fuzz(func(t *testing.T, b []byte) {
		_, chunks, err := parseJournal(b)
		if err != nil && !errors.Is(err, ErrDamaged) {
			t.Error(err)
		}
		for _, c := range chunks {
			if !bytes.Contains(b, []byte(c.Text)) {
				t.Errorf("%q is not in the file", c.Text)
			}
		}
	})
}
