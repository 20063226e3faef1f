package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// A partFile is the unfinished file of an entry, <file>.part. Bytes are hashed
// while they are written; a part is kept only when its hash is right, so what
// survives an interruption is a row of right parts and perhaps the beginning of
// the next one.
//
//	0 ........... verified ........ offset ........ entry.Bytes
//	|  right parts   |  unproven tail  |  still to come  |
//
// Beside it lies <file>.part.json, the origin of the tail: the tail is worth
// keeping only if the same source still serves the same file.
type partFile struct {
	entry    *Entry
	file     *os.File
	origin   origin
	index    int   // part being written; len(parts) when complete
	verified int64 // bytes in right parts
	offset   int64 // bytes in the file
	whole    hash.Hash
	part     hash.Hash
	saved    []byte // state of whole at verified, to go back there
	progress func(done int64)
}

// origin says where the tail of a part file came from.
type origin struct {
	SHA256 string `json:"sha256"` // of the entry: a newer catalog may mean another file by the same name
	Source string `json:"source"`
	URL    string `json:"url,omitempty"`
	ETag   string `json:"etag,omitempty"`
}

// A WrongBytes error names a part or a file with other bytes than the catalog
// says. It matches [ErrWrongBytes].
type WrongBytes struct {
	What      string // "part 7 of qwen2.5-coder-1.5b"
	From      string // name of the source
	Got, Want string // SHA-256, lower-case hex
	Action    string // what was done about it and what to do
}

// Error says which bytes are wrong, and what to do.
func (e *WrongBytes) Error() string {
	from := ""
	if e.From != "" {
		from = " from " + e.From
	}
	return fmt.Sprintf("%s%s has SHA-256 %s, expected %s; %s", e.What, from, e.Got, e.Want, e.Action)
}

// Is makes the error match [ErrWrongBytes].
func (e *WrongBytes) Is(target error) bool { return target == ErrWrongBytes }

func partPath(dir string, e *Entry) string { return filepath.Join(dir, e.File+".part") }

// openPart opens or creates the part file of e in dir and hashes what is there,
// telling progress how far it is. Parts that are not right any more (a power
// cut can do that) are cut off. The caller holds the entry's lock.
func openPart(dir string, e *Entry, progress func(done int64)) (*partFile, error) {
	f, err := os.OpenFile(partPath(dir, e), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the unfinished file: %w", err)
	}
	p := &partFile{entry: e, file: f, whole: sha256.New(), part: sha256.New(), progress: progress}
	p.origin = readOrigin(f.Name() + ".json")
	if err := p.recover(); err != nil {
		f.Close()
		return nil, fmt.Errorf("check the unfinished file: %w", err)
	}
	return p, nil
}

func readOrigin(path string) (o origin) {
	b, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(b, &o) != nil {
		return origin{} // then the tail is worth nothing, which is safe
	}
	return o
}

// recover replays the file through the hashes.
func (p *partFile) recover() error {
	st, err := p.file.Stat()
	if err != nil {
		return err
	}
	if p.origin.SHA256 != p.entry.SHA256 || st.Size() > p.entry.Bytes {
		p.origin = origin{}
		return p.cut(0)
	}
	p.save()
	if err := p.replay(st.Size()); err != nil {
		var wrong *WrongBytes
		if !errors.As(err, &wrong) {
			return err
		}
		return p.rewind() // a right row of parts before it is kept
	}
	return nil
}

// replay hashes the bytes from the current offset to size.
func (p *partFile) replay(size int64) error {
	r := io.NewSectionReader(p.file, p.offset, size-p.offset)
	buf := make([]byte, 1<<20)
	for {
		n, err := r.Read(buf)
		if herr := p.hashed(buf[:n]); herr != nil {
			return herr
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// Write appends b. It returns a *WrongBytes error as soon as a part is complete
// and wrong; that part is then cut off again.
func (p *partFile) Write(b []byte) (int, error) {
	if p.offset+int64(len(b)) > p.entry.Bytes {
		return 0, fmt.Errorf("%w: the source sends more than the %d bytes of %s", ErrWrongBytes, p.entry.Bytes, p.entry.Name)
	}
	n, err := p.file.WriteAt(b, p.offset)
	if err != nil {
		return n, fmt.Errorf("write the unfinished file: %w", err)
	}
	if err := p.hashed(b); err != nil {
		// Not len(b): io.CopyN takes a full count for success, whatever the error.
		return 0, errors.Join(err, p.rewind())
	}
	return len(b), nil
}

// hashed takes bytes that are in the file into account.
func (p *partFile) hashed(b []byte) error {
	parts := p.entry.parts()
	for len(b) > 0 {
		if p.index == len(parts) {
			return &WrongBytes{What: p.entry.Name, Action: "it is longer than the file of the catalog"}
		}
		want := parts[p.index]
		n := min(int64(len(b)), p.verified+want.Bytes-p.offset)
		p.whole.Write(b[:n])
		p.part.Write(b[:n])
		p.offset += n
		b = b[n:]
		if p.offset == p.verified+want.Bytes {
			if got := hex.EncodeToString(p.part.Sum(nil)); got != want.SHA256 {
				return &WrongBytes{What: p.name(p.index), From: p.origin.Source,
					Got: got, Want: want.SHA256, Action: "it was deleted, run again to fetch it"}
			}
			p.verified = p.offset
			p.index++
			p.save()
		}
	}
	if p.progress != nil {
		p.progress(p.offset)
	}
	return nil
}

// name says which part is meant.
func (p *partFile) name(index int) string {
	if len(p.entry.parts()) == 1 {
		return p.entry.Name
	}
	return fmt.Sprintf("part %d of %s", index+1, p.entry.Name)
}

// save remembers the hash of everything up to verified.
func (p *partFile) save() {
	// sha256 promises encoding.BinaryMarshaler, and AppendBinary never fails.
	p.saved, _ = p.whole.(interface{ MarshalBinary() ([]byte, error) }).MarshalBinary()
	p.part.Reset()
}

// rewind drops the tail.
func (p *partFile) rewind() error { return p.cut(p.verified) }

// cut shortens the file to n bytes, which is 0 or verified.
func (p *partFile) cut(n int64) error {
	if err := p.file.Truncate(n); err != nil {
		return fmt.Errorf("cut the unfinished file: %w", err)
	}
	p.offset, p.verified = n, n
	p.part.Reset()
	if n == 0 {
		p.index = 0
		p.whole.Reset()
		p.save()
		return nil
	}
	return p.whole.(interface{ UnmarshalBinary([]byte) error }).UnmarshalBinary(p.saved)
}

// from declares that the bytes to come are o's. The tail is kept if it has the
// same origin and o can prove it (by an ETag); otherwise it is dropped.
func (p *partFile) from(o origin) error {
	o.SHA256 = p.entry.SHA256
	if p.offset > p.verified && (p.origin != o || o.ETag == "") {
		if err := p.rewind(); err != nil {
			return err
		}
	}
	if p.origin == o {
		return nil
	}
	p.origin = o
	b, err := json.Marshal(o)
	if err != nil {
		return err
	}
	return writeFile(p.file.Name()+".json", b)
}

// sync makes what was written survive a power cut.
func (p *partFile) sync() error { return p.file.Sync() }

// complete reports whether every part is there and right.
func (p *partFile) complete() bool { return p.index == len(p.entry.parts()) }

// close keeps what is there for the next try.
func (p *partFile) close() error { return errors.Join(p.file.Sync(), p.file.Close()) }

// finish checks the whole hash, moves the file to its name and records that it
// is verified. The part file is closed in any case.
func (p *partFile) finish() error {
	from, to := p.file.Name(), filepath.Join(filepath.Dir(p.file.Name()), p.entry.File)
	if got := hex.EncodeToString(p.whole.Sum(nil)); got != p.entry.SHA256 {
		err := &WrongBytes{What: p.entry.Name, From: p.origin.Source, Got: got, Want: p.entry.SHA256, Action: "it was deleted, run again to fetch it"}
		return errors.Join(err, p.cut(0), p.file.Close())
	}
	if err := p.close(); err != nil {
		return fmt.Errorf("write %s: %w", from, err)
	}
	if err := os.Rename(from, to); err != nil {
		return fmt.Errorf("move the finished file: %w", err)
	}
	if err := os.Remove(from + ".json"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the record of the unfinished file: %w", err)
	}
	if err := syncDir(filepath.Dir(to)); err != nil {
		return err
	}
	return writeRecord(to, p.entry.SHA256)
}
