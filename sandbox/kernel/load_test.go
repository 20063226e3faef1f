//go:build unix

package kernel

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atoll/sandbox/preview"
)

// carded writes files into the workspace and makes the plans of those that
// have a card.
func carded(t *testing.T, dir string, files map[string]string) (plans []json.RawMessage) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		card, err := preview.Read(t.Context(), path, "")
		if err != nil {
			t.Fatal(err)
		}
		b, err := card.Plan().JSON()
		if err != nil {
			t.Fatal(err)
		}
		plans = append(plans, b)
	}
	return plans
}

// deep is a table so large that its card is made from samples, with a word
// among the numbers where no sample looks.
func deep() string {
	b := []byte("n,pad\n")
	for i := 0; len(b) < 9<<20; i++ {
		v := "12"
		if i == 59_000 {
			v = "oops"
		}
		b = append(b, v+","+strings.Repeat("x", 70)+"\n"...)
	}
	return string(b)
}

// TestLoad: load() is right where read_csv is wrong, and says what it did.
func TestLoad(t *testing.T) {
	needLibraries(t)
	o := options(t)
	plans := carded(t, o.Dir, map[string]string{
		"sales.csv":   "Bericht 2024\n\nStadt;PLZ;Tag;Preis\nK\xf6ln;01067;03.04.2024;1.234,50 \x80\nM\xe1laga;50667;24.12.2024;99,90 \x80\n",
		"odd.csv":     "a,b\n1,2\n3,4,5\n6,7\n",
		"r.jsonl":     "{\"a\":{\"b\":1}}\n{\"a\":{\"b\":2}}\n",
		"deep.csv":    deep(),
		"notes.txt":   "hello\nworld\n",
		"n.ipynb":     `{"cells":[{"cell_type":"code","source":["a = 1\n","a"]}]}`,
		"t.xml":       "<l><i><a>1</a><b>x</b></i><i><a>2</a><b>y</b></i></l>",
		"t.html":      "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>x</td></tr><tr><td>2</td><td>y</td></tr></table>",
		"f.txt":       "City        Zip    Amount\nKöln        01067  1.234,50\nBonn        50667     99,90\nUlm         80331     -5,00\nAachen      52062      7,25\n",
		"nested.json": `{"meta":1,"rows":[{"a":1},{"a":2}]}`,
	})
	o.Plans = func() []json.RawMessage { return plans }
	s := open(t, o)
	for _, c := range []struct{ name, code, value, text string }{
		{"types", `df = load("sales.csv"); [str(d)[:8] for d in df.dtypes]`, "['object', 'object', 'datetime', 'float64']", `kept as text: "PLZ"`},
		{"values", `df["Preis"].sum().item(), df["PLZ"][0], df["Stadt"][0], df["Tag"][0].month`, "(1334.4, '01067', 'Köln', 4)", ""},
		{"told once", `len(load("sales.csv"))`, "2", ""},
		{"by path", `len(load("./sales.csv")), len(load(os.path.abspath("sales.csv")))`, "(2, 2)", ""},
		{"options", `list(load("sales.csv", usecols=["PLZ", "Stadt"], nrows=1).columns)`, "['Stadt', 'PLZ']", ""},
		{"bad rows", `len(load("odd.csv"))`, "2", "rows with too many fields are left out"},
		{"records", `load("r.jsonl")["a.b"].sum().item()`, "3", ""},
		{"text", `load("notes.txt")`, `'hello\nworld\n'`, ""},
		{"made by code", `open("own.csv", "w").write("id;x\n007;1,5\n008;2,5\n"); d = load("own.csv"); d["x"].sum().item(), d["id"][0]`, "(4.0, '007')", "a guess, for the file has no card"},
		{"changed since", `open("odd.csv", "w").write("k;v\n1;2\n"); list(load("odd.csv").columns)`, "['k', 'v']", "a guess"},
		{"all as text", `d = load("sales.csv", dtype=str); d["Preis"][0]`, "'1.234,50 €'", ""},
		{"chunks", `sum(p["Preis"].sum() for p in load("sales.csv", chunksize=1)).item()`, "1334.4", ""},
		{"beyond the sample", `d = load("deep.csv"); d["n"].dtype.kind`, "'O'", "'n' stays text: 1 values are no numbers, such as 'oops'"},
		{"sheets", `import pandas as pd
with pd.ExcelWriter("b.xlsx") as w:
    pd.DataFrame({"a": [1, 2]}).to_excel(w, sheet_name="one", index=False)
    pd.DataFrame({"b": [3]}).to_excel(w, sheet_name="two", index=False, startrow=2)
len(load("b.xlsx")), load("b.xlsx", sheet="two")["b"][0].item(), list(load("b.xlsx", sheet="*"))`, "(2, 3, ['one', 'two'])", "'one' of 2"},
		{"tables", `import sqlite3
c = sqlite3.connect("d.db"); c.execute("create table t (a)"); c.execute("insert into t values (5)"); c.commit(); c.close()
load("d.db")["a"][0].item()`, "5", ""},
		{"parquet", `pd.DataFrame({"a": [1]}).to_parquet("p.parquet"); len(load("p.parquet"))`, "1", ""},
		{"feather", `pd.DataFrame({"a": [1]}).to_feather("p.feather"); len(load("p.feather"))`, "1", ""},
		{"notebook", `load("n.ipynb")`, `[('code', 'a = 1\na')]`, ""},
		{"elements", `load("t.xml")["a"].sum().item()`, "3", ""},
		{"page", `load("t.html")["a"].sum().item()`, "3", ""},
		{"fixed width", `d = load("f.txt"); d["Zip"][0], d["Amount"].sum().item()`, "('01067', 1336.65)", `kept as text: "Zip"`},
		{"records under a key", `load("nested.json")["a"].sum().item()`, "3", `the records under "rows"`},
		{"archives", `import zipfile, tarfile, gzip
with zipfile.ZipFile("z.zip", "w") as z: z.write("notes.txt")
with tarfile.open("z.tar.gz", "w:gz") as t: t.add("notes.txt")
with gzip.open("z.gz", "wt") as g: g.write("x")
load("z.zip"), load("z.tar.gz"), load("z.gz")`, "(['notes.txt'], ['notes.txt'], 'x')", ""},
		{"picture", `import matplotlib.pyplot as plt
plt.figure(); plt.savefig("p.png"); plt.close(); load("p.png").format`, "'PNG'", ""},
		{"pdf", `import pypdf
w = pypdf.PdfWriter(); w.add_blank_page(99, 99); w.write("p.pdf"); load("p.pdf").strip()`, "''", "the PDF has no text"},
		{"a value that does not fit", `open("v.csv", "w").write("a;b\n1,5;x\n2,5;y\n"); load("v.csv", dtype={"a": str})["a"][0]`, "'1,5'", "a guess"},
		{"a folder", `os.mkdir("sub"); load("sub")`, "[]", ""},
		{"no variable", `"load" in [k for k in globals() if not k.startswith("_")], callable(load)`, "(True, True)", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := exec1(t, s, "import os\n"+c.code)
			if got.Status != OK || got.Value != c.value || !strings.Contains(got.text, c.text) {
				t.Errorf("%+v: %s", got.Result, got.text)
			}
			if got.Error != nil {
				t.Error(got.Error.Trace)
			}
			if c.text == "" && strings.Contains(got.text, "load(") {
				t.Errorf("says something: %s", got.text)
			}
		})
	}
	if got := exec1(t, s, `load("sale.csv")`); got.Error == nil || got.Error.Name != "FileNotFoundError" || !strings.Contains(got.Error.Hint, `sales.csv`) || strings.Contains(got.Error.Trace, "<kernel>") {
		t.Errorf("%+v", got.Error)
	}
	// A new interpreter knows the plans again, and new ones are sent.
	exec1(t, s, "import os; os._exit(1)")
	plans = append(append([]json.RawMessage(nil), plans...), carded(t, o.Dir, map[string]string{"new.csv": "a;b\n01;2\n"})...)
	if got := exec1(t, s, `load("new.csv")["a"][0], len(load("sales.csv"))`); got.Value != "('01', 2)" {
		t.Errorf("%+v: %s", got.Result, got.text)
	}
}
