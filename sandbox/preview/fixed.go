package preview

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	fixedLines   = 2000
	fixedWidth   = 2000 // characters of a line
	fixedColumns = 200
)

// fixed makes the card of a table whose columns are aligned with spaces; false
// when text is none. A prose text has no column that is blank in every line,
// and where one happens to have, it has no column of numbers.
func (c *Card) fixed(text []byte, more bool) bool {
	if bytes.IndexByte(text, '\t') >= 0 {
		return false
	}
	lines := strings.Split(strings.TrimRight(strings.ReplaceAll(string(cutLine(text, more)), "\r\n", "\n"), "\n"), "\n")
	lines = lines[:min(len(lines), fixedLines)]
	var body []fixedLine
	ruler := 0
	for i, l := range lines {
		switch {
		case ruler == 0 && i < 20 && rulerLike(l):
			ruler = i + 1
			body = body[max(0, len(body)-1):] // the names stand above the ruler
		case strings.TrimSpace(l) != "":
			if len(l) > 4*fixedWidth {
				return false
			}
			body = append(body, fixedLine{l, int64(i + 1)})
		}
	}
	var rows []row
	var specs [][2]int
	if ruler > 0 {
		if s := rulerColumns(lines[ruler-1]); len(s) > 1 && len(s) <= fixedColumns && len(body) > 1 {
			if r := cutRows(body, s); aligned(r) {
				rows, specs = r, s
			}
		}
	}
	for top := range 6 { // lines above the table, which would fill its gaps
		if len(body)-top < 4 || ruler > 0 && specs != nil {
			break
		}
		s := blankColumns(body[top:])
		if len(s) < 2 || len(s) > fixedColumns || len(s) <= len(specs) {
			continue
		}
		if r := cutRows(body[top:], s); aligned(r) {
			rows, specs = r, s
		}
	}
	if specs == nil {
		return false
	}
	c.Kind, c.ColumnCount, c.Widths, c.Ruler = Fixed, len(specs), specs, ruler
	first := c.header(rows, len(specs))
	c.SkipRows = int(rows[first].line) - 1
	if c.HeaderRow > 0 {
		c.SkipRows = c.HeaderRow - 1
	}
	seed, all := maphash.MakeSeed(), layouts()
	cols := make([]*collector, len(c.Columns))
	left := suspectBytes
	for i := range cols {
		cols[i] = newCollector(seed, all, 1000, c.pass)
	}
	for _, r := range rows[first:] {
		var fields [][]byte
		for i, f := range r.fields {
			cols[i].add([]byte(f), r.line)
			fields = append(fields, []byte(f))
		}
		c.suspect(fields, r.line, &left)
		if len(c.Sample) < 3 {
			c.Sample = append(c.Sample, r.fields)
		}
	}
	c.Sampled = more || len(lines) == fixedLines
	c.resolve(cols)
	c.Rows = int64(len(rows) - first)
	c.notes()
	return true
}

// A fixedLine is a line and its number, from 1.
type fixedLine struct {
	text string
	n    int64
}

func cutRows(lines []fixedLine, specs [][2]int) (rows []row) {
	for _, l := range lines {
		r := row{n: len(specs), line: l.n}
		rs := []rune(l.text)
		for _, s := range specs {
			r.fields = append(r.fields, strings.TrimSpace(string(rs[min(len(rs), s[0]):min(len(rs), s[1])])))
		}
		rows = append(rows, r)
	}
	return rows
}

// blankColumns is the spans of characters between the columns that are blank
// in every line.
func blankColumns(lines []fixedLine) (specs [][2]int) {
	used := make([]bool, 0, 256)
	for _, l := range lines {
		i := 0
		for _, r := range l.text {
			if i == fixedWidth {
				break
			}
			if i == len(used) {
				used = append(used, false)
			}
			used[i] = used[i] || r != ' ' && r != '\u00a0'
			i++
		}
	}
	from := -1
	for i := 0; i <= len(used); i++ {
		on := i < len(used) && used[i]
		if on && from < 0 {
			from = i
		} else if !on && from >= 0 {
			if n := len(specs); n > 0 && from-specs[n-1][1] == 1 && len(lines) < 10 {
				specs[n-1][1] = i // one blank in a few lines may be one between words
			} else {
				specs = append(specs, [2]int{from, i})
			}
			from = -1
		}
	}
	return specs
}

// rulerColumns is where the dashes of a ruler say that columns are; each goes
// on to the next, for values may be longer than the dashes.
func rulerColumns(ruler string) (specs [][2]int) {
	for i := range len(ruler) {
		if ruler[i] != ' ' && (i == 0 || ruler[i-1] == ' ') {
			if n := len(specs); n > 0 {
				specs[n-1][1] = i
			}
			specs = append(specs, [2]int{i, fixedWidth})
		}
	}
	return specs
}

// aligned says that the fields are filled and that some column has values.
func aligned(rows []row) bool {
	full, numbers := 0, make([]int, len(rows[0].fields))
	for _, r := range rows {
		n := 0
		for i, f := range r.fields {
			if f != "" {
				n++
			}
			if valueLike(f) {
				numbers[i]++
			}
		}
		if n*10 >= len(r.fields)*6 {
			full++
		}
	}
	return full*10 >= len(rows)*9 && slices.ContainsFunc(numbers, func(n int) bool { return n*10 >= (len(rows)-1)*8 })
}

func rulerLike(l string) bool {
	return len(l) > 3 && strings.Trim(l, "-=+ ") == "" && strings.ContainsAny(l, "-=") && utf8.ValidString(l)
}

// fixedArgs is the arguments of read_fwf, and the columns that it cannot turn
// into numbers by itself.
func (c Card) fixedArgs() (args arguments, clean []Column) {
	var p []string
	for _, w := range c.Widths {
		p = append(p, fmt.Sprintf("(%d, %d)", w[0], w[1]))
	}
	args.add("colspecs", "["+strings.Join(p, ", ")+"]", c.Widths)
	if c.Encoding != "utf-8" {
		args.text("encoding", c.Encoding)
	}
	if c.Ruler > 0 {
		skip := []int{}
		for i := range c.SkipRows {
			skip = append(skip, i)
		}
		skip = append(skip, c.Ruler-1)
		args.add("skiprows", strings.ReplaceAll(fmt.Sprint(skip), " ", ", "), skip)
	} else if c.SkipRows > 0 {
		args.add("skiprows", fmt.Sprint(c.SkipRows), c.SkipRows)
	}
	if c.HeaderRow == 0 {
		args.add("header", "None", nil)
		args.add("names", literals(c.names()), c.names())
	}
	return c.typeArgs(args)
}
