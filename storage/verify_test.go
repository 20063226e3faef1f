package storage

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	bolt "go.etcd.io/bbolt"
)

// usedPages returns how many pages of a database file its header counts.
func usedPages(t testing.TB, b []byte) int {
	t.Helper()
	v := &verifier{file: tempFile(t, b)}
	if _, err := v.readMetas(); err != nil {
		t.Fatal(err)
	}
	return int(v.meta.high)
}

func tempFile(t testing.TB, b []byte) *os.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	f := must(os.Open(path))(t)
	t.Cleanup(func() { f.Close() })
	return f
}

// Any nonsense in the structure is an error of the check, never a panic: it is
// all that stands before bbolt.
func TestVerifyWithstandsNonsense(t *testing.T) {
	t.Parallel()
	dir, _ := closedStore(t, 40)
	good := dbBytes(t, dir)
	path := filepath.Join(dir, dbName)
	if oneMeta, err := verify(path, true); oneMeta || err != nil { // the control
		t.Fatal(oneMeta, err)
	}
	r := rand.New(rand.NewPCG(5, 6))
	used, refused := usedPages(t, good), 0
	rounds := 500
	if os.Getenv(crashFullEnv) != "" {
		rounds = 5000
	}
	for round := range rounds {
		bad := bytes.Clone(good)
		for range 1 + r.IntN(6) {
			page := 2 + r.IntN(used-2)
			at := page*pageSize + r.IntN(pageHeader+8*16) // header and first elements
			switch r.IntN(3) {
			case 0:
				bad[at] = byte(r.Uint32())
			case 1:
				binary.NativeEndian.PutUint32(bad[at&^3:], r.Uint32()>>r.IntN(32))
			case 2:
				copy(bad[page*pageSize:(page+1)*pageSize], good[(2+r.IntN(page))*pageSize:])
			}
		}
		if round%50 == 0 { // headers that point elsewhere but have a right sum
			for _, m := range [][]byte{bad[pageHeader:], bad[pageSize+pageHeader:]} {
				binary.NativeEndian.PutUint64(m[[]int{16, 32, 40}[r.IntN(3)]:], r.Uint64()>>r.IntN(64))
				h := fnv.New64a()
				h.Write(m[:metaSize-8])
				binary.NativeEndian.PutUint64(m[metaSize-8:], h.Sum64())
			}
		}
		setDB(t, dir, bad)
		if _, err := verify(path, true); err != nil {
			refused++
			if !errors.Is(err, ErrDamaged) {
				t.Errorf("round %d: %v", round, err)
			}
		}
	}
	if refused < rounds/4 || refused == rounds {
		t.Errorf("%d of %d refused", refused, rounds)
	}
}

// The check must never refuse what bbolt itself wrote, whatever was done.
func TestVerifyAcceptsWhatBboltWrites(t *testing.T) {
	t.Parallel()
	transactions := 60
	if os.Getenv(crashFullEnv) != "" {
		transactions = 1000
	}
	path := filepath.Join(t.TempDir(), "db")
	db, _, err := openBolt(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.NoSync = true
	r := rand.New(rand.NewPCG(7, 8))
	name := func() []byte { return fmt.Appendf(nil, "%0*d", 1+r.IntN(300), r.IntN(1000)) }
	for round := range transactions {
		fill := r.IntN(3) // most transactions add, some only delete
		err := db.Update(func(tx *bolt.Tx) error {
			for range 1 + r.IntN(4) {
				top := fmt.Appendf(nil, "bucket %d", r.IntN(3))
				if r.IntN(40) == 0 && tx.Bucket(top) != nil {
					if err := tx.DeleteBucket(top); err != nil {
						return err
					}
				}
				b, err := tx.CreateBucketIfNotExists(top)
				if err == nil && r.IntN(4) == 0 {
					b, err = b.CreateBucketIfNotExists([]byte("~nested"))
				}
				if err != nil {
					return err
				}
				if fill > 0 {
					for range r.IntN(400) {
						if err := b.Put(name(), make([]byte, r.IntN(200)*(1+60*(r.IntN(50)/49)))); err != nil {
							return err
						}
					}
					continue
				}
				c := b.Cursor()
				var doomed [][]byte
				for k, v := c.Seek(name()); k != nil && len(doomed) < r.IntN(600); k, v = c.Next() {
					if v != nil {
						doomed = append(doomed, bytes.Clone(k))
					}
				}
				for _, k := range doomed {
					if err := b.Delete(k); err != nil {
						return err
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if oneMeta, err := verify(path, true); err != nil || oneMeta {
			t.Fatalf("transaction %d: %v, one header %t", round, err, oneMeta)
		}
	}
}

// A power cut inside a commit leaves the old headers and any part of the new
// pages, or half of a new header; what was there before must be there.
func TestPowerCutInsideACommit(t *testing.T) {
	t.Parallel()
	dir, chats := closedStore(t, 40)
	before := dbBytes(t, dir)
	s := openTest(t, dir)
	for id := range chats {
		leaf := must(s.Chat(id))(t).Leaf
		must(s.Append(t.Context(), said(id, leaf, "new")))(t)
		break
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	after := dbBytes(t, dir)
	r := rand.New(rand.NewPCG(3, 4))
	torn := 0
	for round := range 40 {
		cut := bytes.Clone(before)
		for p := 2 * pageSize; p < len(after); p += pageSize {
			if round > 0 && r.IntN(2) == 0 {
				cut = append(cut[:min(p, len(cut))], make([]byte, max(0, p-len(cut)))...)
				cut = append(cut, append(bytes.Clone(after[p:p+pageSize]), before[min(p+pageSize, len(before)):]...)...)
			}
		}
		newer := 0 // the header page that the commit wrote
		if !bytes.Equal(before[pageSize:2*pageSize], after[pageSize:2*pageSize]) {
			newer = pageSize
		}
		if round%2 == 1 { // half of it
			copy(cut[newer+pageHeader:], after[newer+pageHeader:newer+pageHeader+24+r.IntN(30)])
		}
		setDB(t, dir, cut)
		s, err := Open(dir, Options{})
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		for id, want := range chats {
			if diff := cmp.Diff(want, texts(must(s.Branch(t.Context(), id, ""))(t))); diff != "" {
				t.Errorf("round %d: %s", round, diff)
			}
		}
		// Both headers may still hold where the half that arrived says the same
		// as the old one.
		tore := !bytes.Equal(cut[newer:newer+pageSize], before[newer:newer+pageSize])
		if s.Report().OneMeta != tore {
			t.Errorf("round %d: torn %t, report %+v", round, tore, s.Report())
		}
		if tore {
			torn++
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if torn == 0 {
		t.Error("no round tore a header")
	}
}

// bbolt itself panics or faults on these; where the check did not see them it
// must still be an error, and the file's lock must not stay behind.
func TestFaultsOfBbolt(t *testing.T) {
	t.Parallel()
	dir, _ := closedStore(t, 60)
	good := dbBytes(t, dir)
	used := usedPages(t, good)
	path := filepath.Join(dir, dbName)
	for name, bad := range map[string][]byte{
		"cut to 3 pages": good[:3*pageSize],
		"zeroed":         zeroed(good, 2*pageSize, used*pageSize),
	} {
		setDB(t, dir, bad)
		for range 2 {
			if _, _, err := openBolt(path); !errors.Is(err, ErrDamaged) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	// Damage that comes after the opening is found when the page is read.
	setDB(t, dir, good)
	s := openTest(t, dir)
	chat := must(s.Chats())(t)[0]
	f := must(os.OpenFile(path, os.O_WRONLY, 0))(t)
	if _, err := f.WriteAt(make([]byte, (used-2)*pageSize), 2*pageSize); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Branch(t.Context(), chat.ID, ""); !errors.Is(err, ErrDamaged) {
		t.Errorf("read: %v", err)
	}
	for range 2 {
		if _, err := s.Append(t.Context(), said(chat.ID, "", "x")); !errors.Is(err, ErrDamaged) {
			t.Errorf("write: %v", err)
		}
	} // The folder is free again when the store is closed.
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	setDB(t, dir, good)
	openTest(t, dir)
}
