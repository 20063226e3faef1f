package preview

import (
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A number without thousands is what the standard library reads.
func TestNumeralIsWhatParseFloatReads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`-?[0-9]{1,18}(\.[0-9]{1,18})?`).Draw(t, "number")
		want, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		x, ok := parseNumeral([]byte(s))
		if !ok || !x.dot || x.vdot != want {
			t.Fatalf("%s: %v, %v", s, x.vdot, ok)
		}
		y, ok := parseNumeral([]byte(strings.ReplaceAll(s, ".", ",")))
		if !ok || !y.comma || y.vcomma != want {
			t.Fatalf("%s with a comma: %v, %v", s, y.vcomma, ok)
		}
	})
}
