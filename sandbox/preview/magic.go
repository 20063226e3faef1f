package preview

import (
	"archive/zip"
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
)

// magic recognises the kinds that say what they are in their first bytes.
func (c *Card) magic(ctx context.Context, s source, head []byte, ext string) (done bool, err error) {
	starts := func(sig string) bool { return bytes.HasPrefix(head, []byte(sig)) }
	c.RowsExact = true
	switch {
	case starts("PK\x03\x04"), starts("PK\x05\x06"):
		if err := c.archive(ctx, s); err != nil {
			return true, err
		}
	case starts("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
		c.compound(s, ext)
	case starts("SQLite format 3\x00"):
		c.sqlite(s, head)
	case starts("PAR1"):
		if err := c.parquet(s); err != nil {
			return true, err
		}
	case starts("ARROW1\x00\x00"):
		if err := c.arrow(s); err != nil {
			return true, err
		}
	case starts("\xff\xff\xff\xff") && (ext == ".arrow" || ext == ".arrows" || ext == ".ipc"):
		if err := c.arrowStream(s); err != nil {
			return true, err
		}
	case starts("FEA1"):
		c.Kind = Binary
		c.problem("this is the first version of Feather, which no library reads any more; write it anew as Parquet")
	case starts("%PDF-"):
		if err := c.pdf(ctx, s, head); err != nil {
			return true, err
		}
	case starts("\x1f\x8b\x08"):
		c.packed(ctx, s, gunzip, "gzip")
	case isTar(head):
		c.tar(ctx, io.NewSectionReader(s.r, 0, s.size), s.size)
	case starts("BZh") && len(head) > 10 && string(head[4:10]) == "1AY&SY":
		c.packed(ctx, s, bunzip, "bzip2")
	case c.picture(s, head):
	default:
		c.RowsExact = false
		return false, nil
	}
	if claims := ext == ".csv" || ext == ".tsv" || ext == ".txt" || ext == ".json" || ext == ".jsonl"; claims {
		c.problem("the name ends in %s, but the content is %s", ext, c.Kind)
	}
	return true, nil
}

func version(b []byte) string {
	n := 0
	for n < len(b) && n < 5 && (b[n] >= '0' && b[n] <= '9' || b[n] == '.') {
		n++
	}
	return string(b[:n])
}

// compound is for the old container of Office, which also wraps encrypted new
// files.
func (c *Card) compound(s source, ext string) {
	wide := func(s string) []byte {
		var b []byte
		for i := range len(s) {
			b = append(b, s[i], 0)
		}
		return b
	}
	head, err := s.at(0, 1<<20)
	end, err2 := s.at(max(0, s.size-1<<20), 1<<20)
	has := func(name string) bool {
		return err == nil && err2 == nil && (bytes.Contains(head, wide(name)) || bytes.Contains(end, wide(name)))
	}
	switch {
	case has("EncryptedPackage"):
		c.Kind = Excel
		if ext != ".xlsx" && ext != ".xlsm" && ext != ".xlsb" {
			c.Kind = Binary
		}
		c.problem("the file is encrypted with a password; remove the password in its program, save and attach it again")
	case has("Workbook") || has("Book") || ext == ".xls":
		c.Kind = Excel
		c.problem("this is the old Excel format (.xls), which has no preview; save it as .xlsx and attach it again")
	default:
		c.Kind = Binary
		c.problem("this is an old Office document; save it in the new format (.docx, .xlsx, .pptx) and attach it again")
	}
}

// archive makes the card of a ZIP file, or of the Office file that it is.
func (c *Card) archive(ctx context.Context, s source) error {
	c.Kind = ZIP
	z, err := zip.NewReader(s.r, s.size)
	if err != nil {
		c.problem("the ZIP archive is damaged or its end is missing")
		return nil
	}
	has := func(name string) bool {
		return slices.ContainsFunc(z.File, func(f *zip.File) bool { return strings.EqualFold(f.Name, name) })
	}
	switch {
	case has("xl/workbook.xml"):
		return c.excel(ctx, s, z)
	case has("xl/workbook.bin"):
		c.Kind = Excel
		c.problem("this is a binary workbook (.xlsb), which has no preview; save it as .xlsx and attach it again")
		return nil
	case has("word/document.xml"):
		c.Detail = append(c.Detail, "Word document (.docx)")
	case has("ppt/presentation.xml"):
		c.Detail = append(c.Detail, "presentation (.pptx)")
	}
	var total, packed uint64
	var l listing
	for _, f := range z.File {
		total += f.UncompressedSize64
		packed += f.CompressedSize64
		c.outside(f.Name, "zipfile.extractall")
		if f.Flags&1 != 0 {
			c.warn("some entries are encrypted with a password")
		}
		if strings.HasSuffix(f.Name, "/") {
			l.folders++
			continue
		}
		l.add(f.Name, int64(min(f.UncompressedSize64, 1<<40)))
	}
	c.Rows = l.files
	c.show(&l)
	if total > 1<<30 && total/1000 > packed {
		c.warn("the archive unpacks to %s, far more than its size; it may be made to fill the disk", sizeText(int64(min(total, 1<<62))))
	}
	return nil
}
