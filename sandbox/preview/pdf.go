package preview

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"
)

const (
	pdfRead     = 32 << 20 // bytes of a PDF that are searched
	pdfUnpacked = 16 << 20 // bytes of its packed objects
	pdfStreams  = 200      // packed objects
)

var (
	pdfPages = regexp.MustCompile(`/Type\s*/Pages\b`)
	pdfPage  = regexp.MustCompile(`/Type\s*/Page\b`)
	pdfCount = regexp.MustCompile(`/Count\s+(\d{1,7})\b`)
	pdfTitle = regexp.MustCompile(`/Title\s*(\((?:[^()\\]|\\.){0,400}\)|<[0-9A-Fa-f\s]{0,800}>)`)
	pdfInfo  = regexp.MustCompile(`/(Producer|Creator|Author|CreationDate)\b`)
	pdfXMP   = regexp.MustCompile(`<dc:title>\s*<rdf:Alt>\s*<rdf:li[^>]{0,100}>([^<]{1,400})<`)
)

// pdf finds the number of pages and the title. The text needs a program that
// knows fonts: load() uses pypdf.
func (c *Card) pdf(ctx context.Context, s source, head []byte) error {
	c.Kind = PDF
	b, err := s.at(0, pdfRead)
	if err != nil {
		return err
	}
	pages, found := int64(0), false
	title := ""
	look := func(b []byte) {
		for _, at := range pdfPages.FindAllIndex(b, 10_000) {
			// The dictionary around it: up to its object's borders.
			from := bytes.LastIndex(b[max(0, at[0]-4096):at[0]], []byte("<<")) + max(0, at[0]-4096)
			to := min(len(b), at[1]+4096)
			if i := bytes.Index(b[at[1]:to], []byte(">>")); i >= 0 {
				to = at[1] + i
			}
			for _, m := range pdfCount.FindAllSubmatch(b[max(0, from):to], 1) {
				if n, err := strconv.ParseInt(string(m[1]), 10, 64); err == nil {
					pages, found = max(pages, n), true
				}
			}
		}
		for _, m := range pdfTitle.FindAllSubmatchIndex(b, 1000) {
			if title != "" {
				break
			}
			// Bookmarks have titles too; the document's stands beside these.
			if near := b[max(0, m[0]-1024):min(len(b), m[1]+1024)]; pdfInfo.Match(near) {
				title = pdfText(b[m[2]:m[3]])
			}
		}
	}
	look(b)
	if err := c.pdfPacked(ctx, b, look); err != nil {
		return err
	}
	if !found {
		pages = int64(len(pdfPage.FindAll(b, 100_000)))
	}
	if m := pdfXMP.FindSubmatch(b); m != nil && title == "" {
		title = clipBytes(m[1], maxValue)
	}
	c.Detail = append(c.Detail, "PDF "+shown(version(head[5:]), 8))
	if pages > 0 {
		about := ""
		if s.size > pdfRead {
			about = "at least "
		}
		c.Rows = pages
		c.Detail = append(c.Detail, about+count(pages, "page"))
	} else {
		c.problem("the number of pages was not found")
	}
	if title = strings.TrimSpace(title); title != "" {
		c.Quotes = append(c.Quotes, "title "+shown(title, 160))
		c.suspectText([]byte(title), 0)
	}
	if bytes.Contains(b, []byte("/Encrypt")) {
		c.problem("the PDF is encrypted; it may need a password")
	}
	if bytes.Contains(b, []byte("/JavaScript")) || bytes.Contains(b, []byte("/Launch")) {
		c.warn("the PDF has programs in it; they are never run here")
	}
	if tail, err := s.at(max(0, s.size-1024), 1024); err != nil || !bytes.Contains(tail, []byte("%%EOF")) {
		c.problem("the end of the PDF is missing; it may be damaged")
	}
	return nil
}

// pdfPacked gives what newer files keep in packed objects to look.
func (c *Card) pdfPacked(ctx context.Context, b []byte, look func([]byte)) error {
	left := int64(pdfUnpacked)
	for range pdfStreams {
		i := bytes.Index(b, []byte("/ObjStm"))
		if i < 0 || left <= 0 {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		b = b[i+len("/ObjStm"):]
		j := bytes.Index(b[:min(len(b), 1024)], []byte("stream"))
		if j < 0 {
			continue
		}
		data := bytes.TrimLeft(b[j+len("stream"):], "\r\n")
		z, err := zlib.NewReader(bytes.NewReader(data))
		if err != nil {
			continue
		}
		text, _ := io.ReadAll(io.LimitReader(z, min(left, 2<<20))) // what is before a fault counts too
		left -= int64(len(text))
		look(text)
	}
	return nil
}

// pdfText is a string of a PDF: in brackets, or hexadecimal; in UTF-16 with a
// mark, or in what is nearly Latin-1.
func pdfText(b []byte) string {
	var raw []byte
	if b[0] == '<' {
		h := bytes.Join(bytes.Fields(b[1:len(b)-1]), nil)
		raw = make([]byte, hex.DecodedLen(len(h)))
		n, _ := hex.Decode(raw, h)
		raw = raw[:n]
	} else {
		for b = b[1 : len(b)-1]; len(b) > 0; b = b[1:] {
			if b[0] != '\\' || len(b) == 1 {
				raw = append(raw, b[0])
				continue
			}
			b = b[1:]
			switch b[0] {
			case 'n', 'r', 't':
				raw = append(raw, ' ')
			case '0', '1', '2', '3', '4', '5', '6', '7':
				n := 1
				for n < 3 && n < len(b) && b[n] >= '0' && b[n] <= '7' {
					n++
				}
				v, _ := strconv.ParseUint(string(b[:n]), 8, 16)
				raw = append(raw, byte(v))
				b = b[n-1:]
			default:
				raw = append(raw, b[0])
			}
		}
	}
	if bytes.HasPrefix(raw, []byte{0xfe, 0xff}) {
		var u []uint16
		for i := 2; i+1 < len(raw); i += 2 {
			u = append(u, uint16(raw[i])<<8|uint16(raw[i+1]))
		}
		return clip(string(utf16.Decode(u)), maxValue)
	}
	var s strings.Builder
	for _, c := range raw {
		fmt.Fprintf(&s, "%c", rune(c))
	}
	return clip(s.String(), maxValue)
}
