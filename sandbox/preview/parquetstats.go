package preview

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"
)

func (f *parquetFile) group(id int16, kind byte) {
	if id != 1 || kind != thriftList {
		f.skip(kind)
		return
	}
	leaf := 0
	f.list(func(k byte) {
		if k != thriftStruct {
			f.fail()
			return
		}
		at := -1
		if leaf < len(f.leaves) {
			at = f.leaves[leaf]
		}
		leaf++
		f.structure(func(id int16, kind byte) {
			if id != 3 || kind != thriftStruct || at < 0 {
				f.skip(kind)
				return
			}
			f.structure(func(id int16, kind byte) { f.chunk(at, id, kind) })
		})
	})
}

// chunk reads the facts of one column in one row group.
func (f *parquetFile) chunk(at int, id int16, kind byte) {
	st := &f.stats[at]
	switch {
	case id == 4:
		st.codec = f.int()
	case id == 12 && kind == thriftStruct:
		var low, high []byte
		f.structure(func(id int16, kind byte) {
			switch {
			case id == 3:
				if n := f.int(); n >= 0 {
					st.nulls, st.counted = st.nulls+n, st.counted+1
				}
			case id == 5 && kind == thriftBinary:
				high = f.bytes()
			case id == 6 && kind == thriftBinary:
				low = f.bytes()
			default:
				f.skip(kind)
			}
		})
		a, ok := f.schema[at].value(low)
		b, ok2 := f.schema[at].value(high)
		if ok && ok2 {
			st.min, st.max, st.bounded = min(st.min, a), max(st.max, b), st.bounded+1
		}
	default:
		f.skip(kind)
	}
}

// value is a bound of the statistics as a number.
func (e parquetElement) value(b []byte) (float64, bool) {
	var v float64
	switch {
	case e.kind == 1 && len(b) == 4:
		v = float64(int32(binary.LittleEndian.Uint32(b)))
	case e.kind == 2 && len(b) == 8:
		v = float64(int64(binary.LittleEndian.Uint64(b)))
	case e.kind == 4 && len(b) == 4:
		v = float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	case e.kind == 5 && len(b) == 8:
		v = math.Float64frombits(binary.LittleEndian.Uint64(b))
	default:
		return 0, false
	}
	if e.typ() == Number && e.kind <= 2 {
		v /= math.Pow10(int(max(0, min(e.scale, 38))))
	}
	return v + 0, !math.IsNaN(v) // + 0: a bound of -0 is 0
}

func (f *parquetFile) finish() {
	c := f.card
	if !utf8.ValidString(f.writer) {
		f.writer = ""
	}
	d := count(f.groups, "row group")
	if f.writer != "" {
		d += ", written by " + shown(f.writer, 60)
	}
	c.Detail = append(c.Detail, d)
	for i := range c.Columns {
		col, st, e := &c.Columns[i], f.stats[i], f.schema[i]
		if st.counted == f.groups {
			col.Missing = st.nulls
		}
		if st.bounded == 0 || st.bounded < f.groups {
			continue
		}
		switch col.Type {
		case Integer, Number:
			col.Min, col.Max = number(st.min), number(st.max)
		case Date:
			col.Min, col.Max = day(st.min), day(st.max)
		case DateTime:
			per := 1e3
			if e.converted == 10 || e.unit == 2 {
				per = 1e6
			} else if e.unit == 3 {
				per = 1e9
			}
			col.Min, col.Max = moment(st.min/per), moment(st.max/per)
		}
	}
	if c.ColumnCount > len(c.Columns) {
		c.problem("%d columns; only the first %d were looked at", c.ColumnCount, len(c.Columns))
	}
	c.dedupe()
}

func day(days float64) string { return moment(days * 86400)[:min(10, len(moment(days*86400)))] }

// moment is the time so many seconds after 1970, or empty far from today.
func moment(seconds float64) string {
	if math.Abs(seconds) > 1e11 {
		return ""
	}
	return strings.TrimSuffix(fmt.Sprint(time.Unix(int64(math.Floor(seconds)), 0).UTC().Format("2006-01-02 15:04:05")), " 00:00:00")
}
