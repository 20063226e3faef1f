// Package preview reads a hostile file and makes a card of it: the few facts
// that a person and a small model need before any program opens the file.
//
// The reading is bounded in time and memory, never trusts what the file says
// about itself, and is meant to run in a child under a narrow policy ([Of]).
package preview

import (
	"fmt"
)

// A Kind names what a file is, by its content.
type Kind string

// The kinds of files.
const (
	CSV      Kind = "csv"
	TSV      Kind = "tsv"
	Excel    Kind = "excel"
	JSON     Kind = "json"
	JSONL    Kind = "jsonl"
	Parquet  Kind = "parquet"
	Arrow    Kind = "arrow" // also Feather
	SQLite   Kind = "sqlite"
	Text     Kind = "text"
	Fixed    Kind = "fixed" // a table whose columns have a fixed width
	HTML     Kind = "html"
	XML      Kind = "xml"
	Notebook Kind = "notebook"
	Image    Kind = "image"
	PDF      Kind = "pdf"
	ZIP      Kind = "zip"
	TAR      Kind = "tar"
	Folder   Kind = "folder"
	GZip     Kind = "gzip"
	Binary   Kind = "binary"
	Empty    Kind = "empty"
	Unread   Kind = "unread" // the file could not be read; Problems says why
)

// A Type is what the values of a column are once they are loaded.
type Type string

// The types of columns.
const (
	Integer  Type = "integer"
	Number   Type = "number"
	Date     Type = "date"
	DateTime Type = "datetime"
	Boolean  Type = "boolean"
	String   Type = "text"
	List     Type = "list"  // lists or objects inside one value
	Nothing  Type = "empty" // no value at all
	Bytes    Type = "bytes"
	Duration Type = "duration"
	ID       Type = "id" // digits that are a name, not a quantity: leading zeros, very long, phone numbers
)

// A Card describes one file. Its texts come from the file; only [Card.Prompt]
// and [Card.Summary] make them safe to show.
type Card struct {
	Name        string     `json:"name"` // as the code must open it
	Size        int64      `json:"size"` // bytes
	Kind        Kind       `json:"kind"`
	Encoding    string     `json:"encoding,omitempty"`    // Python's name of the codec
	EncodingWas string     `json:"encodingBy,omitempty"`  // how it was found: "bom", "utf-8", "guess", "chosen"
	Compression string     `json:"compression,omitempty"` // of a table in a compressed file: "gzip" or "bz2"
	Delimiter   string     `json:"delimiter,omitempty"`
	SkipSpace   bool       `json:"skipSpace,omitempty"` // a space follows every delimiter
	Quote       string     `json:"quote,omitempty"`     // empty: quotes have no meaning
	Decimal     string     `json:"decimal,omitempty"`   // mark of most number columns, "." or ","
	Thousands   string     `json:"thousands,omitempty"`
	HeaderRow   int        `json:"headerRow"`          // line of the column names, from 1; 0: none
	SkipRows    int        `json:"skipRows,omitempty"` // lines above the header, or above the data without one
	Rows        int64      `json:"rows"`               // data rows, lines or records
	RowsExact   bool       `json:"rowsExact"`
	ColumnCount int        `json:"columnCount,omitempty"` // all of them; Columns holds at most MaxColumns
	Columns     []Column   `json:"columns,omitempty"`
	Sampled     bool       `json:"sampled,omitempty"` // column facts come from parts of the file
	Sample      [][]string `json:"sample,omitempty"`  // first three data rows
	Sheets      []Sheet    `json:"sheets,omitempty"`
	Sheet       int        `json:"sheet,omitempty"`  // index in Sheets of the one that Columns is about
	Key         string     `json:"key,omitempty"`    // key of the list of records in a JSON object
	Table       string     `json:"table,omitempty"`  // first table of a database
	Tables      []string   `json:"tables,omitempty"` // tables of a database, at most maxParts
	Detail      []string   `json:"detail,omitempty"` // other facts, a line each: entries, tables, first lines
	Quotes      []string   `json:"quotes,omitempty"` // lines that quote the content: first lines, titles, cells
	Load        string     `json:"load,omitempty"`   // Python that loads the file right; see WithName
	Problems    []string   `json:"problems,omitempty"`
	Warnings    []string   `json:"warnings,omitempty"`
	Widths      [][2]int   `json:"widths,omitempty"`   // of a table of fixed width: first character and the one behind, from 0
	Ruler       int        `json:"ruler,omitempty"`    // its line of dashes, from 1; 0: none
	Faults      []Fault    `json:"faults,omitempty"`   // the lines of BadLines, each with its fault
	Orders      int64      `json:"orders,omitempty"`   // values that look like instructions to the model
	BadRows     int64      `json:"badRows,omitempty"`  // rows whose number of fields is wrong
	BadLines    []int64    `json:"badLines,omitempty"` // their lines, from 1, the first MaxBadLines

	Repair    Repair   `json:"repair,omitempty"`    // what Load does about bad rows
	Implicit  bool     `json:"implicit,omitempty"`  // rows end with a separator that the header lacks
	Replace   bool     `json:"replace,omitempty"`   // some bytes do not fit the encoding; Load replaces them
	Encodings []string `json:"encodings,omitempty"` // other encodings that fit, when it is a guess

	pass *pass
}

// A Fault is a bad row of a table and what is wrong with it.
type Fault struct {
	Line int64  `json:"line"` // from 1
	Why  string `json:"why"`  // in our words: "5 fields instead of 3"
}

// A Repair is a way to load a table with bad rows. None is silent: what is
// left out is named in Problems and, by Python, as a warning.
type Repair string

// The repairs.
const (
	RepairNone    Repair = ""
	RepairWarn    Repair = "warn"    // rows with too many fields are left out with a warning
	RepairLines   Repair = "lines"   // BadLines are left out
	RepairExtra   Repair = "extra"   // empty fields at the end of some rows are left out
	RepairNoQuote Repair = "noquote" // quotes are read as ordinary characters
)

// A Column is one column of a table.
type Column struct {
	Name        string   `json:"name"` // as it is after loading
	Type        Type     `json:"type"`
	Format      string   `json:"format,omitempty"`   // strptime layout of dates, or "ISO8601"
	Evidence    string   `json:"evidence,omitempty"` // of dates: the order of day and month, and the value that shows it
	Unit        string   `json:"unit,omitempty"`     // sign written with every number: "€", "%"
	Decimal     string   `json:"decimal,omitempty"`
	Thousands   string   `json:"thousands,omitempty"`
	Brackets    bool     `json:"brackets,omitempty"` // negative numbers are written (1.00)
	Plain       bool     `json:"plain,omitempty"`    // text that pandas would take for numbers
	NA          []string `json:"na,omitempty"`       // words for "no value" that pandas does not know
	Missing     int64    `json:"missing"`
	Unique      int      `json:"unique"`                // distinct values seen
	UniqueMin   bool     `json:"uniqueMin,omitempty"`   // there are more than Unique
	UniqueAbout bool     `json:"uniqueAbout,omitempty"` // Unique is an estimate
	Min         string   `json:"min,omitempty"`
	Max         string   `json:"max,omitempty"`
	Mean        string   `json:"mean,omitempty"`     // of all values; only after a whole pass
	Examples    []string `json:"examples,omitempty"` // up to three, as written in the file
}

// A Sheet is one sheet of a workbook.
type Sheet struct {
	Name     string `json:"name"`
	Rows     int64  `json:"rows"`
	Columns  int    `json:"columns"`
	Hidden   bool   `json:"hidden,omitempty"`
	Merged   []int  `json:"merged,omitempty"`   // last row of each merged range, at most maxMerged
	Formulas int    `json:"formulas,omitempty"` // cells with one, among the rows that were looked at
	NoValue  int    `json:"noValue,omitempty"`  // of them: without a stored result
}

// about is what a person who opens the sheet might not see.
func (s Sheet) about() string {
	if s.Hidden {
		return " (hidden)"
	}
	return ""
}

// Bounds of a card.
const (
	MaxColumns  = 500
	MaxBadLines = 20
	maxValue    = 200  // characters kept of one value
	maxName     = 1000 // characters kept of a column name
	maxNotes    = 12   // problems or warnings
	maxParts    = 100  // sheets or tables
)

func (c *Card) problem(format string, a ...any) {
	if len(c.Problems) < maxNotes {
		c.Problems = append(c.Problems, fmt.Sprintf(format, a...))
	}
}

func (c *Card) warn(format string, a ...any) {
	s := fmt.Sprintf(format, a...)
	for _, w := range c.Warnings {
		if w == s {
			return
		}
	}
	if len(c.Warnings) < maxNotes {
		c.Warnings = append(c.Warnings, s)
	}
}
