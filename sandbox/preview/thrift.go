package preview

import "encoding/binary"

// The types of Thrift's compact protocol.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
)

// thriftDepth bounds structures inside each other; those of Parquet have five.
const thriftDepth = 16

// A thrift reads Thrift's compact protocol off b. After a fault bad is set and
// every further value is zero.
type thrift struct {
	b     []byte
	bad   bool
	depth int
}

func (t *thrift) fail() { t.b, t.bad = nil, true }

func (t *thrift) byte() byte {
	if len(t.b) == 0 {
		t.fail()
		return 0
	}
	c := t.b[0]
	t.b = t.b[1:]
	return c
}

func (t *thrift) uvarint() uint64 {
	v, n := binary.Uvarint(t.b)
	if n <= 0 {
		t.fail()
		return 0
	}
	t.b = t.b[n:]
	return v
}

// int reads an integer of any size.
func (t *thrift) int() int64 {
	u := t.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

func (t *thrift) bytes() []byte {
	n := t.uvarint()
	if n > uint64(len(t.b)) {
		t.fail()
		return nil
	}
	v := t.b[:n]
	t.b = t.b[n:]
	return v
}

// structure calls field for every field; it must take the value or skip it.
func (t *thrift) structure(field func(id int16, kind byte)) {
	if t.depth++; t.depth > thriftDepth {
		t.fail()
	}
	defer func() { t.depth-- }()
	id := int16(0)
	for !t.bad {
		h := t.byte()
		if h == 0 {
			return
		}
		if d := h >> 4; d != 0 {
			id += int16(d)
		} else {
			id = int16(t.int())
		}
		field(id, h&15)
	}
}

// list calls item for every item.
func (t *thrift) list(item func(kind byte)) {
	h := t.byte()
	n := uint64(h >> 4)
	if n == 15 {
		n = t.uvarint()
	}
	for range n { // every item takes a byte at least, except in a fault
		if t.bad || len(t.b) == 0 {
			t.fail()
			return
		}
		item(h & 15)
	}
}

func (t *thrift) skip(kind byte) {
	switch kind {
	case thriftTrue, thriftFalse:
	case thriftByte:
		t.byte()
	case thriftDouble:
		if len(t.b) < 8 {
			t.fail()
			return
		}
		t.b = t.b[8:]
	case thriftBinary:
		t.bytes()
	case thriftList, thriftSet:
		if t.depth++; t.depth > thriftDepth {
			t.fail()
		}
		t.list(func(k byte) {
			if k == thriftTrue || k == thriftFalse {
				t.byte() // in a list a boolean takes a byte
				return
			}
			t.skip(k)
		})
		t.depth--
	case thriftMap:
		n := t.uvarint()
		if n == 0 {
			return
		}
		kinds := t.byte()
		for range n {
			if t.bad || len(t.b) == 0 {
				t.fail()
				return
			}
			t.skip(kinds >> 4)
			t.skip(kinds & 15)
		}
	case thriftStruct:
		t.structure(func(_ int16, k byte) { t.skip(k) })
	default:
		if kind < 4 || kind > 6 {
			t.fail()
			return
		}
		t.int()
	}
}
