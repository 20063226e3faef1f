package preview

import (
	"encoding/binary"
	"math"
)

// parquetFooter bounds the part of a Parquet file that is read: its schema and
// the statistics of its row groups.
const parquetFooter = 16 << 20

// parquet makes the card from the footer alone. See "Parquet file format" of
// Apache Parquet; the numbers below are those of parquet.thrift.
func (c *Card) parquet(s source) error {
	c.Kind = Parquet
	end, err := s.at(max(0, s.size-8), 8)
	if err != nil {
		return err
	}
	if len(end) < 8 || string(end[4:]) != "PAR1" {
		c.problem("the end of the file is missing; it cannot be read as Parquet")
		return nil
	}
	n := int64(binary.LittleEndian.Uint32(end))
	if n > s.size-12 || n < 4 {
		c.problem("the file is damaged: its description does not fit into it")
		return nil
	}
	if n > parquetFooter {
		c.problem("the description of the columns has %s; it was not read", sizeText(n))
		return nil
	}
	b, err := s.at(s.size-8-n, n)
	if err != nil {
		return err
	}
	f := parquetFile{thrift: thrift{b: b}, card: c}
	f.structure(f.field)
	if f.bad {
		c.problem("the description of the columns is damaged")
	}
	f.finish()
	return nil
}

// A parquetFile is the footer while it is read.
type parquetFile struct {
	thrift
	card   *Card
	schema []parquetElement
	leaves []int // column of each leaf, -1: it lies inside another
	stats  []parquetStats
	groups int64
	writer string
}

type parquetElement struct {
	name      string
	kind      int64 // physical type, -1: a group
	converted int64 // -1: none
	logical   int16 // 0: none
	unit      int16 // of a timestamp: 1 ms, 2 µs, 3 ns
	scale     int64
	children  int64
	repeated  bool
}

type parquetStats struct {
	nulls    int64
	counted  int64 // row groups that count nulls
	min, max float64
	bounded  int64 // row groups that have bounds
	codec    int64
}

func (f *parquetFile) field(id int16, kind byte) {
	switch {
	case id == 2 && kind == thriftList && f.schema == nil:
		f.list(func(k byte) {
			e := parquetElement{kind: -1, converted: -1}
			if k != thriftStruct {
				f.fail()
				return
			}
			f.structure(func(id int16, kind byte) { f.element(&e, id, kind) })
			if len(f.schema) < 100_000 {
				f.schema = append(f.schema, e)
			}
		})
		f.columns()
	case id == 3:
		f.card.Rows = max(0, f.int())
		f.card.RowsExact = true
	case id == 4 && kind == thriftList:
		f.list(func(k byte) {
			if k != thriftStruct {
				f.fail()
				return
			}
			f.groups++
			f.structure(f.group)
		})
	case id == 6 && kind == thriftBinary:
		f.writer = clipBytes(f.bytes(), 80)
	default:
		f.skip(kind)
	}
}

func (f *parquetFile) element(e *parquetElement, id int16, kind byte) {
	switch {
	case id == 1:
		e.kind = f.int()
	case id == 3:
		e.repeated = f.int() == 2
	case id == 4 && kind == thriftBinary:
		e.name = clipBytes(f.bytes(), maxName)
	case id == 5:
		e.children = f.int()
	case id == 6:
		e.converted = f.int()
	case id == 7:
		e.scale = f.int()
	case id == 10 && kind == thriftStruct:
		f.structure(func(id int16, kind byte) {
			e.logical = id
			if id != 8 || kind != thriftStruct {
				f.skip(kind)
				return
			}
			f.structure(func(id int16, kind byte) {
				if id != 2 || kind != thriftStruct {
					f.skip(kind)
					return
				}
				f.structure(func(id int16, kind byte) { e.unit = id; f.skip(kind) })
			})
		})
	default:
		f.skip(kind)
	}
}

// columns makes columns of the children of the root. What lies deeper is part
// of them.
func (f *parquetFile) columns() {
	c := f.card
	if len(f.schema) == 0 {
		return
	}
	i := 1
	// take passes over one element and what lies in it.
	var take func(depth int) (leaves int)
	take = func(depth int) (leaves int) {
		if i >= len(f.schema) || depth > 50 {
			i = len(f.schema)
			return leaves
		}
		e := f.schema[i]
		i++
		if e.kind >= 0 {
			return 1
		}
		for range min(e.children, int64(len(f.schema))) {
			if i >= len(f.schema) {
				break
			}
			leaves += take(depth + 1)
		}
		return leaves
	}
	for i < len(f.schema) {
		e := f.schema[i]
		leaves := take(0)
		c.ColumnCount++
		at := -1
		if len(c.Columns) < MaxColumns {
			if e.kind >= 0 && !e.repeated {
				at = len(c.Columns)
			}
			c.Columns = append(c.Columns, Column{Name: e.name, Type: e.typ()})
		}
		for range leaves {
			f.leaves = append(f.leaves, at)
		}
		f.schema[c.ColumnCount-1] = e // one for each column, no longer the tree
	}
	f.stats = make([]parquetStats, len(c.Columns))
	for i := range f.stats {
		f.stats[i].min, f.stats[i].max = math.Inf(1), math.Inf(-1)
	}
}

func (e parquetElement) typ() Type {
	switch {
	case e.kind < 0 || e.repeated:
		return List
	case e.logical == 8 || e.converted == 9 || e.converted == 10 || e.kind == 3:
		return DateTime
	case e.logical == 6 || e.converted == 6:
		return Date
	case e.logical == 5 || e.converted == 5 || e.kind == 4 || e.kind == 5:
		return Number
	case e.kind == 0:
		return Boolean
	case e.logical == 11:
		return Nothing
	case e.kind == 1 || e.kind == 2:
		return Integer
	case e.logical == 1 || e.logical == 4 || e.logical == 12 || e.converted == 0 || e.converted == 4 || e.converted == 19:
		return String
	}
	return Bytes
}
