package agent

import (
	"encoding/json"
	"math"
	"regexp"
	"strconv"
	"strings"

	"atoll/storage"
)

var number = regexp.MustCompile(`\d[\d,.' \x{00a0}\x{202f}]*\d|\d`)

// unsupported returns the numbers of an answer that none of the sources shows,
// not even before rounding. Small counts (up to ten) and years of the calendar
// are how people write, and pass.
func unsupported(answer, sources string) []string {
	have := values(sources)
	var bad []string
	for _, s := range number.FindAllString(answer, -1) {
		ok := false
		for _, v := range readings(s) {
			if v == math.Trunc(v) && (v <= 10 || v >= 1900 && v <= 2100) {
				ok = true
			}
			for _, h := range have {
				ok = ok || matches(v, decimals(s), h)
			}
		}
		if !ok {
			bad = append(bad, strings.TrimSpace(s))
		}
	}
	return bad
}

// matches reports whether v, written with d decimals, can be h rounded, or h
// as a percentage.
func matches(v float64, d int, h float64) bool {
	half := 0.5*math.Pow(10, -float64(d)) + 1e-9*math.Abs(v)
	return math.Abs(v-h) <= half || math.Abs(v-100*h) <= half || math.Abs(v-math.Abs(h)) <= half
}

func values(s string) []float64 {
	var vs []float64
	for _, n := range number.FindAllString(s, -1) {
		vs = append(vs, readings(n)...)
	}
	return vs
}

// readings returns what a written number can mean: 1,234.5 and 1.234,5 are the
// same, 1,234 is a thousand or a decimal.
func readings(s string) []float64 {
	s = strings.NewReplacer(" ", "", "\u00a0", "", "\u202f", "", "'", "").Replace(strings.TrimRight(s, ",. '"))
	var out []float64
	for _, dot := range []bool{true, false} {
		t := strings.ReplaceAll(s, ",", "")
		if !dot {
			t = strings.ReplaceAll(strings.ReplaceAll(s, ".", ""), ",", ".")
		}
		if v, err := strconv.ParseFloat(t, 64); err == nil {
			out = append(out, v)
		}
	}
	if len(out) == 0 { // several points: a date or a version; its parts count
		for _, part := range strings.FieldsFunc(s, func(r rune) bool { return r == '.' || r == ',' }) {
			if v, err := strconv.ParseFloat(part, 64); err == nil {
				out = append(out, v)
			}
		}
	}
	return out
}

// decimals returns how many digits follow the last separator, if that can be
// a decimal one.
func decimals(s string) int {
	i := strings.LastIndexAny(s, ".,")
	if i < 0 || len(s)-i-1 == 3 && strings.ContainsAny(s[:i], ".,") {
		return 0
	}
	return len(strings.TrimRight(s[i+1:], " '"))
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
