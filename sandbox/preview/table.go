package preview

import (
	"bytes"
	"context"
	"fmt"
	"strings"
)

const (
	headBytes   = 256 << 10 // for the dialect and the header
	largeTable  = 500 << 20 // pandas takes some times the size
	wholeBytes  = 8 << 20   // files up to this are read to the last value
	sampleHead  = 3 << 20   // of larger ones: this, and
	sampleParts = 24        // so many blocks of
	sampleBlock = 96 << 10
)

// table fills the card of a text file with delimiters; false means that it is
// no table. named says that its name claims it is one.
func (c *Card) table(ctx context.Context, s source, cs charset, named bool) (bool, error) {
	head, err := s.at(int64(cs.bom), headBytes)
	if err != nil {
		return false, err
	}
	text, _ := cs.decode(cutLine(head, s.size > headBytes && !cs.wide()))
	d, width, share := sniffDialect(text)
	rows := readRows(text, d, sniffRows, width)
	if !named && (d.delim == 0 || share < 0.9 || len(rows) < 3) || len(rows) == 0 {
		return false, nil
	}
	if named && d.delim != 0 && share < 0.4 {
		return false, nil
	}
	c.Kind = CSV
	if d.delim == '\t' {
		c.Kind = TSV
	}
	if d.delim != 0 {
		c.Delimiter = string(d.delim)
	}
	c.Quote, c.SkipSpace = string(d.quote), d.skipSpace
	first := c.header(rows, width)
	c.ColumnCount = width
	if c.Implicit {
		c.ColumnCount = width - 1
	}
	t := &tableReader{card: c, dialect: d, width: width, count: c.ColumnCount, first: first, search: suspectBytes}
	if c.RowsExact = s.size <= wholeBytes || c.pass.whole; c.RowsExact {
		err = t.collect(ctx, s, cs, span{int64(cs.bom), s.size})
	} else {
		err = t.sample(ctx, s, cs)
	}
	if err != nil {
		return false, err
	}
	if s.size > largeTable {
		c.problem("all of it may not fit the memory; give load() usecols= or nrows=, or go through it with chunksize=")
	}
	t.finish()
	return true, nil
}

// cutLine cuts b behind its last line end when more of the file follows.
func cutLine(b []byte, more bool) []byte {
	if i := bytes.LastIndexByte(b, '\n'); more && i > 0 {
		return b[:i+1]
	}
	return b
}

// header finds the row of names, sets the names of the columns and returns the
// index of the first data row.
func (c *Card) header(rows []row, width int) (first int) {
	at := headerIndex(rows, width)
	if at < 0 {
		at = 0
		for at < len(rows)-1 && rows[at].blank {
			at++
		}
	}
	var names []string
	first = at
	switch h := rows[at]; {
	case h.n == width-1:
		first = at + 1
		extra := 0
		for _, r := range rows[first:] {
			if r.n == width && len(r.fields) == width && r.fields[width-1] == "" {
				extra++
			}
		}
		names = h.fields
		if extra*10 >= (len(rows)-first)*8 {
			c.Implicit = true
			c.HeaderRow, c.SkipRows = int(h.line), at
		} else {
			names = append([]string{"row"}, h.fields...)
			c.SkipRows = first
			c.problem("rows have one field more than the row of names; the first field got the name \"row\"")
		}
	case hasHeader(rows, at):
		first = at + 1
		names = h.fields
		c.HeaderRow, c.SkipRows = int(h.line), at
	default:
		c.SkipRows = at
		c.problem("no row of column names; the columns are called c1, c2, ...")
	}
	if at > 0 && c.SkipRows > 0 {
		for _, r := range rows[:at] {
			if !r.blank && len(c.Quotes) < 3 {
				c.Quotes = append(c.Quotes, "above the table: "+shown(strings.Trim(strings.Join(r.fields, " "), " "), 80))
			}
		}
	}
	n := min(width, MaxColumns)
	if c.Implicit {
		n = min(width-1, MaxColumns)
	}
	c.Columns = make([]Column, n)
	for i := range c.Columns {
		switch {
		case names == nil:
			c.Columns[i].Name = fmt.Sprintf("c%d", i+1)
		case i < len(names) && names[i] != "":
			c.Columns[i].Name = names[i]
		default:
			c.Columns[i].Name = fmt.Sprintf("Unnamed: %d", i)
		}
	}
	c.dedupe()
	return first
}

// dedupe renames equal columns as pandas does.
func (c *Card) dedupe() {
	seen := map[string]int{}
	var twice []string
	for i := range c.Columns {
		name := c.Columns[i].Name
		col := name
		k := seen[col]
		if k > 0 {
			twice = append(twice, shown(name, 40))
		}
		for k > 0 {
			seen[col] = k + 1
			col = fmt.Sprintf("%s.%d", col, k)
			k = seen[col]
		}
		seen[col] = k + 1
		c.Columns[i].Name = col
	}
	if len(twice) > 0 {
		c.problem("%s: the later ones get .1, .2 added to their names: %s", count(int64(len(twice)), "duplicate column name"), strings.Join(twice[:min(len(twice), 5)], ", "))
	}
}
