package kernel

import (
	"fmt"
	"regexp"
	"strings"
)

func keyHint(c clue) string {
	if !c.is("KeyError") && !(c.is("ValueError") && c.says("Usecols do not match", "not in list", "do not match columns")) &&
		!c.says("not found in FROM clause") && // DuckDB
		!strings.HasSuffix(c.Name, "ColumnNotFoundError") {
		return ""
	}
	wants := wanted(c.Message)
	var parts []string
	guess := ""
	fs := c.frames()
	for i, f := range fs {
		if i == 2 || i == 1 && c.distance(f.Name) > c.distance(fs[0].Name) {
			break // frames that have to do with it as little as the last one
		}
		parts = append(parts, f.list()+".")
		for _, w := range wants {
			if n := nearest(w, f.names()); n != "" && guess == "" && !hasColumn(f, w) {
				guess = fmt.Sprintf("Did you mean %s?", quote(n))
			}
		}
	}
	for i, d := range c.facts.Dicts {
		if i == 2 || !mentions(c.line, d.Name) {
			continue
		}
		parts = append(parts, "Keys of "+d.Name+": "+quoteList(d.Keys, 30, nil)+".")
		for _, w := range wants {
			if n := nearest(w, d.Keys); n != "" && guess == "" {
				guess = fmt.Sprintf("Did you mean %s?", quote(n))
			}
		}
	}
	if guess != "" {
		parts = append(parts, guess)
	}
	if c.says("not found in axis") && strings.Contains(c.line, ".drop(") {
		parts = append(parts, "To drop a column write df.drop(columns=[...]).")
	}
	return strings.Join(parts, " ")
}

func hasColumn(f frame, name string) bool {
	for _, c := range f.Columns {
		if c.Name == name {
			return true
		}
	}
	return false
}

var quotedAny = regexp.MustCompile(`'([^']*)'|"([^"\[]*)"`)

// wanted takes the missing keys out of a message: 'price', or "['a', 'b'] not
// in index", or "None of [Index(['a'], dtype='object')] are in the [columns]".
func wanted(msg string) []string {
	if i := strings.Index(msg, "dtype="); i >= 0 {
		msg = msg[:i]
	}
	var out []string
	for _, m := range quotedAny.FindAllStringSubmatch(msg, 8) {
		if w := m[1] + m[2]; w != "" {
			out = append(out, w)
		}
	}
	if out == nil {
		out = append(out, strings.TrimSpace(msg))
	}
	return out
}

func attributeHint(c clue) string {
	if !c.is("AttributeError") {
		return ""
	}
	if c.says("Can only use .str accessor") {
		return typesOf(c, func(col column) bool { return col.textual() }, "Text columns") + " Convert first: df[col].astype(str).str. ..."
	}
	if c.says("Can only use .dt accessor") {
		return `The column holds no dates yet. Convert it first: df[col] = pd.to_datetime(df[col], errors="coerce").` + examples(c)
	}
	name := c.facts.Name
	if m := quotedName.FindAllStringSubmatch(c.Message, -1); name == "" && len(m) > 0 {
		name = m[len(m)-1][1]
	}
	gone := map[string]string{
		"append": "Data frames have no append any more: use pd.concat([df, other], ignore_index=True).", "ix": "Use .loc[] or .iloc[].",
		"iteritems": "Use .items().", "as_matrix": "Use .to_numpy().", "get_value": "Use .at[row, column].", "set_value": "Use .at[row, column] = value.",
		"sort": "Use .sort_values(by=...).", "float": "Use float, or np.float64.", "int": "Use int, or np.int64.", "bool": "Use bool, or np.bool_.",
	}
	isFrame := c.says("'DataFrame'", "'Series'", "DataFrameGroupBy", "SeriesGroupBy")
	if s := gone[name]; s != "" && (isFrame || c.says("'numpy'")) {
		return s
	}
	if isFrame && name != "" {
		for _, f := range c.frames() {
			if n := nearest(name, f.names()); n != "" || hasColumn(f, name) {
				if n == "" {
					n = name
				}
				return fmt.Sprintf("%s. Did you mean %s[%s]?", f.list(), f.Name, quote(n))
			}
		}
	}
	if n := nearest(name, c.facts.Attrs); n != "" {
		return "Did you mean ." + n + "?"
	}
	if c.says("'dict' object has no attribute") {
		return "It is a dictionary: write d[" + quote(name) + "] instead of d." + name + "."
	}
	if c.says("'NoneType' object has no attribute") {
		return "The value is None: the call before it returned nothing. Methods with inplace=True and list.sort() or list.append() return None; do not assign their result."
	}
	if fs := c.frames(); isFrame && len(fs) > 0 {
		return fs[0].list() + "."
	}
	return ""
}

func dateHint(c clue) string {
	if c.is("TypeError") && c.says("Only valid with DatetimeIndex") {
		return `The column holds no dates yet. Convert it first: df[col] = pd.to_datetime(df[col], errors="coerce").` + examples(c)
	}
	if c.Name != "DateParseError" && !c.says("doesn't match format", "does not match format", "Unknown datetime string format", "unconverted data remains",
		"Unknown string format", "Out of bounds nanosecond", "day is out of range", "month must be in 1..12") {
		return ""
	}
	return `Some values are not dates of that form. Use pd.to_datetime(df[col], errors="coerce", dayfirst=True) for 31.12.2024, or format="mixed", and then look at the rows that became NaT.` + examples(c)
}

func numberHint(c clue) string {
	number := c.says("could not convert string to float", "invalid literal for int()", "Unable to parse string") ||
		(c.is("TypeError") || c.is("DataError")) && (c.says("Could not convert", "agg function failed", "unsupported operand type", "not supported between instances of",
			"can only concatenate str", "does not support reduction", "must be str, not", "must be real number, not str", "Cannot perform reduction", "does not support operation",
			"no numeric data to plot", "No numeric data to plot", "No numeric types to aggregate", "can't multiply sequence", "does not support 'sum'", "unsupported format string"))
	if !number {
		return ""
	}
	s := examples(c)
	if fs := c.frames(); len(fs) > 0 && c.distance(fs[0].Name) == 2 && c.says("invalid literal", "must be str", "concatenate str") {
		s = "" // the code has nothing to do with it
	}
	if s == "" {
		if c.says("can only concatenate str", "must be str, not") {
			return "Use str(value) or an f-string to join text and numbers."
		}
		return ""
	}
	s = strings.TrimSpace(s) + ` Make numbers of text with pd.to_numeric(df[col], errors="coerce")`
	if decimalComma(c) {
		s += `; with a decimal comma first df[col].str.replace(".", "").str.replace(",", ".")`
	} else if currency(c) {
		s += `; first take away other signs with df[col].str.replace(r"[^0-9.\-]", "", regex=True)`
	}
	if strings.Contains(c.line, ".mean(") || strings.Contains(c.line, ".sum(") || strings.Contains(c.line, ".corr(") || strings.Contains(c.line, ".median(") || strings.Contains(c.line, ".agg(") {
		s += ", or choose the numeric columns (numeric_only=True)"
	}
	return s + "."
}

var (
	comma = regexp.MustCompile(`\d,\d{1,2}(\D|$)`)
	other = regexp.MustCompile(`^[^\d-]{1,3}\s?-?\d|\d\s?[^\d\s.,:/-]{1,3}$|\d,\d{3}`)
)

func decimalComma(c clue) bool { return anyText(c, comma) }
func currency(c clue) bool     { return anyText(c, other) }

func anyText(c clue, re *regexp.Regexp) bool {
	// The value itself, if the message names it: "...: '1.234,50'".
	if v := strings.Trim(c.Message[strings.LastIndex(c.Message, ":")+1:], ` '"`); strings.ContainsAny(v, "0123456789") {
		return re.MatchString(v)
	}
	for _, f := range c.frames() {
		for _, col := range f.Columns {
			if col.textual() && mentions(c.line, col.Name) && re.MatchString(col.Example) {
				return true
			}
		}
	}
	return false
}

// examples lists the text columns of the frame in question, each with a value.
func examples(c clue) string {
	return typesOf(c, column.textual, "Text columns")
}

func typesOf(c clue, want func(column) bool, title string) string {
	fs := c.frames()
	if len(fs) == 0 {
		return ""
	}
	var list []string
	for _, col := range fs[0].Columns {
		if want(col) && len(list) < 12 {
			list = append(list, quote(col.Name)+" (e.g. "+quote(col.Example)+")")
		}
	}
	if list == nil {
		return ""
	}
	return " " + title + " of " + fs[0].Name + ": " + strings.Join(list, ", ") + "."
}

func frameHint(c clue) string {
	switch {
	case c.says("truth value of a Series is ambiguous", "truth value of a DataFrame is ambiguous", "truth value of an array"):
		return "Combine conditions with & and | and put each into parentheses: df[(df.a > 1) & (df.b < 2)]. For one answer use .any(), .all() or .empty."
	case c.says("Cannot convert non-finite values"):
		return `Values are missing. Use .fillna(0).astype(int), or .astype("Int64"), which can hold missing values.`
	case c.says("You are trying to merge on"):
		return "The key columns have different types. Convert both first, for example left[key] = left[key].astype(str) and the same on the right." + schema(c, 2)
	case c.says("contains NaN"):
		return "There are missing values. Use df.dropna(subset=[...]) or .fillna(...) first."
	case c.says("Length mismatch: Expected axis"):
		if fs := c.frames(); len(fs) > 0 {
			return "Give one name for each column. " + fs[0].list() + "."
		}
	case c.says("is not a valid package style"):
		return `That style is not there. Leave the line out, or use plt.style.use("ggplot").`
	case c.says("All arrays must be of the same length", "Length of values"):
		return "The numbers of rows differ." + schema(c, 2)
	case c.says("out-of-bounds", "out of bounds") && c.is("IndexError"):
		return strings.TrimSpace(schema(c, 2))
	case c.says("cannot insert") && c.says("already exists"):
		return "A column of that name is there already. Use reset_index(drop=True), or rename it first."
	case c.is("ValueError"), c.is("TypeError"), c.is("IndexError"):
		if fs := c.frames(); len(fs) > 0 && c.distance(fs[0].Name) == 0 {
			return fs[0].list() + "."
		}
	}
	return ""
}

// schema says shape and column types of the first frames.
func schema(c clue, most int) string {
	s := ""
	for i, f := range c.frames() {
		if i == most {
			break
		}
		var cols []string
		for j, col := range f.Columns {
			if j == 20 {
				cols = append(cols, "...")
				break
			}
			cols = append(cols, quote(col.Name)+" "+col.Type)
		}
		s += fmt.Sprintf(" %s has %d rows: %s.", f.Name, f.Shape[0], strings.Join(cols, ", "))
	}
	return s
}
