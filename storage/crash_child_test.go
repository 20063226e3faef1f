package storage

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"atoll/storage/blob"
)

// The crash suite runs this test binary as a child that writes prompts, blobs
// and streamed answers and says on stdout what it was told is kept. The parent
// kills it, may spoil what was not synced, opens the folder and compares.
//
// Lines of the child: O opened; B hash: a blob is kept; P id: a prompt is kept;
// D id: a draft began; C id n: n bytes of it are kept; S id n: n bytes of it
// are synced; K id n: the answer of n bytes is committed.

const (
	crashDirEnv   = "ATOLL_CRASH_DIR"
	crashPointEnv = "ATOLL_CRASH_POINT"
	crashFullEnv  = "ATOLL_CRASH" // any value: the whole suite, up to 2 minutes
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashDirEnv); dir != "" {
		if err := crashChild(dir, os.Getenv(crashPointEnv)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// piece is the i-th chunk of the answer with an ID, 45 bytes.
func piece(id string, i int) string { return fmt.Sprintf("<%s %06d>", id, i) }

// stream is the answer with an ID up to n bytes.
func stream(id string, n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		b.WriteString(piece(id, i))
	}
	return b.String()[:n]
}

// crashChild writes until it is killed, or kills itself at a point.
func crashChild(dir, point string) error {
	say := func(format string, args ...any) {
		// One write per line, so that a kill leaves whole lines.
		if _, err := os.Stdout.WriteString(fmt.Sprintf(format, args...) + "\n"); err != nil {
			os.Exit(1) // the parent is gone
		}
	}
	var draft atomic.Pointer[string]
	var written, syncing atomic.Int64
	at := func(here string) {
		switch here {
		case "syncing":
			syncing.Store(written.Load())
		case "synced":
			say("S %s %d", *draft.Load(), syncing.Load())
		}
		if here == point {
			self, err := os.FindProcess(os.Getpid())
			if err == nil {
				err = self.Kill()
			}
			say("E cannot kill myself: %v", err)
			select {}
		}
	}
	s, err := Open(dir, Options{fault: at})
	if err != nil {
		return err
	}
	say("O")
	blobs, err := blob.Open(filepath.Join(dir, "blobs"))
	if err != nil {
		return err
	}
	chats, err := s.Chats()
	if err != nil {
		return err
	}
	if len(chats) == 0 {
		c, err := s.CreateChat(context.Background(), Chat{Title: "T"})
		if err != nil {
			return err
		}
		chats = []Chat{c}
	}
	chat, leaf := chats[0].ID, chats[0].Leaf
	tick := time.NewTicker(11 * time.Millisecond) // 45 bytes each: 4 KiB/s
	for {
		prompt := said(chat, leaf, "")
		prompt.Body = fmt.Appendf(nil, `{"text":"prompt %s"}`, prompt.ID)
		hash, _, err := blobs.Put(strings.NewReader("file of "+prompt.ID), 1<<10)
		if err != nil {
			return err
		}
		prompt.Blobs = []string{hash}
		say("B %s", hash)
		at("put")
		if _, err := s.Append(context.Background(), prompt); err != nil {
			return err
		}
		say("P %s", prompt.ID)
		at("appended")
		d, err := s.Draft(chat, prompt.ID)
		if err != nil {
			return err
		}
		id := d.ID()
		written.Store(0)
		draft.Store(&id)
		say("D %s", id)
		for i := range 5 + rand.IntN(120) {
			<-tick.C
			if err := d.Write(Chunk{TextChunk, piece(id, i)}); err != nil {
				return err
			}
			say("C %s %d", id, written.Add(45))
		}
		n := written.Load()
		body, err := encode(Assistant{Text: stream(id, int(n)), Stop: "end"})
		if err != nil {
			return err
		}
		if _, err := d.Commit(context.Background(), Entry{Kind: AssistantSaid, Body: body}); err != nil {
			return err
		}
		say("K %s %d", id, n)
		leaf = id
	}
}
