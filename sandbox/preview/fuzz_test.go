package preview

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

func FuzzRead(f *testing.F) {
	for _, c := range loadCases(f) {
		f.Add(c.name, []byte(c.content))
	}
	f.Add("a.json", []byte(`{"a":[{"b":1,"c":[1]}],"d":null}`))
	f.Add("a.jsonl", []byte("{\"a\":1}\n{\"a\":\"x\"}\n"))
	f.Add("a.db", append([]byte("SQLite format 3\x00\x02\x00\x01\x01\x00"), make([]byte, 600)...))
	f.Add("a.zip", []byte("PK\x03\x04"))
	f.Fuzz(func(t *testing.T, name string, content []byte) {
		c, err := ReadAt(t.Context(), bytes.NewReader(content), int64(len(content)), name, "")
		if err != nil {
			t.Fatal(err)
		}
		if c.Kind == "" || len(c.Columns) > MaxColumns || len(c.Sample) > 3 {
			t.Errorf("%+v", c)
		}
		for _, budget := range []int{0, 200, 2000} {
			p := c.Prompt(budget)
			if utf8.RuneCountInString(p) > budget || strings.Contains(p, "```") || strings.Contains(p, "<|") || !utf8.ValidString(p) {
				t.Errorf("budget %d: %q", budget, p)
			}
			for _, r := range p {
				if r < ' ' && r != '\n' {
					t.Errorf("%q has a control character", p)
				}
			}
		}
		if b, err := c.marshal(); err != nil || len(b) > answerMax {
			t.Errorf("%d bytes of JSON, %v", len(b), err)
		}
	})
}
