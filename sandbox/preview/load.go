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
		if !c.clipped() {
			if s := c.loadTable(true); len(s) <= loadMax {
				return s
			}
		}
		return c.loadTable(false)
	}
	return c.loadOther(name)
}

// clipped says that a column's name is too long to be known in full.
func (c Card) clipped() bool {
	return slices.ContainsFunc(c.Columns, func(col Column) bool { return utf8.RuneCountInString(col.Name) >= maxName })
}

// An argument of a reader of pandas: as code, and as data for a [Plan].
type argument struct {
	name, code string
	value      any
}

type arguments []argument

func (a *arguments) add(name, code string, value any) { *a = append(*a, argument{name, code, value}) }

func (a *arguments) text(name, s string) { a.add(name, literal(s), s) }

// pairs adds a dictionary, unless it is empty.
func (a *arguments) pairs(name string, keys, codes []string, values []any) {
	if len(keys) == 0 {
		return
	}
	m := make(map[string]any, len(keys))
	var p []string
	for i, k := range keys {
		m[k] = values[i]
		p = append(p, literal(k)+": "+codes[i])
	}
	a.add(name, "{"+strings.Join(p, ", ")+"}", m)
}

// String is the arguments as they follow the first one of a call.
func (a arguments) String() string {
	var b strings.Builder
	for _, x := range a {
		b.WriteString(", " + x.name + "=" + x.code)
	}
	return b.String()
}

// loadTable is exact down to the types of columns, or reads all as text.
func (c Card) loadTable(typed bool) string {
	head := "import pandas as pd\n"
	file := literal(c.Name)
	if c.Repair == RepairLines {
		errs := ""
		if c.Replace {
			errs = `, errors="replace"`
		}
		head += "import io\n"
		open := fmt.Sprintf("open(%s, encoding=%s%s)", file, literal(c.Encoding), errs)
		if c.Compression != "" {
			head += "import " + c.unpacker() + "\n"
			open = fmt.Sprintf(`%s.open(%s, "rt", encoding=%s%s)`, c.unpacker(), file, literal(c.Encoding), errs)
		}
		var bad []string
		for _, l := range c.BadLines {
			bad = append(bad, fmt.Sprint(l))
		}
		head += fmt.Sprintf("good = [s for n, s in enumerate(%s, 1) if n not in {%s}]\n", open, strings.Join(bad, ", "))
		file = `io.StringIO("".join(good))`
	}
	args, clean := c.tableArgs(typed)
	s := head + "df = pd.read_csv(" + file + args.String() + ")"
	for _, col := range clean {
		s += "\n" + col.clean(literal(col.Name))
	}
	return s
}

// unpacker is the module of Python that unpacks the file.
func (c Card) unpacker() string {
	if c.Compression == "bz2" {
		return "bz2"
	}
	return "gzip"
}

// tableArgs is the arguments of read_csv, and the columns that it cannot turn
// into numbers by itself.
func (c Card) tableArgs(typed bool) (args arguments, clean []Column) {
	switch {
	case c.Delimiter == "" && c.ColumnCount == 1:
		args.add("sep", `"\x1f"`, "\x1f") // a character that the file does not have
	case c.Delimiter != ",":
		args.text("sep", c.Delimiter)
	}
	if c.Repair != RepairLines {
		if c.Encoding != "utf-8" {
			args.text("encoding", c.Encoding)
		}
		if c.Replace {
			args.text("encoding_errors", "replace")
		}
	}
	if c.Compression != "" && c.Repair != RepairLines {
		args.text("compression", c.Compression)
	}
	if c.SkipRows > 0 {
		args.add("skiprows", fmt.Sprint(c.SkipRows), c.SkipRows)
	}
	if c.HeaderRow == 0 {
		args.add("header", "None", nil)
		if len(c.Columns) == c.ColumnCount && c.ColumnCount <= 30 {
			args.add("names", literals(c.names()), c.names())
		} else {
			names := make([]string, min(c.ColumnCount, maxNumbered))
			for i := range names {
				names[i] = fmt.Sprintf("c%d", i+1)
			}
			args.add("names", fmt.Sprintf(`[f"c{i}" for i in range(1, %d)]`, c.ColumnCount+1), names)
		}
	}
	if c.Quote == "'" {
		args.text("quotechar", "'")
	}
	if c.SkipSpace {
		args.add("skipinitialspace", "True", true)
	}
	if c.Implicit || c.Repair == RepairExtra {
		args.add("index_col", "False", false)
	}
	switch c.Repair {
	case RepairNoQuote:
		args.add("quoting", "3", 3)
	case RepairExtra:
		// With usecols, pandas does not mind rows that are too long.
		n := min(c.ColumnCount, maxNumbered)
		use := make([]int, n)
		for i := range use {
			use[i] = i
		}
		args.add("usecols", fmt.Sprintf("range(%d)", c.ColumnCount), use)
	case RepairWarn:
		args.text("on_bad_lines", "warn")
	}
	if !typed {
		args.add("dtype", "str", "str")
		return args, nil
	}
	return c.typeArgs(args)
}

// maxNumbered bounds lists with an entry for each column.
const maxNumbered = 20_000

func (c Card) names() []string {
	names := make([]string, len(c.Columns))
	for i, col := range c.Columns {
		names[i] = col.Name
	}
	return names
}

// typeArgs adds the arguments about the types of columns.
func (c Card) typeArgs(args arguments) (_ arguments, clean []Column) {
	var text, na, dates []string
	var strs, texts, words, formats []string
	var textV, naV, formatV []any
	decimal, thousands := false, false
	for _, col := range c.Columns {
		switch {
		case col.Type == ID || col.Type == String && col.Plain:
			text = append(text, col.Name)
		case col.Type == Date || col.Type == DateTime:
			dates = append(dates, col.Name)
			formats, formatV = append(formats, literal(col.Format)), append(formatV, col.Format)
		case col.Type != Integer && col.Type != Number:
			continue
		case c.native(col):
			decimal = decimal || col.Decimal == ","
			thousands = thousands || col.Thousands != ""
		default:
			text = append(text, col.Name)
			clean = append(clean, col)
		}
		if len(col.NA) > 0 {
			na = append(na, col.Name)
			words, naV = append(words, literals(col.NA)), append(naV, col.NA)
		}
	}
	for range text {
		texts, textV = append(texts, "str"), append(textV, "str")
	}
	if decimal {
		args.text("decimal", ",")
	}
	if thousands {
		args.text("thousands", c.Thousands)
	}
	args.pairs("dtype", text, texts, textV)
	args.pairs("na_values", na, words, naV)
	if len(dates) > 0 {
		for _, d := range dates {
			strs = append(strs, literal(d))
		}
		args.add("parse_dates", "["+strings.Join(strs, ", ")+"]", dates)
		args.pairs("date_format", dates, formats, formatV)
	}
	return args, clean
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
