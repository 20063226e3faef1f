package storage

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atoll/storage/blob"
)

// smallDisk mounts a tmpfs of 8 MiB.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=8m"); err != nil {
		t.Skipf("SKIPPED, full disks are unproved: mount a tmpfs: %v (needs root)", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fill leaves no room on the disk of a folder; the function returned makes room.
func fill(t *testing.T, dir string) (empty func()) {
	t.Helper()
	path := filepath.Join(dir, "ballast")
	f := must(os.Create(path))(t)
	defer f.Close()
	block := make([]byte, 4096)
	for range 1 << 14 { // 64 MiB, in case the disk is not as small as it should be
		if _, err := f.Write(block); err != nil {
			if !errors.Is(err, syscall.ENOSPC) {
				t.Fatal(err)
			}
			return func() {
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	t.Fatal("the disk is not small")
	return nil
}

func TestFullDisk(t *testing.T) {
	disk := smallDisk(t)
	dir := filepath.Join(disk, "atoll")
	s := openTest(t, dir)
	blobs := must(blob.Open(filepath.Join(dir, "blobs")))(t)
	defer blobs.Close()
	chat := must(s.CreateChat(t.Context(), Chat{Title: "T"}))(t).ID
	first := must(s.Append(t.Context(), said(chat, "", "kept")))(t)[0]
	d := must(s.Draft(chat, first.ID))(t)
	write(t, d, TextChunk, "before ")
	before := must(s.Chat(chat))(t)

	empty := fill(t, disk)
	big := strings.Repeat("0123456789", 20_000)
	if _, err := s.Append(t.Context(), said(chat, first.ID, big)); !errors.Is(err, ErrNoSpace) {
		t.Fatalf("append: %v", err)
	}
	if _, _, err := blobs.Put(strings.NewReader(big), 1<<20); !errors.Is(err, blob.ErrNoSpace) {
		t.Errorf("put: %v", err)
	}
	if err := d.Write(Chunk{TextChunk, big}); !errors.Is(err, ErrNoSpace) {
		t.Errorf("write: %v", err)
	}
	whole := said(chat, first.ID, big)
	whole.ID = d.ID()
	if _, err := d.Commit(t.Context(), whole); !errors.Is(err, ErrNoSpace) {
		t.Errorf("commit: %v", err)
	}
	if _, err := s.Draft(chat, first.ID); !errors.Is(err, ErrNoSpace) {
		t.Errorf("draft: %v", err)
	}
	if diff := cmp.Diff(before, must(s.Chat(chat))(t)); diff != "" {
		t.Errorf("a refused append changed the chat: %s", diff)
	}
	// Chats can be read on a full disk, after a restart too, while the
	// interrupted answer waits.
	s = reopen(t, s)
	if got := texts(must(s.Branch(t.Context(), chat, ""))(t)); !cmp.Equal(got[:1], []string{"kept"}) {
		t.Errorf("on a full disk: %v", got)
	}
	if _, err := Open(filepath.Join(disk, "other"), Options{}); !errors.Is(err, ErrNoSpace) {
		t.Errorf("a new store: %v", err)
	}

	empty()
	s = reopen(t, s)
	branch := must(s.Branch(t.Context(), chat, ""))(t)
	if len(branch) != 2 || !strings.HasPrefix(answer(t, branch[1]).Text, "before ") {
		t.Errorf("with room again: %v", texts(branch))
	}
	must(s.Append(t.Context(), said(chat, branch[1].ID, big)))(t) // the control
}

// A chunk that did not fit must not hide those that come when there is room.
func TestDraftGoesOnAfterAFullDisk(t *testing.T) {
	disk := smallDisk(t)
	s := openTest(t, filepath.Join(disk, "atoll"))
	chat := must(s.CreateChat(t.Context(), Chat{}))(t).ID
	d := must(s.Draft(chat, ""))(t)
	write(t, d, TextChunk, "before ")
	empty := fill(t, disk)
	if err := d.Write(Chunk{TextChunk, strings.Repeat("x", 1<<16)}); !errors.Is(err, ErrNoSpace) {
		t.Fatalf("write: %v", err)
	}
	empty()
	write(t, d, TextChunk, "after")
	s = reopen(t, s)
	if got := answer(t, must(s.Branch(t.Context(), chat, ""))(t)[0]).Text; got != "before after" {
		t.Errorf("%q", got)
	}
}

func TestReadOnlyDisk(t *testing.T) {
	disk := smallDisk(t)
	dir := filepath.Join(disk, "atoll")
	s := openTest(t, dir)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	before := dbBytes(t, dir)
	if err := syscall.Mount("", disk, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{dir, filepath.Join(disk, "new")} {
		if _, err := Open(dir, Options{}); !errors.Is(err, ErrReadOnly) || !strings.Contains(err.Error(), dir) {
			t.Errorf("open: %v", err)
		}
	}
	if !bytes.Equal(before, dbBytes(t, dir)) {
		t.Error("the file was changed")
	}
	if err := syscall.Mount("", disk, "", syscall.MS_REMOUNT, ""); err != nil {
		t.Fatal(err)
	}
	openTest(t, dir) // the control
}
