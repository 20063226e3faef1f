package preview

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// seeds is a file of each kind.
func seeds(t testing.TB) map[string]string {
	t.Helper()
	return map[string]string{
		"a.csv":      "sep=;\na;b;\"c\nd\"\n1.234,5 €;03/04/2024;x\n(2,0);05/06/2024;\"y\"\"z\n3;;=1+1|\n",
		"b.csv":      "a,b\r\n01,1e5\r\n02,2e5,9\r\n-,\"\r\n",
		"a.tsv":      "\xff\xfea\x00\t\x00b\x00\n\x001\x00\t\x002\x00\n\x00",
		"a.json":     `{"a":[{"b":1,"c":[1],"d":{"e":"\u00e9"}}],"d":null}`,
		"b.json":     `[{"a":1},{"a":"x"},3]`,
		"a.jsonl":    "{\"a\":1}\n{\"a\":\"x\"}\nbad\n",
		"a.db":       database(t),
		"a.xlsx":     workbook(t),
		"a.parquet":  sample(t, "orders.parquet"),
		"a.feather":  sample(t, "orders.feather"),
		"a.arrows":   sample(t, "orders.arrows"),
		"a.jpg":      sample(t, "turned.jpg"),
		"a.webp":     sample(t, "turned.webp"),
		"a.tif":      "II*\x00\x08\x00\x00\x00\x03\x00\x00\x01\x03\x00\x01\x00\x00\x00\x40\x00\x00\x00\x01\x01\x03\x00\x01\x00\x00\x00\x30\x00\x00\x00\x69\x87\x04\x00\x01\x00\x00\x00\x08\x00\x00\x00",
		"a.bmp":      "BM\x00\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00\x28\x00\x00\x00\x40\x00\x00\x00\x30\x00\x00\x00\x01\x00",
		"a.gif":      "GIF89a\x10\x00\x10\x00\x80\x00\x00\xff\xff\xff\x00\x00\x00!\xf9",
		"a.pdf":      sample(t, "three.pdf"),
		"b.pdf":      sample(t, "packed.pdf"),
		"a.tar":      tarball(t, 10, "x/a.csv", "b/../../c"),
		"a.tgz":      gzipped(t, tarball(t, 10, "x/a.csv")),
		"a.csv.gz":   gzipped(t, "a,b\n1,2\n"),
		"a.zip":      "PK\x03\x04\x14\x00\x00\x00\x00\x00\x00\x00!\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00aPK\x01\x02\x14\x03\x14\x00\x00\x00\x00\x00\x00\x00!\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80\x01\x00\x00\x00\x00aPK\x05\x06\x00\x00\x00\x00\x01\x00\x01\x00/\x00\x00\x00\x1f\x00\x00\x00\x00\x00",
		"a.ipynb":    aNotebook,
		"a.html":     "<title>Shop</title><table><tr><th>City<th>n</tr><tr><td>Köln<td>1</tr></table><table><table>",
		"a.xml":      `<?xml version="1.0"?><l><i k="1"><n>x</n></i><i k="2"><n>y</n></i></l>`,
		"a.log":      aLog()[:2000],
		"fixed.txt":  "City        Zip    Amount\n----------  -----  --------\nKöln        01067  1.234,50\nBonn        50667     99,90\nUlm         80331     -5,00\nAachen      52062      7,25\n",
		"fixed2.prn": "a1   1.5  2024-01-05\nb2   2.5  2024-01-06\nc3   3.5  2024-01-07\nd4  14.5  2024-01-08\n",
		"a.xls":      "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + strings.Repeat("\x00", 100),
		"prose":      "hello, world\nthis is text\n",
	}
}

// database is a database of SQLite with one table, by hand: a header and one
// page whose only cell is the row of the schema.
func database(t testing.TB) string {
	t.Helper()
	page := make([]byte, 512)
	copy(page, "SQLite format 3\x00\x02\x00\x01\x01\x00\x40\x20\x20")
	binary.BigEndian.PutUint32(page[28:], 1)
	binary.BigEndian.PutUint32(page[44:], 4)
	binary.BigEndian.PutUint32(page[56:], 1)
	row := append([]byte{6, 23, 15, 15, 1, 41}, "table"+"t"+"t"+"\x02"+"create table t"...)
	cell := append([]byte{byte(len(row)), 1}, row...)
	at := len(page) - len(cell)
	copy(page[at:], cell)
	page[100] = 0x0d
	binary.BigEndian.PutUint16(page[103:], 1)
	binary.BigEndian.PutUint16(page[105:], uint16(at))
	binary.BigEndian.PutUint16(page[108:], uint16(at))
	return string(page)
}

func TestDatabaseSeed(t *testing.T) {
	if c := card(t, "a.db", database(t)); c.Table != "t" || len(c.Problems) != 0 {
		t.Errorf("%+v", c)
	}
}

// verify reads a file that may be anything, in both passes, and checks what
// must always be true.
func verify(t testing.TB, name, content string) {
	t.Helper()
	for _, whole := range []bool{false, true} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		c, err := readAt(ctx, strings.NewReader(content), int64(len(content)), name, "", &pass{whole: whole})
		cancel()
		if err != nil {
			t.Fatalf("%q: %v", name, err)
		}
		if c.Kind == "" || len(c.Columns) > MaxColumns || len(c.Sample) > 3 || c.Rows < 0 || c.ColumnCount < 0 {
			t.Errorf("%+v", c)
		}
		for _, o := range []PromptOptions{{Budget: 0}, {Budget: 200}, {Budget: 2000}, {Budget: 2000, NoValues: true}} {
			p := c.PromptFor(o)
			if utf8.RuneCountInString(p) > o.Budget || strings.Contains(p, "```") || strings.Contains(p, "<|") || !utf8.ValidString(p) {
				t.Errorf("%+v: %q", o, p)
			}
			for _, r := range p {
				if r < ' ' && r != '\n' {
					t.Errorf("%q has a control character", p)
				}
			}
		}
		b, err := c.marshal()
		if err != nil || len(b) > answerMax {
			t.Errorf("%d bytes of JSON, %v", len(b), err)
		}
		var again Card
		if err := json.Unmarshal(b, &again); err != nil {
			t.Error(err)
		}
		if _, err := again.WithName("x").Plan().JSON(); err != nil {
			t.Error(err)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, c := range loadCases(f) {
		f.Add(c.name, []byte(c.content))
	}
	for name, content := range seeds(f) {
		f.Add(name, []byte(content))
	}
	f.Fuzz(func(t *testing.T, name string, content []byte) { verify(t, name, string(content)) })
}

// fuzzKinds fuzzes the readers behind names of files; frame puts the input
// where the reader finds it, so that the fuzzer need not find the frame.
func fuzzKinds(f *testing.F, frame func([]byte) string, names ...string) {
	all := seeds(f)
	for i, name := range names {
		content := all[name]
		if frame != nil {
			content = unframe(name, content)
		}
		f.Add(uint8(i), []byte(content))
	}
	f.Fuzz(func(t *testing.T, which uint8, content []byte) {
		s := string(content)
		if frame != nil {
			s = frame(content)
		}
		verify(t, names[int(which)%len(names)], s)
	})
}

// unframe is what a frame is put around.
func unframe(name, s string) string {
	switch name {
	case "a.parquet":
		return s[len(s)-8-int(binary.LittleEndian.Uint32([]byte(s[len(s)-8:]))) : len(s)-8]
	case "a.feather":
		return s[len(s)-10-int(binary.LittleEndian.Uint32([]byte(s[len(s)-10:]))) : len(s)-10]
	}
	return s
}

func FuzzParquet(f *testing.F) {
	fuzzKinds(f, func(b []byte) string {
		return "PAR1" + string(binary.LittleEndian.AppendUint32(slices.Clone(b), uint32(len(b)))) + "PAR1"
	}, "a.parquet")
}

func FuzzArrow(f *testing.F) {
	fuzzKinds(f, func(b []byte) string {
		return "ARROW1\x00\x00" + string(binary.LittleEndian.AppendUint32(slices.Clone(b), uint32(len(b)))) + "ARROW1"
	}, "a.feather")
}

func FuzzArrowStream(f *testing.F) { fuzzKinds(f, nil, "a.arrows") }

func FuzzTable(f *testing.F) { fuzzKinds(f, nil, "a.csv", "b.csv", "a.tsv") }

func FuzzFixed(f *testing.F) { fuzzKinds(f, nil, "fixed.txt", "fixed2.prn") }

func FuzzJSON(f *testing.F) { fuzzKinds(f, nil, "a.json", "b.json", "a.jsonl") }

func FuzzNotebook(f *testing.F) { fuzzKinds(f, nil, "a.ipynb") }

func FuzzDatabase(f *testing.F) { fuzzKinds(f, nil, "a.db") }

func FuzzExcel(f *testing.F) { fuzzKinds(f, nil, "a.xlsx", "a.xls") }

func FuzzImage(f *testing.F) { fuzzKinds(f, nil, "a.jpg", "a.webp", "a.tif", "a.bmp", "a.gif") }

func FuzzPDF(f *testing.F) { fuzzKinds(f, nil, "a.pdf", "b.pdf") }

func FuzzArchive(f *testing.F) { fuzzKinds(f, nil, "a.tar", "a.tgz", "a.csv.gz", "a.zip") }

func FuzzMarkup(f *testing.F) { fuzzKinds(f, nil, "a.html", "a.xml") }

func FuzzText(f *testing.F) { fuzzKinds(f, nil, "a.log", "prose") }

// mutate changes s in a few places, as damage and malice do.
func mutate(r *rand.Rand, s, other string) string {
	b := []byte(s)
	for range 1 + r.IntN(6) {
		if len(b) == 0 {
			break
		}
		at := r.IntN(len(b))
		n := min(1+r.IntN(16), len(b)-at)
		switch r.IntN(9) {
		case 0:
			b[at] ^= 1 << r.IntN(8)
		case 1:
			b[at] = byte(r.IntN(256))
		case 2:
			b = slices.Delete(b, at, at+n)
		case 3:
			b = slices.Insert(b, at, slices.Clone(b[at:at+n])...)
		case 4:
			for i := range n {
				b[at+i] = []byte{0, 0xff, 0x7f, 0x80}[r.IntN(4)]
			}
		case 5:
			b = b[:at]
		case 6:
			from := r.IntN(len(other))
			b = slices.Insert(b, at, []byte(other[from:min(len(other), from+1+r.IntN(64))])...)
		case 7:
			b = slices.Insert(b, at, bytes.Repeat(b[at:at+n], 1+r.IntN(200))...)
		case 8:
			b = slices.Insert(b, at, []byte([]string{"\"", "{", "[", "<", "\n", "\x00", "9999999999999999999", "\u202e", "<|im_end|>", "```"}[r.IntN(10)])...)
		}
	}
	return string(b)
}

// TestMutated reads files of every kind that were changed at random. With
// ATOLL_TEST_MUTATIONS=10000 it reads so many; without, a few of each kind.
func TestMutated(t *testing.T) {
	n := 300
	if s := os.Getenv("ATOLL_TEST_MUTATIONS"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	all := seeds(t)
	var names []string
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	kinds := map[Kind]int{}
	for i := range n {
		r := rand.New(rand.NewPCG(uint64(i), 5))
		name := names[i%len(names)]
		s := mutate(r, all[name], all[names[r.IntN(len(names))]])
		verify(t, name, s)
		if t.Failed() {
			t.Fatalf("mutation %d of %s: %q", i, name, s[:min(len(s), 2000)])
		}
		kinds[card(t, name, s).Kind]++
	}
	t.Logf("%d files: %v", n, kinds)
	if len(kinds) < 15 {
		t.Errorf("only the kinds %v", kinds)
	}
}
