package agent

import (
	"encoding/json"
	"math"
	"regexp"
	"strconv"
	"strings"

	"atoll/storage"
)

var (
	number = regexp.MustCompile(`\d[\d,.' \x{00a0}\x{202f}]*\d|\d`)
	dotted = regexp.MustCompile(`^\d{1,4}\.\d{1,2}\.\d{1,4}$`) // a date; a version
)

// unsupported returns the numbers of an answer that none of the sources shows,
// not even before rounding. Small counts (up to ten) and years of the calendar
// are how people write, and pass.
func unsupported(answer, sources string) []string {
	var have []value
	for _, s := range numbers(sources) {
		have = append(have, readings(s)...)
	}
	var bad []string
	for _, s := range numbers(answer) {
		ok := false
		for _, v := range readings(s) {
			if v.n == math.Trunc(v.n) && (v.n <= 10 || v.n >= 1900 && v.n <= 2100) {
				ok = true
			}
			for _, h := range have {
				ok = ok || v.rounds(h.n)
			}
		}
		if !ok {
			bad = append(bad, s)
		}
	}
	return bad
}

// numbers returns the numbers written in s; a date is its three parts.
func numbers(s string) []string {
	var out []string
	for _, n := range number.FindAllString(s, -1) {
		n = strings.TrimRight(n, ",. '\u00a0\u202f")
		if dotted.MatchString(n) {
			out = append(out, strings.Split(n, ".")...)
			continue
		}
		out = append(out, n)
	}
	return out
}

// value is one reading of a written number.
type value struct {
	n        float64
	decimals int
}

// rounds reports whether v can be h rounded to v's decimals, or h as a
// percentage.
func (v value) rounds(h float64) bool {
	half := 0.5*math.Pow(10, -float64(v.decimals)) + 1e-9*math.Abs(v.n)
	return math.Abs(v.n-h) <= half || math.Abs(v.n-100*h) <= half
}

// readings returns what a written number can mean: 1,234.5 and 1.234,5 are the
// same, 1,234 is a thousand or a decimal.
func readings(s string) []value {
	s = strings.NewReplacer(" ", "", "\u00a0", "", "\u202f", "", "'", "").Replace(s)
	var out []value
	for _, c := range [][2]string{{",", "."}, {".", ","}} { // thousands mark, decimal mark
		t := strings.ReplaceAll(strings.ReplaceAll(s, c[0], ""), c[1], ".")
		n, err := strconv.ParseFloat(t, 64)
		if err != nil {
			continue
		}
		v := value{n: n}
		if i := strings.IndexByte(t, '.'); i >= 0 {
			v.decimals = len(t) - i - 1
		}
		out = append(out, v)
	}
	return out
}

// sources is all text that numbers of an answer may come from.
func sources(branch []storage.Entry) string {
	var b strings.Builder
	for _, e := range branch {
		switch e.Kind {
		case storage.UserSaid:
			var u storage.User
			if json.Unmarshal(e.Body, &u) == nil {
				b.WriteString(userText(u) + "\n")
			}
		case storage.CallEnded:
			var r storage.Result
			if json.Unmarshal(e.Body, &r) == nil {
				b.WriteString(outputText(r) + "\n")
			}
		case storage.AssistantSaid: // the constants of the code that ran
			var a storage.Assistant
			if json.Unmarshal(e.Body, &a) == nil {
				for _, c := range a.Calls {
					b.WriteString(c.Code + "\n")
				}
			}
		}
	}
	return b.String()
}
