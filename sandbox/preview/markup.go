package preview

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/text/transform"
)

const (
	markupRead   = 8 << 20 // bytes that are looked at
	markupTables = 20
	markupDepth  = 200
)

// utf8Reader is the file's text in UTF-8, at most limit bytes of it.
func utf8Reader(s source, cs charset, limit int64) io.Reader {
	var r io.Reader = io.NewSectionReader(s.r, int64(cs.bom), s.size-int64(cs.bom))
	if cs.name != "utf-8" && cs.name != "utf-8-sig" {
		r = transform.NewReader(r, cs.decoder())
	}
	return io.LimitReader(r, limit)
}

// An htmlTable is one table while it is read.
type htmlTable struct {
	rows, columns int
	names         []string
	named         bool // the first row is made of <th>
}

// html lists the tables of a page.
func (c *Card) html(ctx context.Context, s source, cs charset) error {
	c.Kind = HTML
	z := html.NewTokenizer(utf8Reader(s, cs, markupRead))
	z.SetMaxBuf(1 << 20)
	var tables []*htmlTable
	var open []*htmlTable
	var cell, title strings.Builder
	inCell, inTitle, width, scripts := false, false, 0, 0
	endCell := func() {
		if n := len(open); inCell && n > 0 && open[n-1].rows == 1 && len(open[n-1].names) < MaxColumns {
			open[n-1].names = append(open[n-1].names, strings.Join(strings.Fields(cell.String()), " "))
		}
		cell.Reset()
		inCell = false
	}
	for i := 0; ; i++ {
		if i%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		k := z.Next()
		if k == html.ErrorToken {
			break
		}
		if k == html.TextToken {
			if inCell && cell.Len() < maxName {
				cell.Write(z.Text())
			} else if inTitle && title.Len() < maxName {
				title.Write(z.Text())
			}
			continue
		}
		name, _ := z.TagName()
		start := k == html.StartTagToken
		switch string(name) {
		case "title":
			inTitle = start && title.Len() == 0
		case "script":
			scripts++
		case "table":
			endCell()
			if start && len(open) < markupDepth {
				t := &htmlTable{}
				open = append(open, t)
				if len(tables) < 1000 {
					tables = append(tables, t)
				}
			} else if !start && len(open) > 0 {
				open = open[:len(open)-1]
			}
		case "tr":
			endCell()
			if start && len(open) > 0 {
				open[len(open)-1].rows++
				width = 0
			}
		case "td", "th":
			endCell()
			if start && len(open) > 0 {
				t := open[len(open)-1]
				width++
				t.columns = max(t.columns, width)
				t.named = t.named || t.rows == 1 && name[1] == 'h'
				inCell = true
			}
		}
	}
	c.RowsExact = s.size <= markupRead
	if t := strings.TrimSpace(title.String()); t != "" {
		c.Quotes = append(c.Quotes, "title "+shown(t, 160))
		c.suspectText([]byte(t), 0)
	}
	c.Detail = append(c.Detail, count(int64(len(tables)), "table"))
	c.Sheet = -1
	for i, t := range tables {
		if i < markupTables {
			c.Detail = append(c.Detail, fmt.Sprintf("table %d: %s, %s", i, count(int64(t.rows), "row"), count(int64(t.columns), "column")))
		}
		if c.Sheet >= 0 || t.rows < 2 || t.columns < 2 {
			continue
		}
		c.Sheet, c.ColumnCount, c.Rows = i, t.columns, int64(t.rows)
		if t.named {
			c.Rows--
		}
		for j := range min(t.columns, MaxColumns) {
			n := fmt.Sprint(j)
			if t.named && j < len(t.names) {
				n = clip(strings.ToValidUTF8(t.names[j], "\uFFFD"), maxName)
			}
			c.Columns = append(c.Columns, Column{Name: n})
		}
	}
	c.Sheet = max(0, c.Sheet)
	if s.size > markupRead {
		c.problem("the file is large; only its first %s were looked at", sizeText(markupRead))
	}
	return nil
}

// xml finds the element that repeats: its occurrences are the records.
func (c *Card) xml(ctx context.Context, s source, cs charset) (bool, error) {
	d := xml.NewDecoder(utf8Reader(s, cs, markupRead))
	d.Strict = false
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil } // it is UTF-8 already
	type element struct {
		name   string
		n      int64
		fields []string // of its children and attributes
	}
	var stack []string
	seen := map[string]*element{}
	root, whole := "", false
	for i := 0; ; i++ {
		if i%4096 == 0 && ctx.Err() != nil {
			return false, ctx.Err()
		}
		t, err := d.RawToken()
		if err != nil {
			whole = err == io.EOF && len(stack) == 0
			break
		}
		switch t := t.(type) {
		case xml.StartElement:
			if len(stack) == 0 {
				root = t.Name.Local
			}
			if len(stack) == markupDepth {
				break
			}
			path := strings.Join(stack, "/")
			if p := seen[path]; p != nil && len(p.fields) < MaxColumns && !slices.Contains(p.fields, t.Name.Local) {
				p.fields = append(p.fields, t.Name.Local)
			}
			stack = append(stack, t.Name.Local)
			path += "/" + t.Name.Local
			e := seen[strings.TrimPrefix(path, "/")]
			if e == nil && len(seen) < 2000 {
				e = &element{name: t.Name.Local}
				seen[strings.TrimPrefix(path, "/")] = e
			}
			if e != nil {
				e.n++
				for _, a := range t.Attr {
					if a.Name.Space != "xmlns" && a.Name.Local != "xmlns" && len(e.fields) < MaxColumns && !slices.Contains(e.fields, a.Name.Local) {
						e.fields = append(e.fields, a.Name.Local)
					}
				}
			}
		case xml.EndElement:
			if len(stack) > 0 {
				stack = stack[:len(stack)-1]
			}
		case xml.Directive:
			if bytes.Contains(t, []byte("ENTITY")) {
				c.warn("the XML defines entities; a careless reader may be made to fill the memory or to read other files")
			}
		}
	}
	if root == "" {
		return false, nil
	}
	c.Kind, c.RowsExact = XML, whole
	c.Detail = append(c.Detail, "root element "+shown(root, 80))
	var best *element
	var names []string
	for p, e := range seen {
		if e.n > 1 && len(e.fields) > 1 {
			if best == nil || e.n > best.n || e.n == best.n && e.name < best.name {
				best = e
			}
		}
		_ = p
		names = append(names, e.name)
	}
	if best != nil {
		c.Key, c.Rows, c.ColumnCount = clip(best.name, maxName), best.n, len(best.fields)
		for _, f := range best.fields {
			c.Columns = append(c.Columns, Column{Name: clip(f, maxName)})
		}
		c.Detail = append(c.Detail, fmt.Sprintf("%d elements %s, which are the records", best.n, shown(best.name, 80)))
	} else {
		slices.Sort(names)
		names = slices.Compact(names)
		for i, n := range names {
			names[i] = shown(n, 40)
		}
		c.Detail = append(c.Detail, "elements: "+some(names))
	}
	switch {
	case s.size > markupRead:
		c.problem("the file is large; only its first %s were looked at", sizeText(markupRead))
		if c.Rows > 0 {
			c.Rows = c.Rows * s.size / markupRead
		}
	case !whole:
		c.problem("the XML is damaged: it cannot be read to its end")
	}
	return true, nil
}
