package preview

import (
	"fmt"
	"strings"
)

// Summary is one line for people, without anything of the file's content.
func (c Card) Summary() string {
	var p []string
	switch c.Kind {
	case CSV, TSV:
		p = append(p, strings.ToUpper(string(c.Kind)), c.rowsText("row"), count(int64(c.ColumnCount), "column"))
		if c.Compression != "" {
			p = append(p, "packed with "+c.Compression)
		}
		p = append(p, c.Encoding, "separator "+delimiterName(c.Delimiter))
	case Empty:
		p = append(p, "empty file")
	case Unread:
		p = append(p, "not read")
	case Excel:
		p = append(p, "Excel", count(int64(len(c.Sheets)), "sheet"))
		if len(c.Columns) > 0 {
			p = append(p, c.rowsText("row"), count(int64(c.ColumnCount), "column"))
		}
	case Text:
		p = append(p, "text", c.rowsText("line"), c.Encoding)
	case ZIP:
		p = append(p, "ZIP", c.rowsText("entry"))
	default:
		p = append(p, kindName(c.Kind))
		if c.Rows > 0 {
			p = append(p, c.rowsText(c.noun()))
		}
		if c.ColumnCount > 0 {
			p = append(p, count(int64(c.ColumnCount), "column"))
		}
	}
	p = append(p, sizeText(c.Size))
	if n := len(c.Problems); n > 0 {
		p = append(p, fmt.Sprintf("%d to check", n))
	}
	if len(c.Warnings) > 0 {
		p = append(p, "warning")
	}
	return strings.Join(p, ", ")
}

// noun is what Rows counts.
func (c Card) noun() string {
	switch c.Kind {
	case Parquet, Arrow, Fixed, HTML:
		return "row"
	case PDF:
		return "page"
	case TAR:
		return "entry"
	case Folder:
		return "file"
	case Notebook:
		return "cell"
	}
	return "record"
}

func (c Card) rowsText(noun string) string {
	about := ""
	if !c.RowsExact {
		about = "about "
	}
	return about + count(c.Rows, noun)
}

func kindName(k Kind) string {
	switch k {
	case JSON, JSONL, PDF:
		return strings.ToUpper(string(k))
	case SQLite:
		return "SQLite database"
	case Parquet:
		return "Parquet"
	case Arrow:
		return "Arrow"
	case HTML, XML, TAR:
		return strings.ToUpper(string(k))
	case Fixed:
		return "table of fixed width"
	case Image:
		return "picture"
	case GZip:
		return "gzip"
	}
	return string(k)
}

func delimiterName(d string) string {
	switch d {
	case "\t":
		return "tab"
	case "":
		return "none"
	case ",":
		return "comma"
	case ";":
		return "semicolon"
	case "|":
		return "bar"
	}
	return d
}

func sizeText(n int64) string {
	f := float64(n)
	for _, u := range []string{"bytes", "kB", "MB", "GB"} {
		if f < 1000 {
			if u == "bytes" {
				return fmt.Sprintf("%d bytes", n)
			}
			return fmt.Sprintf("%.1f %s", f, u)
		}
		f /= 1000
	}
	return fmt.Sprintf("%.1f TB", f)
}
