package preview

import (
	"bytes"
	"context"
	"fmt"
	"strings"
)

// text makes the card of a file that is text of some kind.
func (c *Card) text(ctx context.Context, s source, cs charset, ext string) error {
	switch ext {
	case ".ipynb":
		if done, err := c.notebook(ctx, s, cs); done || err != nil {
			return err
		}
		c.problem("the name ends in .ipynb, but the content is no notebook")
		ext = ".json"
	case ".html", ".htm", ".xhtml":
		return c.html(ctx, s, cs)
	case ".xml":
		if done, err := c.xml(ctx, s, cs); done || err != nil {
			return err
		}
	}
	switch ext {
	case ".json", ".geojson", ".jsonl", ".ndjson", "", ".txt":
		if done, err := c.json(ctx, s, cs, ext); done || err != nil {
			return err
		}
	}
	if ext == ".prn" || ext == ".fwf" {
		if done, err := c.aligned(s, cs); done || err != nil {
			return err
		}
	}
	named := ext == ".csv" || ext == ".tsv" || ext == ".tab"
	if named || ext == ".txt" || ext == ".dat" || ext == ".prn" || ext == "" {
		if done, err := c.table(ctx, s, cs, named); done || err != nil {
			return err
		}
		if done, err := c.aligned(s, cs); done || err != nil {
			return err
		}
	}
	return c.lines(ctx, s, cs)
}

// aligned looks for a table of fixed width in the head of the file.
func (c *Card) aligned(s source, cs charset) (bool, error) {
	head, err := s.at(int64(cs.bom), headBytes)
	if err != nil || cs.wide() {
		return false, err
	}
	more := s.size > int64(len(head)+cs.bom)
	text, _ := cs.decode(cutLine(head, more))
	if !c.fixed(text, more) {
		return false, nil
	}
	if c.RowsExact = !c.Sampled; c.Sampled {
		c.Rows = int64(float64(c.Rows) / float64(len(head)) * float64(s.size))
	}
	return true, nil
}

// lines makes the card of prose, code or a log.
func (c *Card) lines(ctx context.Context, s source, cs charset) error {
	c.Kind = Text
	head, err := s.at(int64(cs.bom), 64<<10)
	if err != nil {
		return err
	}
	text, _ := cs.decode(head)
	at := func(b []byte) string { return string(bytes.TrimRight(b, "\r")) }
	ls := bytes.Split(text, []byte{'\n'})
	if s.size > int64(len(head)+cs.bom) && len(ls) > 1 {
		ls = ls[:len(ls)-1]
	}
	for i, l := range ls {
		if i < 5 && (len(l) > 0 || i < len(ls)-1) {
			c.Quotes = append(c.Quotes, fmt.Sprintf("line %d: %s", i+1, shown(at(l), 160)))
		}
		if len(l) < 10_000 {
			c.suspectText(l, int64(i+1))
		}
	}
	if err := c.countLines(ctx, s, cs); err != nil {
		return err
	}
	var last []byte
	if c.Rows > 5 && !cs.wide() {
		end, err := s.at(max(int64(cs.bom), s.size-16<<10), 16<<10)
		if err != nil {
			return err
		}
		end = bytes.TrimRight(end, "\r\n")
		last, _ = cs.decode(end[bytes.LastIndexByte(end, '\n')+1:])
		c.Quotes = append(c.Quotes, "last line: "+shown(at(last), 160))
	}
	c.log(ls, last)
	return nil
}

// countLines counts exactly up to scanMax and estimates above.
func (c *Card) countLines(ctx context.Context, s source, cs charset) error {
	most := int64(scanMax)
	if c.pass.whole {
		most = s.size
	}
	c.RowsExact = s.size <= most
	var n, read int64
	var last byte
	buf := make([]byte, min(scanChunk, s.size))
	for read < min(s.size, most) {
		if err := ctx.Err(); err != nil {
			return err
		}
		b, err := s.into(buf, read)
		if err != nil {
			return err
		}
		if len(b) == 0 {
			break
		}
		read += int64(len(b))
		c.pass.at(read)
		if cs.wide() {
			b = wideLineEnds(b, cs)
		}
		n += int64(bytes.Count(b, []byte{'\n'}))
		if len(b) > 0 {
			last = b[len(b)-1]
		}
	}
	if n == 0 && read == s.size {
		// Old Macintosh files end lines with \r alone.
		if b, err := s.at(0, scanChunk); err == nil && s.size <= scanChunk {
			n = int64(bytes.Count(b, []byte{'\r'}))
		}
	}
	if last != '\n' && last != '\r' {
		n++
	}
	c.Rows = n
	if !c.RowsExact {
		c.Rows = int64(float64(n) / float64(max(read, 1)) * float64(s.size))
	}
	return nil
}

// wideLineEnds reduces UTF-16 to its low bytes; chunks have an even size.
func wideLineEnds(b []byte, cs charset) []byte {
	d, _ := charset{name: strings.TrimSuffix(cs.name, "-sig")}.decode(b)
	return d
}

// binary is the card of what no other kind fits.
func (c *Card) binary(head []byte, ext string) {
	c.Kind = Binary
	switch ext {
	case ".csv", ".tsv", ".txt", ".json", ".log", ".md":
		c.problem("the name ends in %s, but the content is not text: it has more control characters or NUL bytes than text of any encoding; it cannot be read as a table", ext)
	default:
		c.problem("the content is not text, and of no known kind")
	}
}
