package preview

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"image"
	_ "image/gif"  // size of pictures
	_ "image/jpeg" // size of pictures
	_ "image/png"  // size of pictures
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
		c.Kind = Parquet
		if end, err := s.at(max(0, s.size-4), 4); err != nil || string(end) != "PAR1" {
			c.problem("the end of the file is missing; it cannot be read as Parquet")
		}
	case starts("%PDF-"):
		c.Kind = PDF
		c.Detail = append(c.Detail, "PDF "+shown(version(head[5:]), 8))
	case starts("\x1f\x8b\x08"):
		c.gzip(s)
	case starts("\x89PNG\r\n\x1a\n"), starts("\xff\xd8\xff"), starts("GIF87a"), starts("GIF89a"):
		c.Kind = Image
		conf, format, err := image.DecodeConfig(io.NewSectionReader(s.r, 0, min(s.size, 4<<20)))
		if err != nil {
			c.problem("the picture is damaged")
			break
		}
		c.Detail = append(c.Detail, fmt.Sprintf("%s picture, %d x %d pixels", strings.ToUpper(format), conf.Width, conf.Height))
	case starts("RIFF") && len(head) > 12 && string(head[8:12]) == "WEBP":
		c.Kind = Image
		c.Detail = append(c.Detail, "WebP picture")
	case starts("II*\x00"), starts("MM\x00*"):
		c.Kind = Image
		c.Detail = append(c.Detail, "TIFF picture")
	case starts("BM") && len(head) > 26 && bytes.IndexByte(head[:26], 0) > 0:
		c.Kind = Image
		c.Detail = append(c.Detail, "BMP picture")
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

const zipEntries = 20 // listed in a card

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
	c.Rows = int64(len(z.File))
	var total, packed uint64
	for i, f := range z.File {
		total += f.UncompressedSize64
		packed += f.CompressedSize64
		if i < zipEntries {
			c.Detail = append(c.Detail, fmt.Sprintf("entry %s, %s", shown(f.Name, 100), sizeText(int64(min(f.UncompressedSize64, 1<<62)))))
		}
		if strings.Contains(f.Name, "..") || strings.HasPrefix(f.Name, "/") || strings.Contains(f.Name, `\`) {
			c.warn("the archive has entries that point outside of it; unpack it only with zipfile.extractall")
		}
		if f.Flags&1 != 0 {
			c.warn("some entries are encrypted with a password")
		}
	}
	if more := len(z.File) - zipEntries; more > 0 {
		c.Detail = append(c.Detail, fmt.Sprintf("and %d more entries", more))
	}
	if total > 1<<30 && total/1000 > packed {
		c.warn("the archive unpacks to %s, far more than its size; it may be made to fill the disk", sizeText(int64(min(total, 1<<62))))
	}
	return nil
}

// gzip shows the first lines of what is inside.
func (c *Card) gzip(s source) {
	c.Kind = GZip
	z, err := gzip.NewReader(io.NewSectionReader(s.r, 0, s.size))
	if err != nil {
		c.problem("the gzip file is damaged")
		return
	}
	b, err := io.ReadAll(io.LimitReader(z, 64<<10))
	if err != nil && len(b) == 0 {
		c.problem("the gzip file is damaged")
		return
	}
	var t tally
	t.add(b, len(b) < 64<<10)
	cs := t.charset()
	if cs.name == "" {
		c.Detail = append(c.Detail, "what is inside is not text")
		return
	}
	c.charset(cs)
	text, _ := cs.decode(b)
	for i, l := range bytes.SplitN(text, []byte{'\n'}, 6) {
		if i < 5 && len(l) > 0 {
			c.Detail = append(c.Detail, fmt.Sprintf("line %d inside: %s", i+1, shown(string(bytes.TrimRight(l, "\r")), 160)))
		}
	}
}
