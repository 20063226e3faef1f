package preview

import (
	"encoding/json"
	"fmt"
	"strings"
)

// A Plan is how to load a file, as data: what [Card.Load] says as code. The
// function load() of the Python kernel follows it.
type Plan struct {
	Name     string         `json:"name"` // as in the card
	Size     int64          `json:"size"` // bytes; a file that has another size by now is not what the plan is for
	Kind     Kind           `json:"kind"`
	Encoding string         `json:"encoding,omitempty"`
	Unpack   string         `json:"unpack,omitempty"`  // module that unpacks the file before lines are left out
	Replace  bool           `json:"replace,omitempty"` // bytes that do not fit the encoding are replaced
	Read     map[string]any `json:"read,omitempty"`    // arguments of the pandas reader
	Drop     []int64        `json:"drop,omitempty"`    // lines that are left out, from 1
	Clean    []Cleaning     `json:"clean,omitempty"`   // columns of text that become numbers
	Dates    []string       `json:"dates,omitempty"`   // columns that must be dates in the end
	Numbers  []string       `json:"numbers,omitempty"` // columns that must be numbers in the end
	Key      string         `json:"key,omitempty"`     // of the list of records in a JSON object
	Records  bool           `json:"records,omitempty"` // JSON that becomes a table
	Parts    []string       `json:"parts,omitempty"`   // sheets of a workbook, tables of a database
	Part     string         `json:"part,omitempty"`    // the one that the card describes
	Index    int            `json:"index,omitempty"`   // of the table of a page that the card describes
	Said     []string       `json:"said,omitempty"`    // what differs from the plain reading, a phrase each
}

// A Cleaning is how one column of text becomes numbers.
type Cleaning struct {
	Name     string `json:"name"`
	Decimal  string `json:"decimal"` // "." or ","
	Brackets bool   `json:"brackets,omitempty"`
}

// Plan is how to load the file.
func (c Card) Plan() Plan {
	p := Plan{Name: c.Name, Size: c.Size, Kind: c.Kind, Encoding: c.Encoding, Replace: c.Replace, Key: c.Key}
	switch c.Kind {
	case CSV, TSV:
		c.planTable(&p)
	case Excel:
		p.read(c.excelArgs())
		delete(p.Read, "sheet_name")
		for _, s := range c.Sheets {
			p.Parts = append(p.Parts, s.Name)
		}
		if c.Sheet >= 0 && c.Sheet < len(c.Sheets) {
			p.Part = c.Sheets[c.Sheet].Name
		}
		p.say(c.SkipRows > 0, "%s above the column names skipped", count(int64(c.SkipRows), "row"))
	case JSON, JSONL:
		p.Records = len(c.Columns) > 0
		p.say(c.Kind == JSON && c.Key != "", "the records under %s", literal(c.Key))
	case Fixed:
		args, clean := c.fixedArgs()
		p.read(args)
		p.columns(c, clean)
	case HTML, XML:
		p.Records, p.Index = len(c.Columns) > 0, c.Sheet
	case SQLite:
		p.Parts, p.Part = c.Tables, c.Table
	}
	return p
}

// JSON is the plan as it is given to the kernel.
func (p Plan) JSON() (json.RawMessage, error) { return json.Marshal(p) }

func (p *Plan) read(args arguments) {
	p.Read = map[string]any{}
	for _, a := range args {
		p.Read[a.name] = a.value
	}
}

func (p *Plan) say(when bool, format string, a ...any) {
	if when {
		p.Said = append(p.Said, fmt.Sprintf(format, a...))
	}
}

func (c Card) planTable(p *Plan) {
	args, clean := c.tableArgs(true)
	if c.clipped() {
		args, clean = c.tableArgs(false)
	}
	p.read(args)
	if c.Repair == RepairLines {
		p.Drop = c.BadLines
		if c.Compression != "" {
			p.Unpack = c.unpacker()
		}
	}
	p.say(c.Compression != "", "unpacked (%s)", c.Compression)
	p.say(c.Encoding != "utf-8" && c.Encoding != "utf-8-sig", "encoding %s", c.Encoding)
	p.say(c.Delimiter != "," && c.Delimiter != "", "separator %s", delimiterName(c.Delimiter))
	p.say(c.SkipRows > 0, "%s above the table skipped", count(int64(c.SkipRows), "line"))
	p.say(c.HeaderRow == 0, "no row of column names")
	if c.clipped() {
		p.say(true, "all columns as text")
	} else {
		p.columns(c, clean)
	}
	switch c.Repair {
	case RepairLines:
		p.say(true, "left out bad%s", strings.Trim(lineList(c.BadLines, int64(len(c.BadLines))), "()"))
	case RepairWarn:
		p.say(true, "rows with too many fields are left out")
	case RepairExtra:
		p.say(true, "empty fields at the end of rows are left out")
	case RepairNoQuote:
		p.say(true, "quotes are kept as ordinary characters")
	}
}

// columns notes what happens to the values of the columns.
func (p *Plan) columns(c Card, clean []Column) {
	var ids, marks, days []string
	for _, col := range clean {
		p.Clean = append(p.Clean, Cleaning{Name: col.Name, Decimal: col.Decimal, Brackets: col.Brackets})
	}
	for _, col := range c.Columns {
		switch {
		case col.Type == Date || col.Type == DateTime:
			p.Dates = append(p.Dates, col.Name)
			if strings.HasPrefix(col.Format, "%d") || strings.HasPrefix(col.Format, "%m") {
				days = append(days, literal(col.Name)+" as "+col.Format)
			}
		case col.Type == ID || col.Type == String && col.Plain:
			ids = append(ids, literal(col.Name))
		case col.Type == Integer || col.Type == Number:
			p.Numbers = append(p.Numbers, col.Name)
		}
		if col.Unit != "" || col.Brackets {
			marks = append(marks, literal(col.Name))
		}
	}
	p.say(c.Decimal == ",", "decimal comma")
	p.say(c.Thousands != "", "thousands mark %s", literal(c.Thousands))
	p.say(len(ids) > 0, "kept as text: %s", some(ids))
	p.say(len(days) > 0, "dates: %s", some(days))
	p.say(len(marks) > 0, "numbers without their signs: %s", some(marks))
}
