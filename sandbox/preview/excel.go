package preview

import (
	"archive/zip"
	"context"
	"fmt"
	"hash/maphash"
	"io"
	"regexp"
	"strings"

	"github.com/xuri/excelize/v2"
)

const (
	excelUnzipped = 120 << 20 // bytes of all parts of a workbook, unpacked
	excelParts    = 5000
	excelRows     = 300     // rows that are looked at
	excelWhole    = 200_000 // the same in a whole pass
	excelCells    = 2_000_000
	excelColumns  = 200
)

// excel makes the card of a workbook: its sheets, and the columns of the first
// sheet that has a table.
func (c *Card) excel(ctx context.Context, s source, z *zip.Reader) error {
	c.Kind = Excel
	var total uint64
	for _, f := range z.File {
		total += f.UncompressedSize64
		if f.UncompressedSize64 > excelUnzipped || total > excelUnzipped || len(z.File) > excelParts {
			c.problem("the workbook unpacks to more than %s; there is no preview of its content", sizeText(excelUnzipped))
			if total > 1000*uint64(s.size) {
				c.warn("the workbook unpacks to far more than its size; it may be made to fill the memory")
			}
			return nil
		}
		if strings.EqualFold(f.Name, "xl/vbaProject.bin") {
			c.warn("the workbook has macros; they are never run here")
		}
	}
	f, err := excelize.OpenReader(io.NewSectionReader(s.r, 0, s.size), excelize.Options{
		UnzipSizeLimit: excelUnzipped, UnzipXMLSizeLimit: excelUnzipped,
	})
	if err != nil {
		c.problem("the workbook is damaged or encrypted, it cannot be read")
		return nil
	}
	defer f.Close()
	parts, left := sheetParts(z), int64(partScan)
	c.Sheet = -1
	for i, name := range f.GetSheetList() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if i == maxParts {
			c.problem("there are more than %d sheets", maxParts)
			break
		}
		rows, more := sheetRows(f, name, c.sheetLimit())
		sheet := Sheet{Name: name, Rows: int64(len(rows))}
		if visible, err := f.GetSheetVisible(name); err == nil {
			sheet.Hidden = !visible
		}
		last, exact := sheet.scan(parts[name], &left)
		for _, r := range rows {
			sheet.Columns = max(sheet.Columns, r.n)
		}
		if more {
			if last == 0 {
				last = dimension(parts[name]) // the writer's own claim
			}
			sheet.Rows = max(sheet.Rows, last)
		}
		c.Sheets = append(c.Sheets, sheet)
		if c.Sheet < 0 && len(rows) > 0 && sheet.Columns > 0 {
			c.Sheet = i
			c.RowsExact, c.Sampled = !more || exact && last > 0, more
			if more {
				c.problem("types and ranges come from the first %d rows; check them after loading", len(rows))
			}
			c.sheet(f, name, rows, sheet)
			c.sheetNotes(sheet)
		}
	}
	if c.Sheet < 0 && len(c.Sheets) > 0 {
		c.Sheet = 0
		c.problem("the workbook has no values")
	}
	return nil
}

// sheetLimit is how many rows of the next sheet are looked at: of those that
// the card is not about, a few.
func (c *Card) sheetLimit() int {
	switch {
	case c.pass.whole:
		return excelWhole
	case c.Sheet < 0:
		return excelRows
	}
	return 20
}

// sheetRows reads the first rows as they are shown.
func sheetRows(f *excelize.File, name string, limit int) (rows []row, more bool) {
	it, err := f.Rows(name)
	if err != nil {
		return nil, false
	}
	defer it.Close()
	cells := 0
	for it.Next() {
		if len(rows) == limit || cells > excelCells {
			return rows, true
		}
		values, err := it.Columns()
		if err != nil {
			break
		}
		cells += len(values)
		r := row{n: len(values), line: int64(len(rows) + 1), blank: len(values) == 0}
		for _, v := range values[:min(len(values), excelColumns)] {
			r.fields = append(r.fields, clip(strings.ToValidUTF8(v, "\uFFFD"), maxName))
		}
		rows = append(rows, r)
	}
	return rows, false
}

var dimensionRef = regexp.MustCompile(`<(?:\w+:)?dimension ref="[A-Z]+[0-9]+:[A-Z]+([0-9]{1,7})"`)

// dimension is the last row that a sheet claims to have in its first bytes.
func dimension(f *zip.File) (last int64) {
	if f == nil {
		return 0
	}
	r, err := f.Open()
	if err != nil {
		return 0
	}
	defer r.Close()
	b, _ := io.ReadAll(io.LimitReader(r, 4<<10))
	if m := dimensionRef.FindSubmatch(b); m != nil {
		if _, err := fmt.Sscan(string(m[1]), &last); err != nil {
			return 0
		}
	}
	return last
}

// sheet fills the columns from the rows of one sheet.
func (c *Card) sheet(f *excelize.File, name string, rows []row, sheet Sheet) {
	width := min(sheet.Columns, excelColumns)
	for i := range rows {
		// Rows end at their last value; a table has equal rows.
		for len(rows[i].fields) < width && !rows[i].blank {
			rows[i].fields = append(rows[i].fields, "")
		}
		if !rows[i].blank {
			rows[i].n = width
		}
	}
	first := c.header(rows, width)
	c.ColumnCount = sheet.Columns
	c.Rows = max(0, sheet.Rows-int64(first))
	raw := rawRows(f, name, len(rows))
	seed, all := maphash.MakeSeed(), layouts()
	left := suspectBytes
	for i := range c.Columns {
		k := newCollector(seed, all, 1000, c.pass)
		dates, numbers := int64(0), int64(0)
		for j, r := range rows {
			if j < first || i >= len(r.fields) {
				continue
			}
			shown := r.fields[i]
			if j < len(raw) && i < len(raw[j]) && raw[j][i] != shown {
				// A number with a format: 45292 is shown as a date, 0.1 as 10 %.
				if valueLike(shown) && dateLike([]byte(shown)) {
					dates++
				} else if _, ok := parseNumeral([]byte(raw[j][i])); ok {
					numbers++
					shown = raw[j][i]
				}
			}
			k.add([]byte(shown), int64(j+1))
		}
		col := &c.Columns[i]
		k.facts(col)
		switch {
		case k.n == 0 && k.soft == 0:
			col.Type = Nothing
		case dates > 0 && dates >= k.n:
			col.Type = DateTime
		case k.dotOK == k.n && k.zeros == 0 && k.soft == 0 && k.units == 0 && k.decDot == 0 && k.whole == k.n:
			col.Type, col.Min, col.Max, col.Mean = Integer, number(k.min[0]), number(k.max[0]), k.mean(0)
		case k.dotOK == k.n && k.zeros == 0 && k.soft == 0 && k.units == 0:
			col.Type, col.Min, col.Max, col.Mean = Number, number(k.min[0]), number(k.max[0]), k.mean(0)
		case k.bools == k.n:
			col.Type = Boolean
		case k.n > 0 && k.whole == k.n && k.zeros+k.long > 0:
			col.Type = ID
		default:
			col.Type = String
			col.Plain = k.n > 0 && k.digitish == k.n
			c.mixed(col, k, 0)
		}
		c.warnFormulas(col, k)
	}
	for j, r := range rows {
		if j < first || r.blank {
			continue
		}
		if len(c.Sample) < 3 {
			c.Sample = append(c.Sample, r.fields)
		}
		var fields [][]byte
		for _, v := range r.fields {
			fields = append(fields, []byte(v))
		}
		c.suspect(fields, int64(j+1), &left)
	}
}

// rawRows is the first n rows as they are stored.
func rawRows(f *excelize.File, name string, n int) (out [][]string) {
	it, err := f.Rows(name)
	if err != nil {
		return nil
	}
	defer it.Close()
	for len(out) < n && it.Next() {
		cells, err := it.Columns(excelize.Options{RawCellValue: true})
		if err != nil {
			break
		}
		out = append(out, cells)
	}
	return out
}
