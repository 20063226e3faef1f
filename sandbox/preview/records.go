package preview

import (
	"bytes"
	"io"
)

// A dialect says how a line becomes fields.
type dialect struct {
	delim     byte // 0: one column
	quote     byte // 0: none
	skipSpace bool // spaces after a delimiter do not belong to the field
}

// A record is one row of a table. Its fields are valid until the next call of
// the reader.
type record struct {
	line    int64 // its first line, from 1
	lines   int   // line ends inside it, plus 1
	fields  [][]byte
	n       int  // number of fields, of which only some are in fields
	blank   bool // nothing on the line
	runaway bool // a quote opens and does not close where it should
	quoted  bool // a field needs its quotes: it holds a delimiter, a quote or a line end
}

const (
	bufferSize = 256 << 10
	recordMax  = 1 << 20 // longest record; a longer one has an open quote or is no table
)

// records reads the rows of a table as pandas' parser does: a quote opens a
// field only at its start, two quotes inside are one, and any of \n, \r\n and
// \r ends a row.
type records struct {
	dialect
	src    io.Reader
	buf    []byte
	pos    int
	eof    bool
	err    error
	read   int64 // bytes taken from src
	line   int64
	width  int // expected fields; 0 while unknown. Needed to see an open quote
	keep   int // fields kept of each row
	fields [][]byte
}

func newRecords(src io.Reader, d dialect, keep int) *records {
	return &records{dialect: d, src: src, buf: make([]byte, 0, bufferSize), line: 1, keep: keep}
}

// fill reads more behind what is unread; false when there is no more or the
// record is already too long.
func (r *records) fill() bool {
	if r.eof || len(r.buf)-r.pos >= recordMax {
		return false
	}
	if r.pos > 0 {
		n := copy(r.buf[:cap(r.buf)], r.buf[r.pos:])
		r.buf, r.pos = r.buf[:n], 0
	}
	if len(r.buf) == cap(r.buf) {
		b := make([]byte, len(r.buf), 2*cap(r.buf))
		copy(b, r.buf)
		r.buf = b
	}
	for range 100 {
		n, err := r.src.Read(r.buf[len(r.buf):cap(r.buf)])
		r.buf = r.buf[:len(r.buf)+n]
		r.read += int64(n)
		if err != nil {
			r.eof = true
			if err != io.EOF {
				r.err = err
			}
		}
		if n > 0 || r.eof {
			return n > 0
		}
	}
	r.eof = true
	return false
}

// next returns the next row; ok is false at the end.
func (r *records) next() (rec record, ok bool) {
	for {
		rec, used, whole := r.parse(r.buf[r.pos:])
		if !whole && r.fill() {
			continue
		}
		if used == 0 {
			return record{}, false
		}
		if rec.runaway || rec.lines > 1 && r.width > 1 && r.rows(r.buf[r.pos:r.pos+used]) {
			rec, used = r.firstLine(r.buf[r.pos:])
		} else if rec.lines > 1 {
			rec, used, _ = r.parse(r.buf[r.pos:]) // rows has used the fields
		}
		r.pos += used
		rec.line = r.line
		r.line += int64(rec.lines)
		return rec, true
	}
}

// shape is next without the fields, several times as fast.
func (r *records) shape() (rec record, ok bool) {
	b := r.buf[r.pos:]
	i := bytes.IndexByte(b, '\n')
	if i < 0 {
		return r.next()
	}
	line := b[:i]
	if i > 0 && line[i-1] == '\r' {
		line = line[:i-1]
	}
	if r.quote != 0 && bytes.IndexByte(line, r.quote) >= 0 || bytes.IndexByte(line, '\r') >= 0 {
		return r.next()
	}
	rec = record{line: r.line, lines: 1, n: 1}
	if r.delim != 0 {
		rec.n += bytes.Count(line, []byte{r.delim})
	}
	rec.blank = rec.n == 1 && blankLine(line)
	r.pos += i + 1
	r.line++
	return rec, true
}

// parse takes one row off b. whole is false when more input could change it.
func (r *records) parse(b []byte) (rec record, used int, whole bool) {
	rec.lines = 1
	r.fields = r.fields[:0]
	i := 0
	for {
		if r.skipSpace {
			for i < len(b) && b[i] == ' ' {
				i++
			}
		}
		start, end := i, i
		var text []byte
		if i < len(b) && b[i] == r.quote && r.quote != 0 {
			i++
			start = i
			needs := false
			for {
				k := bytes.IndexByte(b[i:], r.quote)
				if k < 0 {
					rec.runaway = true
					return rec, len(b), false
				}
				i += k
				if i+1 < len(b) && b[i+1] == r.quote {
					needs = true
					i += 2
					continue
				}
				break
			}
			end = i
			i++ // the closing quote
			text = b[start:end]
			if n := countLines(text); n > 0 {
				rec.lines += n
				needs = true
			}
			if needs || r.delim != 0 && bytes.IndexByte(text, r.delim) >= 0 {
				rec.quoted = true
			}
			if bytes.IndexByte(text, r.quote) >= 0 {
				text = bytes.ReplaceAll(text, []byte{r.quote, r.quote}, []byte{r.quote})
			}
			tail := i
			for i < len(b) && b[i] != r.delim && b[i] != '\n' && b[i] != '\r' {
				i++
			}
			if i > tail {
				text = append(append([]byte(nil), text...), b[tail:i]...)
			}
		} else {
			for i < len(b) && (b[i] != r.delim || r.delim == 0) && b[i] != '\n' && b[i] != '\r' {
				i++
			}
			text = b[start:i]
		}
		rec.n++
		if len(r.fields) < r.keep {
			r.fields = append(r.fields, text)
		}
		if i == len(b) {
			rec.fields = r.fields
			rec.blank = rec.n == 1 && blankLine(b)
			return rec, i, false
		}
		switch c := b[i]; {
		case c == '\n' || c == '\r':
			rec.fields = r.fields
			rec.blank = rec.n == 1 && blankLine(b[:i])
			i++
			if c == '\r' {
				if i == len(b) {
					return rec, i, false
				}
				if b[i] == '\n' {
					i++
				}
			}
			return rec, i, true
		default:
			i++
		}
	}
}

// firstLine is the first line of b as a row in which quotes mean nothing.
func (r *records) firstLine(b []byte) (record, int) {
	q := r.quote
	r.quote = 0
	rec, used, _ := r.parse(b)
	r.quote = q
	rec.runaway = true
	return rec, used
}

// rows says whether b, read as one row of several lines, is rather several
// rows of which the first has an open quote.
func (r *records) rows(b []byte) bool {
	first, used := r.firstLine(b)
	if first.n != r.width {
		return false
	}
	b = b[used:]
	alone := 0
	for range 50 {
		rec, used, _ := r.parse(b)
		if used == 0 {
			break
		}
		if rec.lines == 1 && !rec.runaway && rec.n == r.width {
			alone++
		}
		if rec.runaway {
			_, used = r.firstLine(b)
		}
		b = b[used:]
	}
	return alone > 0
}

// blankLine says whether pandas skips the line.
func blankLine(b []byte) bool {
	for _, c := range b {
		if c != ' ' && c != '\t' {
			return false
		}
	}
	return true
}

func countLines(b []byte) int {
	n := bytes.Count(b, []byte{'\n'})
	if bytes.IndexByte(b, '\r') >= 0 {
		n += bytes.Count(b, []byte{'\r'}) - bytes.Count(b, []byte("\r\n"))
	}
	return n
}
