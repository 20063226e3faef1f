package preview

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// loadMax is the length of the longest loading text; above it, columns are
// all read as text, which is never wrong.
const loadMax = 1500

// WithName is the card with another name, for example the path under which
// programs find the file. Load changes with it.
func (c Card) WithName(name string) Card {
	c.Name = name
	c.Load = c.load()
	return c
}

// load is Python that loads the file as the card describes it.
func (c Card) load() string {
	name := literal(c.Name)
	switch c.Kind {
	case CSV, TSV:
		long := slices.ContainsFunc(c.Columns, func(col Column) bool { return utf8.RuneCountInString(col.Name) >= maxName })
		if s := c.loadTable(true); len(s) <= loadMax && !long {
			return s
		}
		return c.loadTable(false)
	}
	return c.loadOther(name)
}

// loadTable is exact down to the types of columns, or reads all as text.
func (c Card) loadTable(typed bool) string {
	head := "import pandas as pd\n"
	file := literal(c.Name)
	var args []string
	arg := func(format string, a ...any) { args = append(args, fmt.Sprintf(format, a...)) }
	errs := ""
	if c.Replace {
		errs = `, encoding_errors="replace"`
	}
	if c.Repair == RepairLines {
		head += "import io\n"
		open := fmt.Sprintf("open(%s, encoding=%s%s)", file, literal(c.Encoding), strings.ReplaceAll(errs, "encoding_", ""))
		var bad []string
		for _, l := range c.BadLines {
			bad = append(bad, fmt.Sprint(l))
		}
		head += fmt.Sprintf("good = [s for n, s in enumerate(%s, 1) if n not in {%s}]\n", open, strings.Join(bad, ", "))
		file = `io.StringIO("".join(good))`
	}
	switch {
	case c.Delimiter == "" && c.ColumnCount == 1:
		arg(`sep="\x1f"`) // a character that the file does not have
	case c.Delimiter != ",":
		arg("sep=%s", literal(c.Delimiter))
	}
	if c.Repair != RepairLines {
		if c.Encoding != "utf-8" {
			arg("encoding=%s", literal(c.Encoding))
		}
		if errs != "" {
			args = append(args, errs[2:])
		}
	}
	if c.SkipRows > 0 {
		arg("skiprows=%d", c.SkipRows)
	}
	if c.HeaderRow == 0 {
		if len(c.Columns) == c.ColumnCount && c.ColumnCount <= 30 {
			var names []string
			for _, col := range c.Columns {
				names = append(names, col.Name)
			}
			arg("header=None, names=%s", literals(names))
		} else {
			arg(`header=None, names=[f"c{i}" for i in range(1, %d)]`, c.ColumnCount+1)
		}
	}
	if c.Quote == "'" {
		arg(`quotechar="'"`)
	}
	if c.SkipSpace {
		arg("skipinitialspace=True")
	}
	if c.Implicit {
		arg("index_col=False")
	}
	switch c.Repair {
	case RepairNoQuote:
		arg("quoting=3")
	case RepairExtra:
		// With usecols, pandas does not mind rows that are too long.
		if !c.Implicit {
			arg("index_col=False")
		}
		arg("usecols=range(%d)", c.ColumnCount)
	case RepairWarn:
		arg(`on_bad_lines="warn"`)
	}
	if !typed {
		arg("dtype=str")
		return head + "df = pd.read_csv(" + file + tail(args) + ")"
	}
	after := c.typeArgs(arg)
	return head + "df = pd.read_csv(" + file + tail(args) + ")" + after
}

func tail(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return ", " + strings.Join(args, ", ")
}

// typeArgs adds the arguments about the types of columns and returns the lines
// for what read_csv cannot do by itself.
func (c Card) typeArgs(arg func(string, ...any)) (after string) {
	var text, na, dates, formats []string
	decimal, thousands := false, false
	for _, col := range c.Columns {
		name := literal(col.Name)
		switch {
		case col.Type == ID || col.Type == String && col.Plain:
			text = append(text, name+": str")
		case col.Type == Date || col.Type == DateTime:
			dates = append(dates, name)
			formats = append(formats, name+": "+literal(col.Format))
		case col.Type != Integer && col.Type != Number:
			continue
		case c.native(col):
			decimal = decimal || col.Decimal == ","
			thousands = thousands || col.Thousands != ""
		default:
			text = append(text, name+": str")
			after += "\n" + col.clean(name)
		}
		if len(col.NA) > 0 {
			na = append(na, name+": "+literals(col.NA))
		}
	}
	if decimal {
		arg(`decimal=","`)
	}
	if thousands {
		arg("thousands=%s", literal(c.Thousands))
	}
	if len(text) > 0 {
		arg("dtype={%s}", strings.Join(text, ", "))
	}
	if len(na) > 0 {
		arg("na_values={%s}", strings.Join(na, ", "))
	}
	if len(dates) > 0 {
		arg("parse_dates=[%s]", strings.Join(dates, ", "))
		arg("date_format={%s}", strings.Join(formats, ", "))
	}
	return after
}

// native says whether read_csv itself reads the numbers of the column, with
// the marks of the file.
func (c Card) native(col Column) bool {
	switch {
	case col.Unit != "" || col.Brackets:
		return false
	case col.Decimal != "" && col.Decimal != c.Decimal:
		return false
	case col.Thousands == "":
		// A decimal point must not be the file's thousands mark.
		return true
	}
	return col.Thousands == c.Thousands && len(col.Thousands) == 1
}

// clean is the line that turns a column of text into numbers. It raises an
// error on a value that is no number, it never makes one missing in silence.
func (col Column) clean(name string) string {
	s := "df[" + name + "]"
	v := s
	if col.Brackets {
		v += `.str.replace(r"^\((.*)\)$", r"-\1", regex=True)`
	}
	if col.Decimal == "," {
		v += `.str.replace(r"[^0-9,+-]", "", regex=True).str.replace(",", ".")`
	} else {
		v += `.str.replace(r"[^0-9.+-]", "", regex=True)`
	}
	return s + " = pd.to_numeric(" + v + ")"
}
