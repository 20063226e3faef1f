package storage

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"atoll/storage/blob"
)

// promised is what children were told is kept.
type promised struct {
	prompts   []string
	committed map[string]int // bytes by ID
	drafts    map[string]int // bytes that must be there, by ID, not committed
	synced    map[string]int
	settled   map[string]string // text by ID, found after an earlier crash
	opened    bool
	lines     map[byte]int
}

// read takes a child's lines in.
func (p *promised) read(t *testing.T, out []byte) {
	t.Helper()
	p.opened = false
	for line := range strings.Lines(string(out)) {
		var id string
		var n int
		_, err := fmt.Sscanf(line[1:], "%s %d", &id, &n)
		if err != nil && strings.ContainsAny(line[:1], "CSK") {
			t.Fatalf("child: %q", line)
		}
		p.lines[line[0]]++
		switch line[0] {
		case 'O':
			p.opened = true
		case 'P':
			p.prompts = append(p.prompts, id)
		case 'D':
			p.drafts[id] = 0
		case 'C':
			p.drafts[id] = n
		case 'S':
			p.synced[id] = n
		case 'K':
			p.committed[id] = n
			delete(p.drafts, id)
		case 'B':
		default:
			t.Fatalf("child: %q", line)
		}
	}
}

func TestCrashes(t *testing.T) {
	t.Parallel()
	rounds, longest := 12, 600*time.Millisecond
	if os.Getenv(crashFullEnv) != "" {
		rounds, longest = 200, 900*time.Millisecond
	} else {
		t.Logf("QUICK: %d of 200 rounds; set %s=1 for all", rounds, crashFullEnv)
	}
	points := []string{"put", "appended", "committed", "folded", "syncing", "synced"}
	dir := t.TempDir()
	p := &promised{committed: map[string]int{}, drafts: map[string]int{}, synced: map[string]int{},
		settled: map[string]string{}, lines: map[byte]int{}}
	r := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	var interrupted, spoilt int
	for round := range rounds {
		point, wait := "", 20*time.Millisecond+time.Duration(r.Int64N(int64(longest)))
		if round%4 == 3 {
			point = points[round/4%len(points)]
		}
		if point == "" || point == "folded" { // which needs something to fold
			out, _ := killed(t, dir, "", wait)
			p.read(t, out)
		}
		if point != "" {
			out, late := killed(t, dir, point, 20*time.Second)
			p.read(t, out)
			if late && point != "folded" {
				t.Errorf("point %q was not reached", point)
			}
		}
		if round%3 == 1 && p.opened {
			spoilt += spoil(t, r, dir, p)
		}
		interrupted += p.check(t, dir)
		if t.Failed() {
			t.Fatalf("round %d, point %q", round, point)
		}
	}
	t.Logf("%d rounds: %d prompts, %d committed and %d interrupted answers, %d journals spoilt, lines %v",
		rounds, len(p.prompts), len(p.committed), interrupted, spoilt, p.lines)
	if len(p.prompts) == 0 || interrupted == 0 {
		t.Error("the rounds reached nothing")
	}
}

// killed runs a child until it kills itself at the point or, late, for a while;
// it returns what the child said before it died.
func killed(t *testing.T, dir, point string, wait time.Duration) (out []byte, late bool) {
	t.Helper()
	pr, pw, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	exe := must(os.Executable())(t)
	child, err := os.StartProcess(exe, []string{exe}, &os.ProcAttr{
		Env:   append(os.Environ(), crashDirEnv+"="+dir, crashPointEnv+"="+point),
		Files: []*os.File{nil, pw, os.Stderr},
	})
	pw.Close()
	if err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(wait, func() { child.Kill() }) // SIGKILL
	out, err = io.ReadAll(pr)                              // until the child is gone
	late = !timer.Stop()
	pr.Close()
	if err != nil {
		t.Fatal(err)
	}
	state, err := child.Wait()
	if err != nil || state.Exited() {
		t.Fatalf("child ended by itself: %v, %v", state, err)
	}
	return out, late
}

// spoil replaces what a power cut could take of a journal, everything after the
// last sync, and takes the promise for it back.
func spoil(t *testing.T, r *rand.Rand, dir string, p *promised) int {
	t.Helper()
	files := must(filepath.Glob(filepath.Join(dir, draftsName, "*"+journalExt)))(t)
	n := 0
	for _, path := range files {
		id := strings.TrimSuffix(filepath.Base(path), journalExt)
		if _, ok := p.drafts[id]; !ok {
			continue // committed, or not yet said to have begun
		}
		b := must(os.ReadFile(path))(t)
		keep := bytes.Index(b, []byte(piece(id, p.synced[id]/45)))
		if keep < 0 {
			continue // nothing after the sync
		}
		keep -= 8 + 1 + len(TextChunk)
		at := keep + r.IntN(len(b)-keep)
		switch r.IntN(3) {
		case 0:
			clear(b[at:])
		case 1:
			b = b[:at]
		case 2:
			b = append(b[:at], bytes.Repeat([]byte{0x5a}, 100)...)
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		p.drafts[id] = p.synced[id]
		n++
	}
	return n
}

// check opens the folder and compares; it returns the number of answers that
// were found interrupted.
func (p *promised) check(t *testing.T, dir string) int {
	t.Helper()
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	if p.opened && !s.Report().Unclean {
		t.Error("the kill went unnoticed")
	}
	if a := s.Report().SetAside; a != nil {
		t.Errorf("set aside: %v", a)
	}
	blobs := must(blob.Open(filepath.Join(dir, "blobs")))(t)
	defer blobs.Close()

	byID := map[string]Entry{}
	var last uint64
	for e, err := range s.Since(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Seq != last+1 {
			t.Errorf("entry %d follows %d", e.Seq, last)
		}
		last = e.Seq
		if _, ok := byID[e.Parent]; !ok && e.Parent != "" {
			t.Errorf("entry %d has no parent before it", e.Seq)
		}
		for _, h := range e.Blobs {
			if err := blobs.Verify(h); err != nil {
				t.Errorf("entry %d: %v", e.Seq, err)
			}
		}
		byID[e.ID] = e
	}
	for _, id := range p.prompts {
		if got := texts([]Entry{byID[id]}); got[0] != "prompt "+id {
			t.Errorf("prompt %s: %q", id, got)
		}
	}
	for id, n := range p.committed {
		if a := answer(t, byID[id]); a.Interrupted || a.Text != stream(id, n) {
			t.Errorf("committed answer %s: %d of %d bytes, interrupted %t", id, len(a.Text), n, a.Interrupted)
		}
	}
	for id, text := range p.settled {
		if a := answer(t, byID[id]); a.Text != text {
			t.Errorf("answer %s changed from %d to %d bytes", id, len(text), len(a.Text))
		}
	}
	interrupted := 0
	for id, n := range p.drafts {
		e, ok := byID[id]
		if !ok {
			if n > 0 {
				t.Errorf("streamed answer %s: lost %d bytes", id, n)
			}
			continue
		}
		a := answer(t, e)
		if len(a.Text) < n || a.Text != stream(id, len(a.Text)) {
			t.Errorf("streamed answer %s: %d of %d bytes", id, len(a.Text), n)
		}
		if a.Interrupted {
			interrupted++
		}
		p.settled[id] = a.Text // and so it stays
	}
	clear(p.drafts)
	if left := must(filepath.Glob(filepath.Join(dir, draftsName, "*")))(t); left != nil {
		t.Errorf("left: %v", left)
	}
	return interrupted
}
