package preview

import (
	"encoding/binary"
	"strings"
)

const (
	sqlitePages  = 64 // of the schema that are read
	sqliteTables = 20 // listed in a card
	sqliteSQL    = 600
)

// sqlite lists the tables of a database from its schema, which is the b-tree
// that starts on page 1. See "Database File Format" in SQLite's documentation.
func (c *Card) sqlite(s source, head []byte) {
	c.Kind = SQLite
	c.RowsExact = false
	if len(head) < 108 {
		c.problem("the database is damaged: its header is cut off")
		return
	}
	size := int64(binary.BigEndian.Uint16(head[16:]))
	if size == 1 {
		size = 65536
	}
	if size < 512 || size&(size-1) != 0 || binary.BigEndian.Uint32(head[56:]) > 1 {
		c.problem("the tables could not be listed; ask the database for sqlite_master")
		return
	}
	r := schemaReader{source: s, pageSize: size, usable: size - int64(head[20]), seen: map[int64]bool{}}
	r.page(1)
	for i, t := range r.tables {
		if i == 0 {
			c.Table = t.name
		}
		if i < maxParts {
			c.Tables = append(c.Tables, clip(t.name, maxName))
		}
		if i < sqliteTables {
			c.Detail = append(c.Detail, "table "+shown(t.name, 100)+": "+shown(strings.Join(strings.Fields(t.sql), " "), sqliteSQL))
		}
		c.suspectText([]byte(t.sql), 0)
	}
	if r.damaged {
		c.problem("part of the list of tables could not be read")
	}
	if len(r.tables) == 0 && !r.damaged {
		c.problem("the database has no tables")
	}
	if n := len(r.tables) - sqliteTables; n > 0 {
		c.Detail = append(c.Detail, count(int64(n), "more table"))
	}
}

type sqliteTable struct{ name, sql string }

type schemaReader struct {
	source
	pageSize, usable int64
	seen             map[int64]bool
	tables           []sqliteTable
	damaged          bool
}

// page reads page n, from 1, of the schema and the pages below it.
func (r *schemaReader) page(n int64) {
	if n < 1 || r.seen[n] || len(r.seen) == sqlitePages {
		r.damaged = true
		return
	}
	r.seen[n] = true
	p, err := r.at((n-1)*r.pageSize, r.pageSize)
	if err != nil || int64(len(p)) < r.pageSize {
		r.damaged = true
		return
	}
	h := 0
	if n == 1 {
		h = 100 // the file's header comes first
	}
	cells := int(binary.BigEndian.Uint16(p[h+3:]))
	at, leaf := h+8, true
	switch p[h] {
	case 0x0d:
	case 0x05:
		at, leaf = h+12, false
	default:
		r.damaged = true
		return
	}
	for i := range cells {
		if at+2*i+2 > len(p) {
			r.damaged = true
			return
		}
		cell := int(binary.BigEndian.Uint16(p[at+2*i:]))
		if cell+4 > len(p) {
			r.damaged = true
			return
		}
		if leaf {
			r.cell(p[cell:])
		} else {
			r.page(int64(binary.BigEndian.Uint32(p[cell:])))
		}
	}
	if !leaf {
		r.page(int64(binary.BigEndian.Uint32(p[h+8:])))
	}
}

// cell reads one row of the schema: type, name, tbl_name, rootpage, sql. What
// of the SQL is on overflow pages is left out.
func (r *schemaReader) cell(b []byte) {
	size, b := varint(b)
	_, b = varint(b) // rowid
	// The part of a payload that stays on the page, as the format defines it.
	local := int64(len(b))
	if maxLocal := r.usable - 35; size <= maxLocal {
		local = min(local, size)
	} else {
		minLocal := (r.usable-12)*32/255 - 23
		k := minLocal + (size-minLocal)%(r.usable-4)
		if k > maxLocal {
			k = minLocal
		}
		local = min(local, k)
	}
	if size < 0 || local < 0 {
		r.damaged = true
		return
	}
	b = b[:local]
	head, rest := varint(b)
	if head < 2 || head > int64(len(b)) {
		r.damaged = true
		return
	}
	types := rest[:max(0, int(head)-(len(b)-len(rest)))]
	body := b[head:]
	var texts [5]string
	for i := range texts {
		var t int64
		if t, types = varint(types); t < 0 {
			r.damaged = true
			return
		}
		n := serialSize(t)
		if n > int64(len(body)) {
			n = int64(len(body))
		}
		if t >= 13 && t%2 == 1 {
			texts[i] = strings.ToValidUTF8(string(body[:n]), "\uFFFD")
		}
		body = body[n:]
	}
	if texts[0] == "table" && !strings.HasPrefix(texts[1], "sqlite_") {
		r.tables = append(r.tables, sqliteTable{texts[1], texts[4]})
	}
}

func serialSize(t int64) int64 {
	switch {
	case t >= 12:
		return (t - 12) / 2
	case t <= 4:
		return t
	case t == 5:
		return 6
	case t == 6 || t == 7:
		return 8
	}
	return 0
}

// varint takes SQLite's variable-length integer off b; -1 when b ends in it.
func varint(b []byte) (int64, []byte) {
	var v uint64
	for i := 0; i < 9 && i < len(b); i++ {
		if i == 8 {
			return int64(v<<8 | uint64(b[i])), b[i+1:]
		}
		v = v<<7 | uint64(b[i]&0x7f)
		if b[i] < 0x80 {
			return int64(v), b[i+1:]
		}
	}
	return -1, nil
}
