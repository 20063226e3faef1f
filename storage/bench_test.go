package storage

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// One prompt: one transaction with its fsync.
func BenchmarkAppend(b *testing.B) {
	s := openTest(b, b.TempDir())
	chat := must(s.CreateChat(b.Context(), Chat{}))(b).ID
	text, parent := strings.Repeat("text ", 200), ""
	for b.Loop() {
		parent = must(s.Append(b.Context(), said(chat, parent, text)))(b)[0].ID
	}
}

// filled returns a store with one chat of 2,000 entries of 1 KB.
func filled(b *testing.B) (*Store, string) {
	b.Helper()
	s := openTest(b, b.TempDir())
	chat := must(s.CreateChat(b.Context(), Chat{}))(b).ID
	var all []Entry
	parent := ""
	for range 2000 {
		e := said(chat, parent, strings.Repeat("text ", 200))
		all, parent = append(all, e), e.ID
	}
	must(s.Append(b.Context(), all...))(b)
	return s, chat
}

func BenchmarkBranch2000(b *testing.B) {
	s, chat := filled(b)
	for b.Loop() {
		if n := len(must(s.Branch(b.Context(), chat, ""))(b)); n != 2000 {
			b.Fatal(n)
		}
	}
}

// Opening checks the whole file.
func BenchmarkOpen2000(b *testing.B) {
	s, _ := filled(b)
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		s := must(Open(s.dir, Options{}))(b)
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// The check of a big file.
func BenchmarkVerify(b *testing.B) {
	s := openTest(b, b.TempDir())
	chat := must(s.CreateChat(b.Context(), Chat{}))(b).ID
	var all []Entry
	for range 40_000 {
		all = append(all, said(chat, "", strings.Repeat("text ", 200)))
	}
	must(s.Append(b.Context(), all...))(b)
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(s.dir, dbName)
	size := must(os.Stat(path))(b).Size()
	b.SetBytes(size)
	for b.Loop() {
		if _, err := verify(path, true); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDraftWrite(b *testing.B) {
	s := openTest(b, b.TempDir())
	chat := must(s.CreateChat(b.Context(), Chat{}))(b).ID
	d := must(s.Draft(chat, ""))(b)
	for b.Loop() {
		if err := d.Write(Chunk{TextChunk, "token "}); err != nil {
			b.Fatal(err)
		}
	}
}
