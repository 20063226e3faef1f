package kernel

import (
	"strings"
	"testing"
)

var sales = frame{Name: "df", Shape: [2]int{3, 4}, Columns: []column{
	{"Unit Price", "float64", "1.5", true}, {"Región", "object", "Süd", true}, {"total", "object", "1.234,50 €", true}, {"Order Date", "object", "31.12.2024", true},
}}

var staff = frame{Name: "staff", Shape: [2]int{9, 2}, Columns: []column{{"name", "str", "Ann", true}, {"2024", "int64", "7", false}}}

func TestHint(t *testing.T) {
	both := facts{Frames: []frame{staff, sales}}
	for _, c := range []struct {
		name  string
		x     Exception
		bases string
		code  string
		facts facts
		want  []string // parts of the hint; none: there is no hint
		not   string
	}{
		{name: "column, other case and space", x: Exception{Name: "KeyError", Message: "'unit_price'", Line: 1}, code: "df['unit_price']", facts: both,
			want: []string{"Columns of df: ['Unit Price', 'Región', 'total', 'Order Date'].", "Did you mean 'Unit Price'?"}, not: "staff"},
		{name: "column, a word of it", x: Exception{Name: "KeyError", Message: "'price'", Line: 1}, code: "df['price']", facts: both, want: []string{"Did you mean 'Unit Price'?"}},
		{name: "column without accent", x: Exception{Name: "KeyError", Message: "'Region'", Line: 1}, code: "df['Region']", facts: both, want: []string{"Did you mean 'Región'?"}},
		{name: "columns in a list", x: Exception{Name: "KeyError", Message: `"['Totals'] not in index"`, Line: 1}, code: "df[['Totals','total']]", facts: both, want: []string{"Did you mean 'total'?"}},
		{name: "none of them", x: Exception{Name: "KeyError", Message: `"None of [Index(['order date'], dtype='object')] are in the [columns]"`, Line: 1}, code: "df[['order date']]", facts: both, want: []string{"'Order Date'?"}},
		{name: "number as column", x: Exception{Name: "KeyError", Message: "'2024'", Line: 1}, code: "staff['2024']", facts: both, want: []string{"['name', 2024]"}},
		{name: "no data frames", x: Exception{Name: "KeyError", Message: "'a'", Line: 1}, code: "d['a']"},
		{name: "dictionary", x: Exception{Name: "KeyError", Message: "'naem'", Line: 1}, code: "d['naem']", facts: facts{Dicts: []dict{{"d", []string{"name", "age"}}}},
			want: []string{"Keys of d: ['name', 'age']", "Did you mean 'name'?"}},
		{name: "drop", x: Exception{Name: "KeyError", Message: `"['total'] not found in axis"`, Line: 1}, code: "df.drop('total')", facts: both, want: []string{"columns=[...]"}},
		{name: "usecols", x: Exception{Name: "ValueError", Message: "Usecols do not match columns, columns expected but not found: ['Total']", Line: 1}, code: "df = 1", facts: both, want: []string{"'total'?"}},
		{name: "DuckDB", x: Exception{Name: "BinderException", Message: `Binder Error: Referenced column "Totals" not found in FROM clause!`, Line: 1}, code: "duckdb.sql('select Totals from df')", facts: both, want: []string{"Did you mean 'total'?"}},
		{name: "attribute that is a column", x: Exception{Name: "AttributeError", Message: "'DataFrame' object has no attribute 'Total'", Line: 1}, code: "df.Total.sum()", facts: both, want: []string{"Did you mean df['total']?"}},
		{name: "removed method", x: Exception{Name: "AttributeError", Message: "'DataFrame' object has no attribute 'append'", Line: 1}, code: "df.append(x)", facts: both, want: []string{"pd.concat"}},
		{name: "attribute of an object", x: Exception{Name: "AttributeError", Message: "'str' object has no attribute 'uper'"}, facts: facts{Name: "uper", Attrs: []string{"upper", "lower"}}, want: []string{"Did you mean .upper?"}},
		{name: "none", x: Exception{Name: "AttributeError", Message: "'NoneType' object has no attribute 'head'"}, facts: facts{Name: "head"}, want: []string{"inplace=True"}},
		{name: "text as number", x: Exception{Name: "ValueError", Message: "could not convert string to float: '1.234,50 €'", Line: 1}, code: "df['total'].astype(float)", facts: both,
			want: []string{"'total' (e.g. '1.234,50 €')", "pd.to_numeric", `.str.replace(",", ".")`}, not: "'Unit Price'"},
		{name: "dollars", x: Exception{Name: "ValueError", Message: "could not convert string to float: '$1200'", Line: 1}, code: "df['total'].astype(float)", facts: both, want: []string{"[^0-9.\\-]"}},
		{name: "mean of text", x: Exception{Name: "TypeError", Message: "agg function failed [how->mean,dtype->object]", Line: 1}, code: "df.groupby('x').mean()", facts: both, want: []string{"numeric_only=True"}},
		{name: "join text and number", x: Exception{Name: "TypeError", Message: `can only concatenate str (not "int") to str`}, want: []string{"f-string"}},
		{name: "dates", x: Exception{Name: "ValueError", Message: `time data "31.12.2024" doesn't match format "%m/%d/%Y", at position 0`, Line: 1}, code: "pd.to_datetime(df['Order Date'])", facts: both,
			want: []string{"dayfirst=True", "'Order Date' (e.g. '31.12.2024')"}},
		{name: "no dates in the index", x: Exception{Name: "TypeError", Message: "Only valid with DatetimeIndex, TimedeltaIndex or PeriodIndex, but got an instance of 'Index'", Line: 1}, code: "df.resample('ME', on='Order Date')", facts: both,
			want: []string{"pd.to_datetime", "'Order Date'"}},
		{name: "names for columns", x: Exception{Name: "ValueError", Message: "Length mismatch: Expected axis has 4 elements, new values have 1 elements", Line: 1}, code: "df.columns = ['a']", facts: both, want: []string{"Columns of df"}},
		{name: "a number that has nothing to do with a frame", x: Exception{Name: "ValueError", Message: "invalid literal for int() with base 10: 'abc'", Line: 1}, code: "int('abc')", facts: both},
		{name: "attribute of a dictionary", x: Exception{Name: "AttributeError", Message: "'dict' object has no attribute 'a'"}, facts: facts{Name: "a", Attrs: []string{"items", "keys"}}, want: []string{"d['a']"}},
		{name: "style", x: Exception{Name: "OSError", Message: "'seaborn' is not a valid package style, path of style file, URL"}, want: []string{"Leave the line out"}},
		{name: "missing file", x: Exception{Name: "FileNotFoundError", Message: "..."}, bases: "OSError", facts: facts{File: "sales.csv", Files: []string{"Sales 2024.csv", "note.txt"}},
			want: []string{"['Sales 2024.csv', 'note.txt']", "Did you mean 'Sales 2024.csv'?"}},
		{name: "file with a path", x: Exception{Name: "FileNotFoundError"}, bases: "OSError", facts: facts{File: "/mnt/data/note.txt", Files: []string{"note.txt"}}, want: []string{"plain name"}},
		{name: "Windows path", x: Exception{Name: "FileNotFoundError"}, bases: "OSError", facts: facts{File: `C:\Users\me\note.txt`, Files: []string{"note.txt"}}, want: []string{"'note.txt'"}},
		{name: "no files", x: Exception{Name: "FileNotFoundError"}, bases: "OSError", want: []string{"attached no file"}},
		{name: "read-only", x: Exception{Name: "OSError", Message: "[Errno 30] Read-only file system: 'sales.csv'"}, facts: facts{Errno: 30, File: "sales.csv"}, want: []string{"read-only", "'new_sales.csv'"}},
		{name: "permission", x: Exception{Name: "PermissionError"}, bases: "OSError", facts: facts{Errno: 13, File: "/data/sales.csv"}, want: []string{"'new_sales.csv'"}},
		{name: "disk", x: Exception{Name: "OSError"}, facts: facts{Errno: 28}, want: []string{"disk space"}},
		{name: "encoding", x: Exception{Name: "UnicodeDecodeError", Message: "'utf-8' codec can't decode byte 0xfc in position 1"}, bases: "UnicodeError ValueError", want: []string{"cp1252"}},
		{name: "UTF-16", x: Exception{Name: "UnicodeDecodeError", Message: "'utf-8' codec can't decode byte 0xff in position 0: invalid start byte"}, bases: "UnicodeError", want: []string{`"utf-16"`}},
		{name: "separator", x: Exception{Name: "ParserError", Message: "Error tokenizing data. C error: Expected 1 fields in line 4, saw 2"}, bases: "ValueError", want: []string{`sep=";"`}},
		{name: "no Excel", x: Exception{Name: "BadZipFile", Message: "File is not a zip file"}, want: []string{"xlrd"}},
		{name: "variable", x: Exception{Name: "NameError", Message: "name 'totals' is not defined"}, facts: facts{Name: "totals", Names: []string{"total", "x"}}, want: []string{"Defined so far: total, x.", "Did you mean total?"}},
		{name: "not imported", x: Exception{Name: "NameError", Message: "name 'pd' is not defined"}, want: []string{"import pandas as pd"}},
		{name: "JavaScript", x: Exception{Name: "NameError", Message: "name 'true' is not defined"}, want: []string{"True"}},
		{name: "nothing defined", x: Exception{Name: "NameError", Message: "name 'df' is not defined"}, want: []string{"No variables are defined yet"}},
		{name: "module", x: Exception{Name: "ModuleNotFoundError", Message: "No module named 'plotly'"}, bases: "ImportError", facts: facts{Name: "plotly", Modules: []string{"numpy", "matplotlib"}},
			want: []string{"no network", "numpy, matplotlib", "Instead of plotly use matplotlib"}},
		{name: "sub-module", x: Exception{Name: "ModuleNotFoundError"}, bases: "ImportError", facts: facts{Name: "panda.core", Modules: []string{"pandas"}}, want: []string{"Did you mean pandas?"}},
		{name: "network", x: Exception{Name: "URLError", Message: "<urlopen error [Errno 101] Network is unreachable>"}, bases: "OSError", want: []string{"There is no network"}},
		{name: "refused", x: Exception{Name: "ConnectionRefusedError", Message: "[Errno 111] Connection refused"}, bases: "ConnectionError OSError", want: []string{"There is no network"}},
		{name: "input", x: Exception{Name: "EOFError", Message: "no input can be typed here"}, want: []string{"Nobody can type"}},
		{name: "end of a pickle is no input", x: Exception{Name: "EOFError", Message: "Ran out of input"}},
		{name: "window", x: Exception{Name: "TclError", Message: "no display name and no $DISPLAY environment variable"}, want: []string{"There is no display"}},
		{name: "shell line", x: Exception{Name: "SyntaxError", Message: "invalid syntax", Line: 2}, code: "import os\n!pip install x", want: []string{"Line 2 is a notebook command", "Nothing can be installed"}},
		{name: "fence", x: Exception{Name: "SyntaxError", Message: "invalid syntax", Line: 1}, code: "```python\nx\n```", want: []string{"without Markdown"}},
		{name: "typographic quotes", x: Exception{Name: "SyntaxError", Message: "invalid character", Line: 1}, code: "print(“x”)", want: []string{"plain quotes"}},
		{name: "cut off", x: Exception{Name: "SyntaxError", Message: "'(' was never closed", Line: 1}, code: "print(", want: []string{"complete code"}},
		{name: "truth", x: Exception{Name: "ValueError", Message: "The truth value of a Series is ambiguous. Use a.empty"}, want: []string{"& and |"}},
		{name: "merge", x: Exception{Name: "ValueError", Message: "You are trying to merge on object and int64 columns", Line: 1}, code: "df.merge(staff)", facts: both, want: []string{"astype(str)", "'Unit Price' float64"}},
		{name: "NaN to int", x: Exception{Name: "IntCastingNaNError", Message: "Cannot convert non-finite values (NA or inf) to integer"}, bases: "ValueError", want: []string{"Int64"}},
		{name: "row", x: Exception{Name: "IndexError", Message: "single positional indexer is out-of-bounds", Line: 1}, code: "df.iloc[9]", facts: facts{Frames: []frame{sales}}, want: []string{"df has 3 rows"}},
		{name: "exit", x: Exception{Name: "SystemExit", Message: "2"}, want: []string{"leave the call out"}},
		{name: "memory", x: Exception{Name: "MemoryError"}, want: []string{"The memory limit was reached", "usecols"}},
		{name: "memory, the limit", x: Exception{Name: "MemoryError"}, facts: facts{Memory: 4 << 30}, want: []string{"The memory limit of 4 GiB was reached"}},
		{name: "memory, NumPy's error", x: Exception{Name: "_ArrayMemoryError"}, bases: "MemoryError Exception", facts: facts{Memory: 1536 << 20}, want: []string{"limit of 1.5 GiB"}},
		{name: "memory, less than a GiB", x: Exception{Name: "MemoryError"}, facts: facts{Memory: 300 << 20}, want: []string{"limit of 300 MiB"}},
		{name: "recursion", x: Exception{Name: "RecursionError"}, bases: "RuntimeError", want: []string{"without an end"}},
		{name: "own error", x: Exception{Name: "Mine", Message: "custom"}, facts: both},
		{name: "division", x: Exception{Name: "ZeroDivisionError", Message: "division by zero", Line: 1}, code: "1/0", facts: both},
	} {
		got := hint(c.x, strings.Fields(c.bases), c.code, c.facts)
		for _, w := range c.want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: %q lacks %q", c.name, got, w)
			}
		}
		if c.want == nil && got != "" || c.not != "" && strings.Contains(got, c.not) {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

// TestHintHostile: facts of any size and text give a bounded hint.
func TestHintHostile(t *testing.T) {
	long := strings.Repeat("é", 5000)
	f := fault{Name: "KeyError", Message: long, Line: 1 << 30, Trace: long, Bases: make([]string, 1000)}
	for range 100 {
		fr := frame{Name: long}
		for range 200 {
			fr.Columns = append(fr.Columns, column{Name: long, Example: long})
		}
		f.Facts.Frames = append(f.Facts.Frames, fr)
		f.Facts.Names = append(f.Facts.Names, long)
	}
	x := f.exception("df['a']", 0)
	if len(x.Hint) > 2000 || len(x.Name)+len(x.Message)+len(x.Trace) > 25_000 {
		t.Errorf("hint of %d bytes, trace of %d", len(x.Hint), len(x.Trace))
	}
}

func TestNearest(t *testing.T) {
	names := []string{"Unit Price", "quantity", "Order Date", "customer_id", "销售额", "a"}
	for want, near := range map[string]string{
		"unitprice": "Unit Price", "UnitPrise": "Unit Price", "price": "Unit Price", "Quantitiy": "quantity", "qunatity": "quantity",
		"CustomerID": "customer_id", "date": "Order Date", "销售": "销售额", "zzz": "", "": "", "b": "",
	} {
		if got := nearest(want, names); got != near {
			t.Errorf("nearest(%q) = %q, want %q", want, got, near)
		}
	}
}
