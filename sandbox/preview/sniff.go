package preview

import (
	"bytes"
	"slices"
)

// sniffRows is how many rows decide about the dialect and the header.
const sniffRows = 200

// row is a copy of a record.
type row struct {
	fields  []string
	n       int
	line    int64
	blank   bool
	runaway bool
}

func readRows(text []byte, d dialect, limit, width int) []row {
	r := newRecords(bytes.NewReader(text), d, MaxColumns)
	r.width = width
	var rows []row
	for len(rows) < limit {
		rec, ok := r.next()
		if !ok {
			break
		}
		w := row{n: rec.n, line: rec.line, blank: rec.blank, runaway: rec.runaway}
		for _, f := range rec.fields {
			w.fields = append(w.fields, clipBytes(f, maxName))
		}
		rows = append(rows, w)
	}
	return rows
}

// modal is the most frequent number of fields and the share of rows that have
// it. Blank rows do not count.
func modal(rows []row) (width int, share float64) {
	counts := map[int]int{}
	n := 0
	for _, r := range rows {
		if !r.blank {
			counts[r.n]++
			n++
		}
	}
	most := 0
	for w, k := range counts {
		if k > most || k == most && w > width {
			width, most = w, k
		}
	}
	return width, float64(most) / float64(max(n, 1))
}

// sniffDialect finds the delimiter and the quote by how evenly they divide the
// rows. delim is 0 when nothing divides them.
func sniffDialect(text []byte) (d dialect, width int, share float64) {
	quote := byte('"')
	best := -1.0
	for _, c := range []byte{'\t', ';', '|', ','} {
		if bytes.IndexByte(text, c) < 0 {
			continue
		}
		t := dialect{delim: c, quote: quote}
		rows := readRows(text, t, sniffRows, 0)
		w, s := modal(rows)
		if w < 2 {
			continue
		}
		score := s
		// The row of names has the delimiter as well; the comma of decimals
		// is not in it.
		if h := headerIndex(rows, w); h >= 0 && rows[h].n == w && !numberish(rows[h].fields) {
			score += 0.2
		}
		if score > best+0.05 || score > best-0.05 && w > 2*width {
			best, d, width, share = max(best, score), t, w, s
		}
	}
	if d.delim == 0 {
		return dialect{quote: quote}, 1, 1
	}
	if bytes.Count(text, []byte{d.delim, '\''}) > 2*bytes.Count(text, []byte{'"'})+2 {
		t := dialect{delim: d.delim, quote: '\''}
		if w, s := modal(readRows(text, t, sniffRows, 0)); s >= share {
			d, width, share = t, w, s
		}
	}
	return d.spaces(text), width, share
}

// spaces sets skipSpace when a space follows nearly every delimiter.
func (d dialect) spaces(text []byte) dialect {
	n, spaced := bytes.Count(text, []byte{d.delim}), bytes.Count(text, []byte{d.delim, ' '})
	d.skipSpace = n > 0 && spaced*10 >= n*8
	return d
}

// headerIndex is the first row that has all the width and hardly any empty
// field: what is above it is a title. A row that lacks just one field counts
// when its fields are names and the next row has values. -1: none.
func headerIndex(rows []row, width int) int {
	before := -1 // the last row that is not blank
	for i, r := range rows {
		if i > 50 {
			break
		}
		if r.blank {
			continue
		}
		if r.n != width || filled(r)*10 < min(width, MaxColumns)*6 {
			before = i
			continue
		}
		if before >= 0 && width > 2 {
			b := rows[before]
			if b.n == width-1 && filled(b) == len(b.fields) && !numberish(b.fields) &&
				(numberish(r.fields) || r.fields[len(r.fields)-1] == "") {
				return before
			}
		}
		return i
	}
	return -1
}

func filled(r row) (n int) {
	for _, f := range r.fields {
		if f != "" {
			n++
		}
	}
	return n
}

func valueLike(s string) bool {
	b := []byte(s)
	if _, ok := parseNumeral(b); ok {
		return true
	}
	if !dateLike(b) {
		return false
	}
	for _, l := range layouts() {
		if _, ok := l.parse(s, false); ok {
			return true
		}
	}
	return false
}

func numberish(fields []string) bool {
	return slices.ContainsFunc(fields, valueLike)
}

// hasHeader says whether rows[at] holds names rather than values.
func hasHeader(rows []row, at int) bool {
	head := rows[at].fields
	body := rows[at+1:]
	if len(body) > 50 {
		body = body[:50]
	}
	values, years, texts := 0, 0, 0
	for _, f := range head {
		switch {
		case isYear(f):
			years++
			values++
		case valueLike(f):
			values++
		case f != "":
			texts++
		}
	}
	if values > 0 {
		// 2019, 2020, 2021 are names when no column below holds years.
		if years != values || texts == 0 || years < 2 {
			return false
		}
		for i, f := range head {
			if !isYear(f) {
				continue
			}
			for _, r := range body {
				if i < len(r.fields) && isYear(r.fields[i]) {
					return false
				}
			}
		}
		return true
	}
	// All text. A name does not come again in its column, unless the whole
	// row does.
	for i, f := range head {
		if f == "" {
			continue
		}
		for _, r := range body {
			if i < len(r.fields) && r.fields[i] == f && !slices.Equal(r.fields, head) {
				return false
			}
		}
	}
	return true
}

func isYear(s string) bool {
	return len(s) == 4 && (s[:2] == "19" || s[:2] == "20") && s[2] >= '0' && s[2] <= '9' && s[3] >= '0' && s[3] <= '9'
}
