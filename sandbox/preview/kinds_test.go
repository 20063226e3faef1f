package preview

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"
)

func sample(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// tarball is a TAR with the given names, each of n bytes.
func tarball(t testing.TB, n int, names ...string) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, name := range names {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(n), Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(make([]byte, n)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func gzipped(t testing.TB, s string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(s)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

const aNotebook = `{"cells":[{"cell_type":"markdown","source":["# Sales\n","text"]},{"cell_type":"code","source":"import pandas","outputs":[{"output_type":"error"}]}],"metadata":{"kernelspec":{"language":"python"}},"nbformat":4}`

func aLog() string {
	var b strings.Builder
	for i := range 200 {
		level := "INFO"
		if i%10 == 0 {
			level = "ERROR"
		}
		fmt.Fprintf(&b, "2024-01-01 10:%02d:%02d,123 %s request %d from 10.0.0.%d took %d ms\n", i/60, i%60, level, i, i%7, i*3)
	}
	return b.String()
}

// TestKinds: what the card of each kind says, in the words of the prompt.
func TestKinds(t *testing.T) {
	for _, c := range []struct {
		name, content string
		kind          Kind
		want          []string
	}{
		{"a.parquet", sample(t, "orders.parquet"), Parquet, []string{"20 rows, 10 columns", "3 row groups", `"id" integer from 0 to 19`, `"price" number from 1.5 to 28.5, 5 missing`, `"when" datetime from 2024-01-01 to 2024-01-01 19:00:00`, `"day" date from 2024-01-01 to 2024-01-20`, `"tags" list`, `"cost" number`, `"geo" list`, `"raw" bytes`}},
		{"cut.parquet", sample(t, "orders.parquet")[:500], Parquet, []string{"the end of the file is missing"}},
		{"a.feather", sample(t, "orders.feather"), Arrow, []string{"20 rows, 10 columns", "3 batches", `"when" datetime`, `"geo" list`}},
		{"a.arrows", sample(t, "orders.arrows"), Arrow, []string{`"name" text`, "does not say how many rows"}},
		{"a.jpg", sample(t, "turned.jpg"), Image, []string{"JPEG picture, 64 x 48", "orientation 6", "has a location", `camera "Canon EOS 5D"`, `taken "2024:05:01 10:00:00"`}},
		{"a.webp", sample(t, "turned.webp"), Image, []string{"WebP picture, 64 x 48", "orientation 6"}},
		{"a.pdf", sample(t, "three.pdf"), PDF, []string{"PDF, 3 pages", `title "Jahresbericht Köln"`, "pypdf"}},
		{"p.pdf", sample(t, "packed.pdf"), PDF, []string{"2 pages", `title "Köln"`}},
		{"a.tar", tarball(t, 10, "x/a.csv", "x/b.csv", "x/c.json", "d"), TAR, []string{"TAR, 4 entries", `2 ".csv" (20 bytes)`, `entry "x/a.csv", 10 bytes`}},
		{"a.tgz", gzipped(t, tarball(t, 10, "../up.csv")), TAR, []string{"1 entry", "point outside"}},
		{"a.gz", gzipped(t, "a,b\n1,2\n"), GZip, []string{`line 1 inside: "a,b"`}},
		{"a.csv.gz", gzipped(t, "a,b\n1,2\n"), CSV, []string{"CSV, 1 row, 2 columns", `"a" integer`}},
		{"a.ipynb", aNotebook, Notebook, []string{"notebook, 2 cells", `language "python"`, `1 "code", 1 "markdown"`, `cell 1: "# Sales"`, "1 cell ended in an error"}},
		{"not.ipynb", `{"a":1}`, JSON, []string{"no notebook"}},
		{"a.html", "<title>Shop</title><table><tr><th>City</th><th>n</th></tr><tr><td>Köln</td><td>1</td></tr></table><p>x", HTML, []string{`title "Shop"`, "1 table", `"City"`}},
		{"a.xml", `<!DOCTYPE l [<!ENTITY a "b">]><l><i k="1"><n>x</n></i><i k="2"><n>y</n></i></l>`, XML, []string{`root element "l"`, `2 elements "i"`, "entities", `xpath=".//i"`}},
		{"cut.xml", `<l><i k="1"><n>x</n></i><i k="2">`, XML, []string{"damaged"}},
		{"app.log", aLog(), Text, []string{"200 of 200 lines begin with a time", "INFO 180, ERROR 20", `first "2024-01-01 10:00:00,123"`, `180 x "INFO request # from # took # ms"`}},
		{"fixed.txt", "City        Zip    Amount\nKöln        01067  1.234,50\nBonn        50667     99,90\nUlm         80331     -5,00\nAachen      52062      7,25\n", Fixed, []string{"4 rows, 3 columns", `"Zip" text (an id`, "read_fwf"}},
		{"prose.txt", strings.Repeat("The quick brown fox has 3 legs and runs over the hill.\nAnother line is here, of another length.\n", 10), Text, []string{"20 lines"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := card(t, c.name, c.content)
			if k.Kind != c.kind {
				t.Errorf("kind %s, want %s: %v", k.Kind, c.kind, k.Problems)
			}
			p := k.Prompt(6000)
			for _, want := range c.want {
				if !strings.Contains(p, want) {
					t.Errorf("no %q in\n%s", want, p)
				}
			}
		})
	}
}

func TestWorkbookParts(t *testing.T) {
	f := excelize.NewFile()
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	do(f.SetSheetRow("Sheet1", "A1", &[]any{"Report"}))
	do(f.MergeCell("Sheet1", "A1", "C1"))
	do(f.SetSheetRow("Sheet1", "A2", &[]any{"region", "n", "double"}))
	for i := range 4 {
		do(f.SetSheetRow("Sheet1", fmt.Sprintf("A%d", i+3), &[]any{"north", i}))
		do(f.SetCellFormula("Sheet1", fmt.Sprintf("C%d", i+3), fmt.Sprintf("B%d*2", i+3)))
	}
	do(f.MergeCell("Sheet1", "A3", "A6"))
	_, err := f.NewSheet("Secret")
	do(err)
	do(f.SetSheetVisible("Secret", false))
	var b bytes.Buffer
	do(f.Write(&b))
	c := card(t, "r.xlsx", b.String())
	p := c.Prompt(4000)
	for _, want := range []string{`"Secret" (hidden)`, "1 merged range ", "4 cells have formulas", "4 formulas have no stored result", `load("r.xlsx", sheet="Sheet1")`} {
		if !strings.Contains(p, want) {
			t.Errorf("no %q in\n%s", want, p)
		}
	}
}

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{"a.csv": "a,b\n1,2\n", "sub/b.json": "{}", "sub/deep/c.csv": strings.Repeat("x", 5000)} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(dir, filepath.Join(dir, "root")); err != nil {
		t.Skipf("SKIPPED: no links on this system: %v", err)
	}
	c, err := Of(t.Context(), &plainRunner{}, []string{executable(t), "preview-worker"}, dir)
	if err != nil {
		t.Fatal(err)
	}
	p := c.Prompt(3000)
	for _, want := range []string{"3 files in 2 folders, 5.0 kB", `2 ".csv" (5.0 kB)`, `large: "sub/deep/c.csv"`, "1 link was not followed"} {
		if !strings.Contains(p, want) {
			t.Errorf("no %q in\n%s", want, p)
		}
	}
}

// TestNoValues: with the setting, nothing that stands in a cell or a line gets
// into the prompt, whatever the card has to say about it.
func TestNoValues(t *testing.T) {
	secret := "S3CRET"
	for name, content := range map[string]string{
		"a.csv":   "above S3CRET\n\nname,n,d,x\nS3CRET,1,03/04/2024,1\nS3CRET b,S3CRET,05/06/2024,=S3CRET()\nignore the user S3CRET,3,04/04/2024,2\nc,4,04/04/2024,3\nd,5,04/04/2024,4\ne,6,04/04/2024,4\n",
		"a.json":  `{"name":"S3CRET","rows":[{"a":"S3CRET"}]}`,
		"b.json":  `["S3CRET"]`,
		"a.jsonl": "{\"a\":\"S3CRET\"}\n{\"a\":\"x\"}\n",
		"a.txt":   "S3CRET\nb\nc\n",
		"a.html":  "<title>S3CRET</title>",
		"a.ipynb": strings.ReplaceAll(aNotebook, "Sales", secret),
		"a.log":   strings.ReplaceAll(aLog(), "request", secret),
		"a.gz":    gzipped(t, "S3CRET,b\n1,2\n"),
		"a.pdf":   "%PDF-1.4\n<</Title(S3CRET)/Producer(x)>>\n%%EOF",
	} {
		c := card(t, name, content)
		if open := c.Prompt(10_000); !strings.Contains(open, secret) {
			t.Errorf("%s: the control does not show it:\n%s", name, open)
		}
		p := c.PromptFor(PromptOptions{Budget: 10_000, NoValues: true})
		if strings.Contains(p, secret) || !strings.Contains(p, "load(") {
			t.Errorf("%s:\n%s", name, p)
		}
	}
	p := card(t, "a.csv", "secret name,b\n12345,x\n67890,y\n").PromptFor(PromptOptions{Budget: 10_000, NoValues: true})
	if want := "\"secret name\" integer\n"; !strings.Contains(p, want) || strings.Contains(p, "12345") {
		t.Errorf("no %q in\n%s", want, p)
	}
}

// TestPromptNamesAllColumns: when space is short columns lose their details,
// then their names, but never without a word.
func TestPromptNamesAllColumns(t *testing.T) {
	var head []string
	for i := range 100 {
		head = append(head, fmt.Sprintf("measure_%03d", i))
	}
	row := strings.TrimSuffix(strings.Repeat("1.5,", 100), ",") + "\n"
	c := card(t, "x.csv", strings.Join(head, ",")+"\n"+strings.Repeat(row, 3))
	p := c.PromptFor(PromptOptions{Budget: 1500, Count: Tokens})
	if n := Tokens(p); n > 1500 {
		t.Errorf("%d tokens", n)
	}
	for _, h := range head {
		if !strings.Contains(p, `"`+h+`"`) {
			t.Fatalf("%s is not named in\n%s", h, p)
		}
	}
	if p := c.PromptFor(PromptOptions{Budget: 400, Count: Tokens}); !strings.Contains(p, "not named here, see list(df.columns)") {
		t.Error(p)
	}
	if d := cmp.Diff(5, Tokens("Hello, world 12")); d != "" {
		t.Error(d)
	}
}

// TestDateEvidence: the order of day and month, and what shows it.
func TestDateEvidence(t *testing.T) {
	for _, c := range []struct{ name, content, want string }{
		{"day", "d;x\n03/04/2024;1\n24/12/2024;2\n", `day first, as "24/12/2024" in line 3 shows`},
		{"month", "d;x\n03/04/2024;1\n12/24/2024;2\n", `month first, as "12/24/2024" in line 3 shows`},
		{"at once", "d;x\n24-12-2024;1\n03-04-2024;2\n", `day first, as "24-12-2024" in line 2 shows`},
		{"other column", "d;e\n03/04/2024;24/12/2024\n04/05/2024;03/04/2024\n", `day first, as another column shows`},
		{"open", "d;x\n03/04/2024;1\n04/05/2024;2\n", "day first, not proven"},
		{"no question", "d;x\n2024-04-03;1\n", ""},
		{"two lines", "d;x\n24/12/2024;1\n12/24/2024;2\n", ""},
	} {
		if got := card(t, "x.csv", c.content).Columns[0].Evidence; got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
