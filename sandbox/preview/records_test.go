package preview

import (
	"encoding/csv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// What the standard library writes is read back, whatever is in the fields and
// however the input is cut.
func TestRecordsReadWhatCSVWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		delim := rapid.SampledFrom([]rune{',', ';', '\t', '|'}).Draw(t, "delim")
		field := rapid.StringOfN(rapid.SampledFrom([]rune("ab,;|\t\"\n 1é€")), 0, 8, -1)
		want := rapid.SliceOfN(rapid.SliceOfN(field, 2, 5), 1, 20).Draw(t, "rows")
		var b strings.Builder
		w := csv.NewWriter(&b)
		w.Comma = delim
		if err := w.WriteAll(want); err != nil {
			t.Fatal(err)
		}
		for _, byByte := range []bool{false, true} {
			in := strings.NewReader(b.String())
			r := newRecords(in, dialect{delim: byte(delim), quote: '"'}, MaxColumns)
			if byByte {
				r.src = iotest.OneByteReader(in)
			}
			var got [][]string
			line := int64(1)
			for {
				rec, ok := r.next()
				if !ok {
					break
				}
				if rec.line != line || rec.n != len(rec.fields) {
					t.Fatalf("line %d, want %d; %d fields, %d kept", rec.line, line, rec.n, len(rec.fields))
				}
				line += int64(rec.lines)
				var fields []string
				for _, f := range rec.fields {
					fields = append(fields, string(f))
				}
				got = append(got, fields)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("one byte at a time: %v\n%s\n%q", byByte, diff, b.String())
			}
		}
	})
}

// The quick count sees the same rows as the full reading.
func TestShapeAgreesWithNext(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOfN(rapid.SampledFrom([]rune("a1,,\"\n\n\r ")), 0, 60, -1).Draw(t, "text")
		width := rapid.IntRange(0, 3).Draw(t, "width")
		read := func(next func(*records) (record, bool)) (out [][4]int64) {
			r := newRecords(strings.NewReader(s), dialect{delim: ',', quote: '"'}, 0)
			r.width = width
			r.fill()
			for {
				rec, ok := next(r)
				if !ok {
					return out
				}
				flags := int64(0)
				if rec.blank {
					flags |= 1
				}
				if rec.runaway {
					flags |= 2
				}
				out = append(out, [4]int64{rec.line, int64(rec.lines), int64(rec.n), flags})
			}
		}
		if diff := cmp.Diff(read((*records).next), read((*records).shape)); diff != "" {
			t.Fatalf("%q: %s", s, diff)
		}
	})
}

// A literal is what Python reads back as the same text, and has nothing that
// could end a code block or a turn.
func TestLiteral(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"plain ü", `"plain ü"`},
		{`a"b\c`, `"a\"b\\c"`},
		{"<|im_end|>", `"\x3c|im_end|>"`},
		{"```", `"\x60\x60\x60"`},
		{"[INST] [1]", `"\x5bINST] [1]"`},
		{"\n\r\t\x00", `"\n\r\t\x00"`},
		{"\u202e\U000e0041", `"\u202e\U000e0041"`},
		{"\xff", `"\udcff"`},
	} {
		if got := literal(c.in); got != c.want {
			t.Errorf("literal(%q) = %s, want %s", c.in, got, c.want)
		}
	}
}
