package storage

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
)

// verify checks the structure of a bbolt file without mapping it. bbolt itself
// trusts its pages: on a damaged file it panics, or reads outside its map, which
// kills the process; so every file is looked at here first. The page format is
// that of go.etcd.io/bbolt, internal/common (version 2).
//
// Always checked: both headers, and that the file is as long as they say. With
// full set, every page that can be reached: its number and type, that its
// elements lie inside, that keys ascend, that no page is used twice and none of
// the used ones is on the free list. oneMeta says that one header is unreadable
// and the other one holds. Values have sums of their own.
func verify(path string, full bool) (oneMeta bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	if info.Size() == 0 {
		return false, fmt.Errorf("%w: the file is empty although chats were kept in it", ErrDamaged)
	}
	v := &verifier{file: f, used: map[uint64]bool{}}
	metas, err := v.readMetas()
	if err != nil {
		return false, err
	}
	if need := int64(v.meta.high) * v.pageSize; info.Size() < need {
		return false, fmt.Errorf("%w: the file was cut to %d of %d bytes", ErrDamaged, info.Size(), need)
	}
	if full {
		if err = v.readFree(); err == nil {
			err = v.tree(v.meta.root, nil, nil, 0)
		}
	}
	return metas == 1, err
}

// The page types and flags of bbolt.
const (
	branchPage   = 0x01
	leafPage     = 0x02
	freelistPage = 0x10

	bucketElement = 0x01

	pageHeader   = 16
	metaSize     = 64
	bucketHeader = 16
	maxDepth     = 64 // of pages; far more than 2^64 keys need

	boltMagic   = 0xED0CDAED
	boltVersion = 2
	noFreelist  = ^uint64(0)
)

// meta is what a header page says.
type meta struct {
	pageSize   int64
	root       uint64
	free, high uint64 // page of the free list; first page never used
	tx         uint64
}

// A verifier walks one file.
type verifier struct {
	file     *os.File
	pageSize int64
	meta     meta
	used     map[uint64]bool // true: reached; false: on the free list
}

// readMetas picks the newer valid header and returns how many are valid.
func (v *verifier) readMetas() (int, error) {
	valid := 0
	first, firstErr := readMeta(v.file, 0)
	if firstErr == nil {
		valid, v.meta = 1, first
	}
	sizes := []int64{first.pageSize}
	if firstErr != nil { // where the second one is depends on the page size
		sizes = nil
		for size := int64(1 << 10); size <= 1<<16; size <<= 1 {
			sizes = append(sizes, size)
		}
	}
	for _, size := range sizes {
		second, err := readMeta(v.file, size)
		if err != nil || second.pageSize != size {
			continue
		}
		if valid++; valid == 1 || second.tx > v.meta.tx {
			v.meta = second
		}
		break
	}
	if valid == 0 {
		return 0, fmt.Errorf("%w: no header of a database in it", ErrDamaged)
	}
	v.pageSize = v.meta.pageSize
	return valid, nil
}

// readMeta reads the header page at an offset.
func readMeta(r io.ReaderAt, at int64) (meta, error) {
	var b [metaSize]byte
	if _, err := r.ReadAt(b[:], at+pageHeader); err != nil {
		return meta{}, err
	}
	e := binary.NativeEndian // as bbolt does
	h := fnv.New64a()
	h.Write(b[:metaSize-8])
	m := meta{
		pageSize: int64(e.Uint32(b[8:])),
		root:     e.Uint64(b[16:]),
		free:     e.Uint64(b[32:]),
		high:     e.Uint64(b[40:]),
		tx:       e.Uint64(b[48:]),
	}
	ok := e.Uint32(b[0:]) == boltMagic && e.Uint32(b[4:]) == boltVersion && e.Uint64(b[56:]) == h.Sum64() &&
		m.pageSize >= 1<<10 && m.pageSize <= 1<<16 && m.high < 1<<46 && m.high > m.root
	if !ok {
		return meta{}, errors.New("not a header")
	}
	return m, nil
}

// page reads a page with its overflow and checks its header. Every page is
// read once; a second time means that two places claim it.
func (v *verifier) page(id uint64) ([]byte, error) {
	bad := func(why string) ([]byte, error) {
		return nil, fmt.Errorf("%w: page %d %s", ErrDamaged, id, why)
	}
	if id < 2 || id >= v.meta.high {
		return bad("does not exist")
	}
	head := make([]byte, v.pageSize)
	if _, err := v.file.ReadAt(head, int64(id)*v.pageSize); err != nil {
		return nil, fmt.Errorf("page %d: %w", id, err)
	}
	e := binary.NativeEndian
	if e.Uint64(head) != id {
		return bad("has another number")
	}
	more := uint64(e.Uint32(head[12:]))
	if id+more >= v.meta.high {
		return bad("is longer than the file")
	}
	for i := id; i <= id+more; i++ {
		if reached, listed := v.used[i]; listed {
			if reached {
				return bad("is used twice")
			}
			return bad("is used and on the list of free pages")
		}
		v.used[i] = true
	}
	if more == 0 {
		return head, nil
	}
	all := make([]byte, int64(more+1)*v.pageSize)
	if _, err := v.file.ReadAt(all, int64(id)*v.pageSize); err != nil {
		return nil, fmt.Errorf("page %d: %w", id, err)
	}
	return all, nil
}

// readFree notes the free pages.
func (v *verifier) readFree() error {
	if v.meta.free == noFreelist {
		return nil
	}
	p, err := v.page(v.meta.free)
	if err != nil {
		return err
	}
	e := binary.NativeEndian
	if e.Uint16(p[8:]) != freelistPage {
		return fmt.Errorf("%w: page %d is no list of free pages", ErrDamaged, v.meta.free)
	}
	list, n := p[pageHeader:], uint64(e.Uint16(p[10:]))
	if n == 0xFFFF { // the real number follows
		n, list = e.Uint64(list), list[8:]
	}
	if n > uint64(len(list)/8) {
		return fmt.Errorf("%w: the list of free pages is too long", ErrDamaged)
	}
	for i := range n {
		id := e.Uint64(list[8*i:])
		if _, twice := v.used[id]; twice || id < 2 || id >= v.meta.high {
			return fmt.Errorf("%w: the list of free pages names page %d wrongly", ErrDamaged, id)
		}
		v.used[id] = false
	}
	return nil
}

// tree walks the pages below id. The first key is first, nil for any, and all
// are below high, nil for no limit.
func (v *verifier) tree(id uint64, first, high []byte, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("%w: page %d is too deep", ErrDamaged, id)
	}
	p, err := v.page(id)
	if err != nil {
		return err
	}
	return v.elements(p, id, first, high, depth)
}

// elements walks what is on a page.
func (v *verifier) elements(p []byte, id uint64, first, high []byte, depth int) error {
	e := binary.NativeEndian
	kind, n := e.Uint16(p[8:]), int(e.Uint16(p[10:]))
	if kind != branchPage && kind != leafPage || (kind == branchPage || first != nil) && n == 0 || pageHeader+16*n > len(p) {
		return fmt.Errorf("%w: page %d has type %#x and %d elements", ErrDamaged, id, kind, n)
	}
	var before []byte
	type child struct {
		id  uint64
		key []byte
	}
	var children []child
	for i := range n {
		el := p[pageHeader+16*i:]
		var flags, pos, ksize, vsize uint32
		if kind == leafPage {
			flags, pos, ksize, vsize = e.Uint32(el), e.Uint32(el[4:]), e.Uint32(el[8:]), e.Uint32(el[12:])
		} else {
			pos, ksize = e.Uint32(el), e.Uint32(el[4:])
			children = append(children, child{id: e.Uint64(el[8:])})
		}
		end := uint64(pos) + uint64(ksize) + uint64(vsize)
		if end > uint64(len(el)) || uint64(pos) < uint64(16*(n-i)) && ksize+vsize > 0 {
			return fmt.Errorf("%w: element %d of page %d lies outside it", ErrDamaged, i, id)
		}
		key := el[pos:][:ksize]
		if i > 0 && bytes.Compare(before, key) >= 0 || high != nil && bytes.Compare(key, high) >= 0 {
			return fmt.Errorf("%w: element %d of page %d is out of order", ErrDamaged, i, id)
		}
		// bbolt finds a child in its parent by the child's first key.
		if i == 0 && first != nil && !bytes.Equal(key, first) {
			return fmt.Errorf("%w: page %d begins with another key than its parent says", ErrDamaged, id)
		}
		before = key
		if kind == branchPage {
			children[i].key = key
			continue
		}
		if flags&bucketElement != 0 {
			if err := v.bucket(el[uint64(pos)+uint64(ksize):end], id, depth+1); err != nil {
				return err
			}
		}
	}
	for i, c := range children {
		next := high
		if i+1 < len(children) {
			next = children[i+1].key
		}
		if err := v.tree(c.id, c.key, next, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// bucket walks a bucket, whose pages are elsewhere or, when it is small, inside
// its own value.
func (v *verifier) bucket(value []byte, id uint64, depth int) error {
	if len(value) < bucketHeader {
		return fmt.Errorf("%w: a bucket on page %d is cut", ErrDamaged, id)
	}
	if root := binary.NativeEndian.Uint64(value); root != 0 {
		return v.tree(root, nil, nil, depth)
	}
	if len(value) < bucketHeader+pageHeader || depth > maxDepth {
		return fmt.Errorf("%w: a small bucket on page %d is cut", ErrDamaged, id)
	}
	return v.elements(value[bucketHeader:], id, nil, nil, depth)
}
