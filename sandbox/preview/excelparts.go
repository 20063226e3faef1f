package preview

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"io"
	"path"
	"regexp"
	"strconv"
	"strings"
)

const (
	maxMerged = 200
	partIndex = 4 << 20  // bytes of the list of sheets
	partScan  = 16 << 20 // bytes of all sheets that are scanned for merged cells and formulas
)

var (
	mergeCell = regexp.MustCompile(`<mergeCell ref="[A-Z]{1,3}[0-9]{1,7}:[A-Z]{1,3}([0-9]{1,7})"`)
	valueless = regexp.MustCompile(`(?:</f>|<f[^<>]{0,500}/>)\s*(?:<v/>|<v></v>)?\s*</c>`)
	rowNumber = regexp.MustCompile(`^<row [^<>]{0,200}?\br="([0-9]{1,7})"`)
)

// sheetParts is the part of the archive that holds each sheet, by its name.
func sheetParts(z *zip.Reader) map[string]*zip.File {
	files := map[string]*zip.File{}
	for _, f := range z.File {
		files[strings.ToLower(f.Name)] = f
	}
	read := func(name string, into any) bool {
		f := files[name]
		if f == nil {
			return false
		}
		r, err := f.Open()
		if err != nil {
			return false
		}
		defer r.Close()
		return xml.NewDecoder(io.LimitReader(r, partIndex)).Decode(into) == nil
	}
	var book struct {
		Sheets []struct {
			Name string `xml:"name,attr"`
			ID   string `xml:"http://schemas.openxmlformats.org/officeDocument/2006/relationships id,attr"`
		} `xml:"sheets>sheet"`
	}
	var rels struct {
		Relationship []struct {
			ID     string `xml:"Id,attr"`
			Target string `xml:"Target,attr"`
		}
	}
	out := map[string]*zip.File{}
	if !read("xl/workbook.xml", &book) || !read("xl/_rels/workbook.xml.rels", &rels) {
		return out
	}
	target := map[string]string{}
	for _, r := range rels.Relationship {
		p := strings.TrimPrefix(r.Target, "/")
		if !strings.HasPrefix(r.Target, "/") {
			p = path.Join("xl", r.Target)
		}
		target[r.ID] = strings.ToLower(p)
	}
	for _, s := range book.Sheets[:min(len(book.Sheets), maxParts)] {
		if f := files[target[s.ID]]; f != nil {
			out[s.Name] = f
		}
	}
	return out
}

// scan counts what a person sees in a sheet and a program does not. It returns
// the number of the last row, an estimate unless exact, or 0.
func (s *Sheet) scan(f *zip.File, left *int64) (last int64, exact bool) {
	if f == nil || *left <= 0 {
		return 0, false
	}
	r, err := f.Open()
	if err != nil {
		return 0, false
	}
	defer r.Close()
	const chunk, overlap = 1 << 20, 2 << 10
	buf := make([]byte, 0, chunk+overlap)
	scanned := int64(0)
	for *left > 0 {
		n, err := io.ReadFull(r, buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		*left -= int64(n)
		scanned += int64(n)
		end := len(buf)
		if err == nil { // what a border may cut is counted with the next part
			if i := max(bytes.LastIndex(buf, []byte("<c ")), bytes.LastIndex(buf, []byte("<mergeCell "))); i > len(buf)-overlap && i > 0 {
				end = i
			}
		}
		b := buf[:end]
		if i := bytes.LastIndex(b, []byte("<row ")); i >= 0 {
			if m := rowNumber.FindSubmatch(b[i:]); m != nil {
				last, _ = strconv.ParseInt(string(m[1]), 10, 64) // at most seven digits
			}
		}
		for _, m := range mergeCell.FindAllSubmatch(b, maxMerged-len(s.Merged)) {
			if n, err := strconv.Atoi(string(m[1])); err == nil {
				s.Merged = append(s.Merged, n)
			}
		}
		if n := bytes.Count(b, []byte("<f>")) + bytes.Count(b, []byte("<f ")) + bytes.Count(b, []byte("<f/>")); n > 0 {
			s.Formulas += n
			s.NoValue += len(valueless.FindAllIndex(b, -1))
		}
		buf = buf[:copy(buf[:cap(buf)], buf[end:])]
		if err != nil {
			return last, err == io.EOF || err == io.ErrUnexpectedEOF
		}
	}
	return int64(float64(last) / float64(scanned) * float64(min(f.UncompressedSize64, excelUnzipped))), false
}

// sheetNotes says what the counts mean for a program.
func (c *Card) sheetNotes(s Sheet) {
	merged := 0
	for _, last := range s.Merged {
		if last >= c.HeaderRow { // above it a range is a title's
			merged++
		}
	}
	if merged > 0 {
		c.problem("%s in the sheet: only the first cell of each has the value, the others are missing (use ffill() where it belongs to all)", count(int64(merged), "merged range"))
	}
	if s.Formulas > 0 {
		c.Detail = append(c.Detail, countOf(int64(s.Formulas), "cell has a formula", "cells have formulas")+"; their stored results are read")
	}
	if s.NoValue > 0 {
		c.problem("%s no stored result and are read as missing; open the workbook in its program, save and attach it again", countOf(int64(s.NoValue), "formula has", "formulas have"))
	}
}
