package preview

import (
	"encoding/binary"
	"strings"
)

const (
	arrowFooter  = 16 << 20 // bytes of a footer or a schema
	arrowBatches = 2000     // batches whose rows are counted
)

// arrow makes the card of an Arrow file (also called Feather, version 2) from
// its footer and the heads of its batches. See "Arrow columnar format", IPC.
func (c *Card) arrow(s source) error {
	c.Kind = Arrow
	end, err := s.at(max(0, s.size-10), 10)
	if err != nil {
		return err
	}
	if len(end) < 10 || string(end[4:]) != "ARROW1" {
		c.RowsExact = false
		c.problem("the end of the file is missing; it cannot be read as Arrow")
		return nil
	}
	n := int64(binary.LittleEndian.Uint32(end))
	if n > s.size-10 || n > arrowFooter || n < 8 {
		c.problem("the file is damaged: its description does not fit into it")
		return nil
	}
	b, err := s.at(s.size-10-n, n)
	if err != nil {
		return err
	}
	f := flat{b: b}
	root := f.root()
	c.arrowSchema(&f, f.table(root, 1))
	blocks, count := f.vector(root, 3)
	c.RowsExact = count <= arrowBatches
	seen := min(count, arrowBatches)
	for i := range seen {
		if blocks+24*i+24 > len(b) {
			f.bad = true
			break
		}
		at := int64(binary.LittleEndian.Uint64(b[blocks+24*i:]))
		size := int64(int32(binary.LittleEndian.Uint32(b[blocks+24*i+8:])))
		if at < 0 || size < 8 || size > 1<<20 || at > s.size-size {
			f.bad = true
			break
		}
		head, err := s.at(at, size)
		if err != nil {
			return err
		}
		m := flat{b: message(head)}
		batch := m.table(m.root(), 2)
		rows := m.int64(batch, 0)
		if m.bad || rows < 0 || rows > 1<<50 {
			f.bad = true
			break
		}
		c.Rows += rows
	}
	if seen > 0 && !c.RowsExact {
		c.Rows = c.Rows / int64(seen) * int64(count)
	}
	if f.bad {
		c.problem("the description of the columns is damaged")
		c.RowsExact = false
	}
	c.Detail = append(c.Detail, countOf(int64(count), "batch", "batches"))
	return nil
}

// arrowStream makes the card of an Arrow stream, which has no footer: the
// number of its rows is not known.
func (c *Card) arrowStream(s source) error {
	c.Kind, c.RowsExact = Arrow, false
	head, err := s.at(0, 1<<20)
	if err != nil {
		return err
	}
	f := flat{b: message(head)}
	c.arrowSchema(&f, f.table(f.root(), 2))
	if f.bad {
		c.problem("the description of the columns is damaged")
	}
	c.problem("an Arrow stream does not say how many rows it has")
	return nil
}

// message takes the mark and the length off an encapsulated message.
func message(b []byte) []byte {
	if len(b) >= 8 && binary.LittleEndian.Uint32(b) == 0xffffffff {
		b = b[4:]
	}
	if len(b) < 4 {
		return nil
	}
	return b[4:min(len(b), 4+int(min(binary.LittleEndian.Uint32(b), 1<<24)))]
}

func (c *Card) arrowSchema(f *flat, schema int) {
	fields, n := f.vector(schema, 1)
	c.ColumnCount = n
	for i := range min(n, MaxColumns) {
		at := f.indirect(fields + 4*i)
		if f.bad {
			break
		}
		t := Bytes
		switch f.byte(at, 2) {
		case 1:
			t = Nothing
		case 2:
			t = Integer
		case 3, 7:
			t = Number
		case 5, 20, 24:
			t = String
		case 6:
			t = Boolean
		case 8:
			t = Date
		case 10:
			t = DateTime
		case 9, 11, 18:
			t = Duration
		case 12, 13, 14, 16, 17, 21, 25, 26:
			t = List
		}
		c.Columns = append(c.Columns, Column{Name: clip(strings.ToValidUTF8(f.string(at, 0), "\uFFFD"), maxName), Type: t})
	}
	if f.bad {
		c.ColumnCount = len(c.Columns)
	}
	c.dedupe()
}

// A flat reads a FlatBuffer. After a fault bad is set and values are zero.
type flat struct {
	b   []byte
	bad bool
}

func (f *flat) u32(at int) int {
	if at < 0 || at > len(f.b)-4 {
		f.bad = true
		return 0
	}
	return int(binary.LittleEndian.Uint32(f.b[at:]))
}

func (f *flat) root() int { return f.indirect(0) }

// indirect follows an offset that is relative to its own place.
func (f *flat) indirect(at int) int { return at + f.u32(at) }

// field is the place of field n of the table at t, or 0 when it has none.
func (f *flat) field(t, n int) int {
	if t <= 0 || f.bad {
		return 0
	}
	v := t - int(int32(f.u32(t)))
	if v < 0 || v > len(f.b)-4 {
		f.bad = true
		return 0
	}
	if 4+2*n+2 > int(binary.LittleEndian.Uint16(f.b[v:])) {
		return 0
	}
	if v+4+2*n+2 > len(f.b) {
		f.bad = true
		return 0
	}
	off := int(binary.LittleEndian.Uint16(f.b[v+4+2*n:]))
	if off == 0 {
		return 0
	}
	return t + off
}

func (f *flat) table(t, n int) int {
	if at := f.field(t, n); at > 0 {
		return f.indirect(at)
	}
	return 0
}

func (f *flat) byte(t, n int) byte {
	at := f.field(t, n)
	if at <= 0 || at >= len(f.b) {
		return 0
	}
	return f.b[at]
}

func (f *flat) int64(t, n int) int64 {
	at := f.field(t, n)
	if at <= 0 {
		return 0
	}
	if at > len(f.b)-8 {
		f.bad = true
		return 0
	}
	return int64(binary.LittleEndian.Uint64(f.b[at:]))
}

// vector is the place of the first item and the number of items.
func (f *flat) vector(t, n int) (at, count int) {
	v := f.table(t, n)
	if v == 0 {
		return 0, 0
	}
	count = f.u32(v)
	if f.bad || count > len(f.b)-v-4 {
		f.bad = true
		return 0, 0
	}
	return v + 4, count
}

func (f *flat) string(t, n int) string {
	at, count := f.vector(t, n)
	if count == 0 {
		return ""
	}
	return string(f.b[at : at+count])
}
