package preview

import (
	"bytes"
	"context"
	"fmt"
	"hash/maphash"
	"io"
	"strings"

	"golang.org/x/text/transform"
)

const (
	headBytes   = 256 << 10 // for the dialect and the header
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
	if c.RowsExact = s.size <= wholeBytes; c.RowsExact {
		err = t.collect(ctx, s, cs, span{int64(cs.bom), s.size})
	} else {
		err = t.sample(ctx, s, cs)
	}
	if err != nil {
		return false, err
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
			if !r.blank && len(c.Detail) < 3 {
				c.Detail = append(c.Detail, "above the table: "+shown(strings.Trim(strings.Join(r.fields, " "), " "), 80))
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

// A tableReader collects what the rows of a table say.
type tableReader struct {
	dialect
	card     *Card
	width    int // fields of a good row
	count    int // columns
	first    int // rows before the data
	cols     []*collector
	rows     int64
	read     int64  // rows of which the values were looked at
	last     []byte // first field of the last of them
	wide     int64  // rows with too many fields
	narrow   int64
	runaway  int64
	wideAt   []int64
	narrowAt []int64
	runAt    []int64
	quoted   bool // some field needs its quotes
	firstBad bool // the first data row is too wide: pandas would take all others for narrow
	search   int  // bytes of text that may still be searched for orders
}

func (t *tableReader) collector(i int) *collector {
	if t.cols == nil {
		seed, all := maphash.MakeSeed(), layouts()
		limit := min(1000, max(10, 200_000/max(1, len(t.card.Columns))))
		for range t.card.Columns {
			t.cols = append(t.cols, newCollector(seed, all, limit))
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
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
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
		return false
	case rec.n > t.width:
		if t.rows == 1 {
			t.firstBad = true
		}
		t.wide++
		t.wideAt = appendLine(t.wideAt, rec.line)
		return false
	case rec.n < t.count:
		t.narrow++
		t.narrowAt = appendLine(t.narrowAt, rec.line)
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
		t.rows = int64(float64(headRows) / float64(parts[0].to) * float64(s.size))
		return nil
	}
	t.rows, t.wide, t.narrow, t.runaway = 0, 0, 0, 0
	t.wideAt, t.narrowAt, t.runAt = nil, nil, nil
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
	r := newRecords(bytes.NewReader(text), t.dialect, MaxColumns)
	r.width = t.width
	for {
		rec, ok := r.next()
		if !ok {
			return
		}
		if rec.n == t.width && !rec.runaway && !rec.blank {
			t.card.suspect(rec.fields, 0, &t.search)
			t.values(rec, 0)
		}
	}
}

// finish turns what was collected into the card.
func (t *tableReader) finish() {
	c := t.card
	c.Rows = t.rows
	for i := range c.Columns {
		t.collector(i)
	}
	c.resolve(t.cols)
	c.BadRows = t.wide + t.narrow + t.runaway
	lines := append(append([]int64(nil), t.wideAt...), t.runAt...)
	listed := t.wide+t.runaway <= MaxBadLines && int64(len(lines)) == t.wide+t.runaway
	switch {
	case t.runaway > 0 && !t.quoted && t.wide == 0:
		// Quotes are needed nowhere, so nothing is lost without them.
		c.Repair = RepairNoQuote
	case t.runaway > 0 && listed, t.firstBad && listed:
		c.Repair = RepairLines
	case t.wide > 0:
		c.Repair = RepairWarn
	}
	if t.wide > 0 {
		how := "the loading code leaves them out with a warning"
		if c.Repair == RepairLines {
			how = "the loading code leaves these lines out"
		}
		c.problem("%s more fields than the %d columns%s; %s: ask how to treat them", hasHave(t.wide), t.width, lineList(t.wideAt, t.wide), how)
	}
	if t.runaway > 0 {
		how := "it cannot be loaded safely"
		switch c.Repair {
		case RepairLines:
			how = "the loading code leaves these lines out"
		case RepairNoQuote:
			how = "the loading code keeps all quotes as ordinary characters"
		}
		c.problem("%s a quote that is opened and not closed%s; %s: ask how to treat it", hasHave(t.runaway), lineList(t.runAt, t.runaway), how)
	}
	if t.narrow > 0 {
		c.problem("%s fewer fields than the %d columns%s; the last columns are missing there", hasHave(t.narrow), t.count, lineList(t.narrowAt, t.narrow))
	}
	if c.Repair == RepairLines {
		c.BadLines = lines
	} else {
		c.BadLines = append(lines, t.narrowAt...)
		c.BadLines = c.BadLines[:min(len(c.BadLines), MaxBadLines)]
	}
	switch strings.ToLower(strings.Trim(clipBytes(t.last, 40), " :.*")) {
	case "total", "totals", "grand total", "sum", "summe", "gesamt", "gesamtsumme", "insgesamt", "somme", "totale", "suma", "итого", "合计", "合計":
		if t.read > 2 {
			c.problem("the last row is a total (%s); leave it out of sums", shown(string(t.last), 40))
		}
	}
	c.notes()
}

// notes are the problems that follow from the columns.
func (c *Card) notes() {
	var ids, empty []string
	for _, col := range c.Columns {
		switch col.Type {
		case ID:
			ids = append(ids, shown(col.Name, 40))
		case Nothing:
			empty = append(empty, shown(col.Name, 40))
		}
	}
	if len(ids) > 0 {
		c.problem("kept as text because of leading zeros, length or a plus sign: %s", some(ids))
	}
	if len(empty) > 0 && c.Rows > 0 {
		c.problem("no values in: %s", some(empty))
	}
	if c.Rows == 0 {
		c.problem("there are column names but no rows")
	}
	if c.ColumnCount > len(c.Columns) {
		c.problem("%d columns; only the first %d were looked at", c.ColumnCount, len(c.Columns))
	}
}

func some(names []string) string {
	if len(names) > 5 {
		return strings.Join(names[:5], ", ") + fmt.Sprintf(" and %d more", len(names)-5)
	}
	return strings.Join(names, ", ")
}

func hasHave(n int64) string {
	if n == 1 {
		return "1 row has"
	}
	return fmt.Sprintf("%d rows have", n)
}

func lineList(at []int64, n int64) string {
	if len(at) == 0 {
		return ""
	}
	var p []string
	for _, l := range at[:min(len(at), 8)] {
		p = append(p, fmt.Sprint(l))
	}
	more := ""
	if n > int64(len(p)) {
		more = ", ..."
	}
	noun := "line"
	if n > 1 {
		noun = "lines"
	}
	return " (" + noun + " " + strings.Join(p, ", ") + more + ")"
}
