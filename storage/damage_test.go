package storage

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	bolt "go.etcd.io/bbolt"
)

// closedStore writes a store with two chats of n entries each and closes it.
func closedStore(t testing.TB, n int) (dir string, chats map[string][]string) {
	t.Helper()
	dir = t.TempDir()
	s := openTest(t, dir)
	chats = map[string][]string{}
	for range 2 {
		id := must(s.CreateChat(t.Context(), Chat{Title: "T"}))(t).ID
		parent := ""
		for i := range n {
			text := fmt.Sprintf("entry %d %s", i, strings.Repeat("text ", 40))
			parent = must(s.Append(t.Context(), said(id, parent, text)))(t)[0].ID
			chats[id] = append(chats[id], text)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir, chats
}

func dbBytes(t testing.TB, dir string) []byte {
	t.Helper()
	return must(os.ReadFile(filepath.Join(dir, dbName)))(t)
}

func setDB(t testing.TB, dir string, b []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, dbName), b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func zeroed(b []byte, from, to int) []byte {
	b = bytes.Clone(b)
	clear(b[from:to])
	return b
}

// Files that bbolt takes for a new database, panics on or dies of.
func TestDamagedFilesAreRefusedAndKept(t *testing.T) {
	t.Parallel()
	dir, chats := closedStore(t, 60)
	good := dbBytes(t, dir)
	used := usedPages(t, good)
	for name, bad := range map[string][]byte{
		"empty":              {},
		"one byte":           good[:1],
		"cut to 3 pages":     good[:3*pageSize],
		"cut to half":        good[:used*pageSize/2],
		"cut by one page":    good[:(used-1)*pageSize],
		"all NUL":            make([]byte, len(good)),
		"headers zeroed":     zeroed(good, 0, 2*pageSize),
		"web page":           []byte("<!DOCTYPE html><title>Sign in</title>" + strings.Repeat(" ", 9000)),
		"first half zeroed":  zeroed(good, 2*pageSize, used*pageSize/2),
		"second half zeroed": zeroed(good, used*pageSize/2, used*pageSize),
	} {
		setDB(t, dir, bad)
		for range 2 { // the second time: no lock was left behind
			_, err := Open(dir, Options{})
			if !errors.Is(err, ErrDamaged) {
				t.Fatalf("%s: %v", name, err)
			}
			if text := err.Error(); !strings.Contains(text, filepath.Join(dir, dbName)) || !strings.Contains(text, "backup") {
				t.Errorf("%s: text does not say where and what to do: %s", name, text)
			}
		}
		if !bytes.Equal(dbBytes(t, dir), bad) {
			t.Errorf("%s: the damaged file was changed", name)
		}
	}
	if err := os.Remove(filepath.Join(dir, dbName)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, Options{}); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "missing") {
		t.Errorf("file is missing: %v", err)
	}
	if err := os.Mkdir(filepath.Join(dir, dbName), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, Options{}); !errors.Is(err, ErrDamaged) {
		t.Errorf("a folder in its place: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, dbName)); err != nil {
		t.Fatal(err)
	}
	setDB(t, dir, good) // the control
	s := openTest(t, dir)
	for id, want := range chats {
		if diff := cmp.Diff(want, texts(must(s.Branch(t.Context(), id, ""))(t))); diff != "" {
			t.Error(diff)
		}
	}
}

// A store with one flipped bit anywhere is refused, or it opens and shows every
// entry of every chat, as it was or as damaged. It never dies and never shows
// something else.
func TestFlippedBits(t *testing.T) {
	t.Parallel()
	dir, chats := closedStore(t, 25)
	good := dbBytes(t, dir)
	used := usedPages(t, good)
	rounds := 200
	if os.Getenv(crashFullEnv) != "" {
		rounds = 5000
	}
	r := rand.New(rand.NewPCG(1, 2))
	counts := map[string]int{}
	for range rounds {
		at, bit := 2*pageSize+r.IntN((used-2)*pageSize), byte(1)<<r.IntN(8)
		bad := bytes.Clone(good)
		bad[at] ^= bit
		setDB(t, dir, bad)
		s, err := Open(dir, Options{})
		if errors.Is(err, ErrDamaged) {
			counts["refused"]++
			continue
		}
		if err != nil {
			t.Fatalf("bit %#x at %#x: %v", bit, at, err)
		}
		damaged := 0
		list := must(s.Chats())(t)
		for id, want := range chats {
			branch := must(s.Branch(t.Context(), id, ""))(t)
			if len(branch) != len(want) {
				t.Errorf("bit %#x at %#x: %d of %d entries", bit, at, len(branch), len(want))
				continue
			}
			for i, got := range texts(branch) {
				if branch[i].Kind == Damaged {
					damaged++
				} else if got != want[i] {
					t.Errorf("bit %#x at %#x: entry %d is %q", bit, at, i, got)
				}
			}
			// The chat goes on.
			last := branch[len(branch)-1]
			if last.ID != "" {
				if _, err := s.Append(t.Context(), said(id, last.ID, "more")); err != nil {
					t.Errorf("bit %#x at %#x: %v", bit, at, err)
				}
			}
		}
		if len(list) < len(chats) {
			t.Errorf("bit %#x at %#x: %d chats", bit, at, len(list))
		}
		if damaged > 0 {
			counts["damaged entry"]++
		} else {
			counts["as before"]++
		}
		if err := s.Close(); err != nil {
			t.Errorf("bit %#x at %#x: close: %v", bit, at, err)
		}
	}
	t.Log(counts)
	for _, name := range []string{"refused", "damaged entry", "as before"} {
		if counts[name] == 0 {
			t.Errorf("no round ended %q: the test does not reach what it is for", name)
		}
	}
}

// Values that make no sense although the database is sound.
func TestDamagedValues(t *testing.T) {
	dir, chats := closedStore(t, 5)
	db := must(bolt.Open(filepath.Join(dir, dbName), 0o600, nil))(t)
	var chat string
	err := db.Update(func(tx *bolt.Tx) error {
		k, _ := tx.Bucket(chatsBucket).Cursor().First()
		chat = string(k)
		keys := rows(tx, chat)
		swapped := bytes.Clone(tx.Bucket(entriesBucket).Get(keys[0][len(chat)+1:]))
		var id node
		if err := get(tx, treeBucket, keys[4], &id); err != nil {
			return err
		}
		sealed := bytes.Clone(tx.Bucket(entriesBucket).Get(keys[3][len(chat)+1:]))
		sealed[1] = codecSealed
		binary.LittleEndian.PutUint32(sealed[2:], sum(sealed[:2], entriesBucket, keys[3][len(chat)+1:], sealed[valueHeader:]))
		return errors.Join(
			tx.Bucket(chatsBucket).Put([]byte(chat), []byte("nonsense")),
			tx.Bucket(entriesBucket).Put(keys[1][len(chat)+1:], swapped), // another entry's value
			tx.Bucket(treeBucket).Put(keys[1], nil),                      // and nothing left that knows its parent
			tx.Bucket(treeBucket).Put(keys[2], nil),
			tx.Bucket(entriesBucket).Put(keys[3][len(chat)+1:], sealed), // by a later version
			tx.Bucket(idsBucket).Delete([]byte(id.ID)),
		)
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	s := openTest(t, dir)
	head := must(s.Chat(chat))(t)
	branch := must(s.Branch(t.Context(), chat, ""))(t)
	want := []string{chats[chat][0], "<damaged>", chats[chat][2], "<damaged>", chats[chat][4]}
	if diff := cmp.Diff(want, texts(branch)); diff != "" {
		t.Fatal(diff)
	}
	if head.Title != unreadableTitle || head.Leaf != branch[4].ID || head.Created != branch[0].At || head.Updated != branch[4].At {
		t.Errorf("head %+v", head)
	}
	if branch[3].ID == "" || branch[3].Parent != branch[2].ID || !strings.Contains(string(branch[3].Body), "codec 1") {
		t.Errorf("damaged entry: %+v %s", branch[3], branch[3].Body)
	}
	if e := must(s.Entry(head.Leaf))(t); !cmp.Equal(e, branch[4]) {
		t.Errorf("the leaf, whose index row is gone: %+v", e)
	}
	if n := len(must(s.Chats())(t)); n != 2 {
		t.Errorf("%d chats", n)
	}
	all := 0
	for _, err := range s.Since(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		all++
	}
	if all != 10 {
		t.Errorf("since 0: %d entries", all)
	}
	must(s.Append(t.Context(), said(chat, head.Leaf, "goes on")))(t)
	// The old head, which holds the title, was kept.
	err = s.view(t.Context(), func(tx *bolt.Tx) error {
		if got := tx.Bucket(asideBucket).Get([]byte(chat)); string(got) != "nonsense" {
			t.Errorf("set aside: %q", got)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	must(s.DeleteChat(t.Context(), chat))(t)
	if n := len(must(s.Chats())(t)); n != 1 {
		t.Errorf("%d chats after deletion", n)
	}
}

// Keys that no store writes, in an order that a database may have: nothing goes
// in circles, and the chats are shown.
func TestDamagedKeys(t *testing.T) {
	dir, chats := closedStore(t, 3)
	db := must(bolt.Open(filepath.Join(dir, dbName), 0o600, nil))(t)
	err := db.Update(func(tx *bolt.Tx) error {
		tree := tx.Bucket(treeBucket)
		var errs []error
		for id := range chats {
			keys := rows(tx, id)
			for i, separator := range []byte{1, 2, 0x80} {
				bad := bytes.Clone(keys[i])
				bad[len(id)] = separator
				errs = append(errs, tree.Put(bad, tree.Get(keys[i])), tree.Delete(keys[i]))
			}
			break
		}
		return errors.Join(append(errs,
			tree.Put(bytes.Repeat([]byte{0xff}, 9), nil),
			tree.Put(bytes.Repeat([]byte{0xff}, 40), nil),
			tx.Bucket(entriesBucket).Put(seqKey(math.MaxUint64), nil),
		)...)
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	s := openTest(t, dir)
	if n := len(must(s.Chats())(t)); n != len(chats) {
		t.Errorf("%d chats", n)
	}
	for id, want := range chats {
		if got := len(must(s.Branch(t.Context(), id, ""))(t)); got != len(want) {
			t.Errorf("%d entries of %d", got, len(want))
		}
	}
	all := 0
	for range s.Since(t.Context(), 0) {
		if all++; all > 100 {
			t.Fatal("entries come without end")
		}
	}
}

func TestNewerFormatsAreRefused(t *testing.T) {
	dir, _ := closedStore(t, 1)
	sentinel := filepath.Join(dir, sentinelName)
	old := must(os.ReadFile(sentinel))(t)
	newer := identity{Format: Format + 1, ID: "x"}
	if err := writeSentinel(sentinel, newer); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, Options{}); !errors.Is(err, ErrNewer) {
		t.Errorf("by the file next to it: %v", err)
	}
	db := must(bolt.Open(filepath.Join(dir, dbName), 0o600, nil))(t)
	err := db.Update(func(tx *bolt.Tx) error { return put(tx, metaBucket, identityKey, newer) })
	if err := errors.Join(err, db.Close(), os.WriteFile(sentinel, old, 0o600)); err != nil {
		t.Fatal(err)
	}
	before := dbBytes(t, dir)
	if _, err := Open(dir, Options{}); !errors.Is(err, ErrNewer) {
		t.Errorf("by the database: %v", err)
	}
	if !bytes.Equal(before, dbBytes(t, dir)) {
		t.Error("a newer database was changed")
	}
}

// The file next to the database may be lost or unreadable; the database says
// the same.
func TestSentinelIsWrittenAgain(t *testing.T) {
	dir, chats := closedStore(t, 1)
	sentinel := filepath.Join(dir, sentinelName)
	want := must(os.ReadFile(sentinel))(t)
	for _, content := range [][]byte{nil, []byte("\x00\x00\x00\x00")} {
		if err := os.Remove(sentinel); err != nil {
			t.Fatal(err)
		}
		if content != nil {
			if err := os.WriteFile(sentinel, content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s := openTest(t, dir)
		if n := len(must(s.Chats())(t)); n != len(chats) {
			t.Errorf("%d chats", n)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if got := must(os.ReadFile(sentinel))(t); !bytes.Equal(got, want) {
			t.Errorf("%q became %q", content, got)
		}
	}
	// An empty database with an unreadable proof is no new database either.
	setDB(t, dir, nil)
	if err := os.WriteFile(sentinel, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, Options{}); !errors.Is(err, ErrDamaged) {
		t.Errorf("both empty: %v", err)
	}
}
