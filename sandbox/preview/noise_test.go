package preview

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// noise is n bytes of which every value is as likely as any other.
func noise(seed, n int) string {
	r := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)})
	b := make([]byte, n)
	r.Read(b)
	return string(b)
}

// TestNoise: what a random generator, an encryption or a compression leaves is
// no table, whatever its name says.
func TestNoise(t *testing.T) {
	for _, size := range []int{200, 4000, 5000, 100_000} {
		seeds := 400
		if size > 10_000 {
			seeds = 40
		}
		for _, name := range []string{"x.csv", "x.txt", "x"} {
			for seed := range seeds {
				c := card(t, name, noise(seed, size))
				if c.Kind != Binary || c.Encoding != "" || len(c.Columns) != 0 || len(c.Problems) != 1 {
					t.Errorf("%s of %d bytes, seed %d: %s, %q, %d columns", name, size, seed, c.Kind, c.Encoding, len(c.Columns))
				}
			}
		}
	}
	c := card(t, "x.csv", noise(1, 4000))
	p := c.Prompt(4000)
	if !strings.Contains(p, "is not text: it has more control characters") {
		t.Errorf("the prompt does not say it: %s", p)
	}
	for i := range len(p) {
		if p[i] >= 0x7f || p[i] < ' ' && p[i] != '\n' {
			t.Fatalf("junk in the prompt: %q", p)
		}
	}
}

// TestNoNoise is the control: real tables in old encodings, short and long, and
// with the control characters that text does have.
func TestNoNoise(t *testing.T) {
	line := map[string]string{
		"cp1252":    "Köln;1;Überzahlung\r\n",
		"koi8-r":    "Москва;100;рост\n",
		"gb18030":   "北京,100,第一季度\n",
		"cp932":     "東京\t100\t増えた\n",
		"utf-16":    "東京\t100\t増えた\n",
		"utf-16-le": "Москва;100;рост\n",
		"utf-16-be": "München;2;schön\n",
	}
	for encode, text := range line {
		for _, n := range []int{1, 10, 300, 6000} {
			s := encoded(t, encode, strings.Repeat(text, n))
			if c := card(t, "x.csv", s); c.Kind != CSV && c.Kind != TSV || c.Encoding != encode {
				t.Errorf("%s, %d lines: %s, %s %v", encode, n, c.Kind, c.Encoding, c.Encodings)
			}
		}
	}
	de := encoded(t, "cp1252", "Köln;1;schön\n")
	for name, s := range map[string]string{
		"end mark of DOS":     de + "\x1a",
		"vertical tabs":       strings.Repeat(encoded(t, "cp1252", "Köln;a\vb\vc\vd;schön\n"), 50),
		"page breaks":         strings.Repeat(de+"\f", 50),
		"a slip":              strings.Repeat(de, 3) + "a\x01;\x02;b\n",
		"few in a large file": strings.Repeat(de, 400) + strings.Repeat("a\x01;1;b\n", 20),
	} {
		if c := card(t, "x.csv", s); c.Kind != CSV {
			t.Errorf("%s: %s: %v", name, c.Kind, c.Problems)
		}
	}
	// And a control of the generator: it does make every byte.
	seen := map[byte]bool{}
	for _, b := range []byte(noise(0, 100_000)) {
		seen[b] = true
	}
	if len(seen) != 256 {
		t.Error(fmt.Sprint(len(seen), " different bytes"))
	}
}
