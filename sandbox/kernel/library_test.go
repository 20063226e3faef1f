//go:build unix

package kernel

import (
	"bytes"
	"encoding/json"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// frameCell makes the frame that the tests of libraries use.
const frameCell = `import pandas as pd, numpy as np
df = pd.DataFrame({"Unit Price": [1.5, np.nan, 3], "name": list("xyz"), "when": pd.date_range("2024-01-01", periods=3), "big": [2**60, 1, 2], "total": ["1.234,50 €", "2,00 €", "3,00 €"]})`

func TestTable(t *testing.T) {
	needLibraries(t)
	s := open(t, options(t))
	got := exec1(t, s, frameCell+"\ndf")
	if got.Status != OK || len(got.objs) != 1 {
		t.Fatalf("got %+v: %s", got.Result, got.text)
	}
	var table Table
	if err := json.Unmarshal(got.objs[0][TableMIME], &table); err != nil {
		t.Fatal(err)
	}
	raw := func(v ...string) (out []json.RawMessage) {
		for _, s := range v {
			out = append(out, json.RawMessage(s))
		}
		return out
	}
	want := Table{
		Columns: []string{"Unit Price", "name", "when", "big", "total"},
		Types:   []string{"float64", "object", "datetime64[ns]", "int64", "object"},
		Index:   raw("0", "1", "2"),
		Rows: [][]json.RawMessage{
			raw("1.5", `"x"`, `"2024-01-01 00:00:00"`, `"1152921504606846976"`, `"1.234,50 €"`),
			raw("null", `"y"`, `"2024-01-02 00:00:00"`, "1", `"2,00 €"`),
			raw("3.0", `"z"`, `"2024-01-03 00:00:00"`, "2", `"3,00 €"`),
		},
		Shape: [2]int{3, 5},
	}
	if d := cmp.Diff(want, table); d != "" {
		t.Error(d)
	}
	if !strings.Contains(string(got.objs[0]["text/plain"]), "Unit Price") {
		t.Errorf("text %q", got.objs[0]["text/plain"])
	}
	for _, c := range []struct {
		code string
		rows int
		cols []string
		of   [2]int
	}{
		{`df["name"]`, 3, []string{"name"}, [2]int{3, 1}},
		{`pd.Series([1, 2])`, 2, []string{"value"}, [2]int{2, 1}},
		{`pd.DataFrame({"a": range(1000)})`, 200, []string{"a"}, [2]int{1000, 1}},
		{`pd.DataFrame({"a": []})`, 0, []string{"a"}, [2]int{0, 1}},
		{`df.groupby("name").agg({"big": ["min", "max"]})`, 3, []string{"big / min", "big / max"}, [2]int{3, 2}},
		{`pd.DataFrame([[1, 2]], columns=["a", "a"])`, 1, []string{"a", "a"}, [2]int{1, 2}},
		{`df.set_index(["name", "when"])[["big"]]`, 3, []string{"big"}, [2]int{3, 1}},
	} {
		got := exec1(t, s, c.code)
		var table Table
		if len(got.objs) != 1 || json.Unmarshal(got.objs[0][TableMIME], &table) != nil {
			t.Errorf("%s: %+v %s", c.code, got.Result, got.text)
			continue
		}
		if len(table.Rows) != c.rows || !cmp.Equal(table.Columns, c.cols) || table.Shape != c.of {
			t.Errorf("%s: %d rows, columns %v, shape %v", c.code, len(table.Rows), table.Columns, table.Shape)
		}
	}
	wide := exec1(t, s, `pd.DataFrame(np.zeros((2, 80)))`)
	json.Unmarshal(wide.objs[0][TableMIME], &table)
	if len(table.Columns) != 50 || table.Shape != [2]int{2, 80} {
		t.Errorf("wide: %d columns, shape %v", len(table.Columns), table.Shape)
	}
}

func TestFigures(t *testing.T) {
	needLibraries(t)
	o := options(t)
	s := open(t, o)
	for _, c := range []struct {
		name, code string
		figures    int
		text       string // without the objects
	}{
		{"show does not block", "import matplotlib.pyplot as plt\nplt.plot([1, 4, 9]); plt.title('T'); plt.show()\nprint('after')", 1, "after\n"},
		{"open at the end", "plt.hist([1, 2, 2, 3])", 1, ""},
		{"figure object once", "fig, ax = plt.subplots(); ax.plot([1, 2]); fig", 1, ""},
		{"two figures", "plt.figure(); plt.plot([1]); plt.figure(); plt.plot([2]);", 2, ""},
		{"none when empty", "plt.figure();", 0, ""},
		{"axes", "df_ax = plt.subplots(2, 2)[1]; df_ax", 1, ""},
		{"use is kept quiet", "import matplotlib\nmatplotlib.use('TkAgg')\nplt.plot([1]); plt.show()", 1, ""},
		{"at most 20", "for i in range(25): plt.figure(figsize=(1, 1)); plt.plot([i])", 20, "Only the first 20 pictures of a run are shown.\n"},
		{"after an error", "plt.plot([1])\n1/0", 1, ""},
		{"pandas", "import pandas as pd\npd.Series([1, 2]).plot()", 1, ""},
		{"image", "from PIL import Image\nImage.new('RGB', (4, 3))", 1, ""},
	} {
		got := exec1(t, s, c.code)
		n := 0
		for _, d := range got.objs {
			if b := d["image/png"]; b != nil {
				if _, err := png.Decode(bytes.NewReader(b)); err != nil {
					t.Errorf("%s: %v", c.name, err)
				}
				n++
			}
		}
		text := got.text
		for strings.Contains(text, "⟨") {
			before, rest, _ := strings.Cut(text, "⟨")
			_, after, _ := strings.Cut(rest, "⟩")
			text = before + after
		}
		if n != c.figures || text != c.text {
			t.Errorf("%s: %d figures and %q, error %+v", c.name, n, text, got.Error)
		}
	}
	if files, _ := os.ReadDir(o.Dir); len(files) != 0 {
		t.Errorf("figures left files: %v", files)
	}
}

// TestHintsLive: the facts come from the interpreter as hint needs them.
func TestHintsLive(t *testing.T) {
	needLibraries(t)
	o := options(t)
	for _, n := range []string{"sales 2024.csv", "note.txt"} {
		if err := os.WriteFile(filepath.Join(o.Dir, n), []byte("a;b\n1;2\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, o)
	exec1(t, s, frameCell+"\nprices = {'apple': 1}")
	for _, c := range []struct{ code, name, hint string }{
		{`df["unit_price"]`, "KeyError", "Columns of df: ['Unit Price', 'name', 'when', 'big', 'total']. Did you mean 'Unit Price'?"},
		{`df[["nam", "big"]]`, "KeyError", "Did you mean 'name'?"},
		{`df.groupby("Name").sum()`, "KeyError", "Did you mean 'name'?"},
		{`df.sort_values("price")`, "KeyError", "Did you mean 'Unit Price'?"},
		{`df.Name`, "AttributeError", "Did you mean df['name']?"},
		{`df.append(df)`, "AttributeError", "pd.concat"},
		{`df.total.astype(float)`, "ValueError", "'total' (e.g. '1.234,50 €')"},
		{`df.total.mean()`, "", "pd.to_numeric"},
		{`df["big"] + df["name"]`, "TypeError", "Text columns of df"},
		{`pd.to_datetime(df["name"], format="%d.%m.%Y")`, "ValueError", "dayfirst=True"},
		{`df["name"].dt.year`, "AttributeError", "pd.to_datetime"},
		{`df["big"].str.upper()`, "AttributeError", "Text columns of df"},
		{`if df["big"] > 1: pass`, "ValueError", "parentheses"},
		{`df.iloc[99]`, "IndexError", "df has 3 rows"},
		{`prices["aple"]`, "KeyError", "Did you mean 'apple'?"},
		{`pd.read_csv("sales_2024.csv")`, "FileNotFoundError", "Did you mean 'sales 2024.csv'?"},
		{`pd.read_csv("/mnt/data/sales 2024.csv")`, "FileNotFoundError", "use the plain name"},
		{`import seaborn`, "ModuleNotFoundError", "Instead of seaborn use matplotlib"},
		{`from scipy import nonsense`, "ImportError", ""},
		{"def f(frame):\n    return frame['nme']\nf(df)", "KeyError", "Columns of frame"},
	} {
		got := exec1(t, s, c.code)
		if got.Error == nil {
			t.Errorf("%s: no error: %+v", c.code, got.Result)
			continue
		}
		if c.name != "" && got.Error.Name != c.name || !strings.Contains(got.Error.Hint, c.hint) {
			t.Errorf("%s: %s: %s: hint %q, want %q", c.code, got.Error.Name, got.Error.Message, got.Error.Hint, c.hint)
		}
		if strings.Count(got.Error.Trace, "\n") > 8 {
			t.Errorf("%s: long trace:\n%s", c.code, got.Error.Trace)
		}
	}
}
