package preview

import (
	"bytes"
	"context"
	"fmt"
	"hash/maphash"
	"io"

	"golang.org/x/text/transform"
)

// A tableReader collects what the rows of a table say.
type tableReader struct {
	dialect
	card                 *Card
	width                int // fields of a good row
	count                int // columns
	first                int // rows before the data
	cols                 []*collector
	rows                 int64
	read                 int64  // rows of which the values were looked at
	last                 []byte // first field of the last of them
	wide                 int64  // rows with too many fields
	extra                int64  // rows with too many fields, which are empty
	narrow               int64
	runaway              int64
	wideAt               []int64
	narrowAt             []int64
	runAt                []int64
	faults               []Fault
	inBlocks, blockBytes int64 // rows and bytes of the parts behind the head
	quoted               bool  // some field needs its quotes
	firstBad             bool  // the first data row is too wide: pandas would take all others for narrow
	search               int   // bytes of text that may still be searched for orders
}

func (t *tableReader) collector(i int) *collector {
	if t.cols == nil {
		seed, all := maphash.MakeSeed(), layouts()
		limit := min(1000, max(10, 200_000/max(1, len(t.card.Columns))))
		for range t.card.Columns {
			t.cols = append(t.cols, newCollector(seed, all, limit, t.card.pass))
		}
	}
	return t.cols[i]
}

// reader starts to read rows from a part of the file.
func (t *tableReader) reader(s source, cs charset, p span) *records {
	var src io.Reader = io.NewSectionReader(s.r, p.from, p.to-p.from)
	switch cs.name {
	case "utf-8", "utf-8-sig":
	default:
		src = transform.NewReader(src, cs.decoder())
	}
	r := newRecords(src, t.dialect, MaxColumns)
	r.width = t.width
	return r
}

// collect reads all rows of the head of the file.
func (t *tableReader) collect(ctx context.Context, s source, cs charset, p span) error {
	r := t.reader(s, cs, p)
	for i := 0; ; i++ {
		if i%1024 == 0 {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			t.card.pass.at(r.read)
		}
		rec, ok := r.next()
		if !ok {
			return r.err
		}
		if p.to < s.size && r.eof && r.pos == len(r.buf) {
			return nil // the row that the end of the part cuts
		}
		if i < t.first || t.skip(rec) {
			continue
		}
		t.card.suspect(rec.fields, rec.line, &t.search)
		if t.shape(rec) {
			t.values(rec, rec.line)
		}
	}
}

// skip says whether pandas leaves the row out by itself.
func (t *tableReader) skip(rec record) bool { return rec.blank }

// shape counts the row and its faults; false means that its values say nothing.
func (t *tableReader) shape(rec record) bool {
	t.rows++
	t.quoted = t.quoted || rec.quoted
	switch {
	case rec.runaway:
		t.runaway++
		t.runAt = appendLine(t.runAt, rec.line)
		t.fault(rec, "a quote is opened and not closed")
		return false
	case rec.n > t.width && onlyEmpty(rec, t.width):
		t.extra++
	case rec.n > t.width:
		if t.rows == 1 {
			t.firstBad = true
		}
		t.wide++
		t.wideAt = appendLine(t.wideAt, rec.line)
		t.fault(rec, fmt.Sprintf("%d fields instead of %d", rec.n, t.width))
		return false
	case rec.n < t.count:
		t.narrow++
		t.narrowAt = appendLine(t.narrowAt, rec.line)
		t.fault(rec, fmt.Sprintf("%d fields instead of %d", rec.n, t.count))
	}
	return true
}

func (t *tableReader) fault(rec record, why string) {
	if len(t.faults) < 3*MaxBadLines && rec.line > 0 {
		t.faults = append(t.faults, Fault{rec.line, why})
	}
}

// onlyEmpty says whether the fields that are too many are empty.
func onlyEmpty(rec record, width int) bool {
	if rec.n > len(rec.fields) {
		return false
	}
	for _, f := range rec.fields[width:] {
		if len(f) > 0 {
			return false
		}
	}
	return true
}

func appendLine(l []int64, n int64) []int64 {
	if len(l) == MaxBadLines || n == 0 {
		return l
	}
	return append(l, n)
}

// values gives the fields of a row to the columns.
func (t *tableReader) values(rec record, line int64) {
	t.read++
	if len(rec.fields) > 0 {
		t.last = append(t.last[:0], rec.fields[0]...)
	}
	for i := range t.card.Columns {
		var f []byte
		if i < len(rec.fields) {
			f = rec.fields[i]
		}
		t.collector(i).add(f, line)
	}
	if len(t.card.Sample) < 3 {
		t.card.Sample = append(t.card.Sample, texts(rec.fields))
	}
}

func texts(fields [][]byte) []string {
	out := make([]string, 0, min(len(fields), 60))
	for _, f := range fields[:min(len(fields), 60)] {
		out = append(out, clipBytes(f, maxValue))
	}
	return out
}

// sample reads the values of parts of a large file and the shape of all of it,
// as far as that is quick.
func (t *tableReader) sample(ctx context.Context, s source, cs charset) error {
	t.card.Sampled = true
	parts := s.parts(0, sampleHead, sampleParts, sampleBlock)
	parts[0].from = int64(cs.bom)
	if err := t.collect(ctx, s, cs, parts[0]); err != nil {
		return err
	}
	headRows := t.rows
	for _, p := range parts[1:] {
		if cs.wide() {
			break // a block may begin in the middle of a character
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		t.block(s, cs, p)
	}
	if cs.wide() || s.size > scanMax {
		t.rows = int64(float64(headRows+t.inBlocks) / float64(parts[0].to-parts[0].from+t.blockBytes) * float64(s.size))
		return nil
	}
	t.rows, t.wide, t.narrow, t.runaway = 0, 0, 0, 0
	t.wideAt, t.narrowAt, t.runAt, t.faults = nil, nil, nil, nil
	r := newRecords(io.NewSectionReader(s.r, int64(cs.bom), s.size-int64(cs.bom)), t.dialect, 0)
	r.width = t.width
	for i := 0; ; i++ {
		if i%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		rec, ok := r.shape()
		if !ok {
			t.card.RowsExact = r.err == nil
			return r.err
		}
		if i >= t.first && !t.skip(rec) {
			t.shape(rec)
		}
	}
}

// block reads the whole rows of one block; rows of another width are not
// counted here, for the block may begin inside quotes.
func (t *tableReader) block(s source, cs charset, p span) {
	b, err := s.at(p.from, p.to-p.from)
	if err != nil {
		return
	}
	i, j := bytes.IndexByte(b, '\n'), bytes.LastIndexByte(b, '\n')
	if i < 0 || j <= i {
		return
	}
	text, _ := cs.decode(b[i+1 : j+1])
	t.blockBytes += int64(j - i)
	r := newRecords(bytes.NewReader(text), t.dialect, MaxColumns)
	r.width = t.width
	for {
		rec, ok := r.next()
		if !ok {
			return
		}
		if !rec.blank {
			t.inBlocks++
		}
		if rec.n == t.width && !rec.runaway && !rec.blank {
			t.card.suspect(rec.fields, 0, &t.search)
			t.values(rec, 0)
		}
	}
}
