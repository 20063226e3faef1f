package preview

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// The quick reading of dates is the standard library's, wherever it is sure.
func TestQuickDatesAgree(t *testing.T) {
	all := layouts()
	sure := 0
	check := func(t interface {
		Helper()
		Fatalf(string, ...any)
	}, l layout, s string,
	) {
		t.Helper()
		if l.steps == nil || strings.Contains(l.python, "%y") && strings.ContainsAny(s, "-+") {
			return // the standard library takes "-0" for a year of two digits
		}
		got, ok, known := quick(l.steps, s)
		if !known {
			return
		}
		sure++
		want, err := time.Parse(l.layouts[0], s)
		if ok != (err == nil) || ok && !got.Equal(want) {
			t.Fatalf("%q as %s: %v %v, want %v %v", s, l.python, got, ok, want, err)
		}
	}
	for _, l := range all {
		for _, day := range []time.Time{time.Date(2024, 2, 29, 23, 59, 58, 0, time.UTC), time.Date(1968, 12, 1, 0, 0, 0, 0, time.UTC)} {
			for _, m := range all {
				check(t, l, day.Format(m.layouts[0]))
			}
		}
		check(t, l, "2023-02-29")
		check(t, l, "31.04.2024 24:00")
	}
	rapid.Check(t, func(t *rapid.T) {
		l := rapid.SampledFrom(all).Draw(t, "layout")
		s := time.Unix(rapid.Int64Range(-3e9, 4e9).Draw(t, "time"), 0).UTC().Format(l.layouts[0])
		b := []byte(s)
		for range rapid.IntRange(0, 2).Draw(t, "changes") {
			b[rapid.IntRange(0, len(b)-1).Draw(t, "at")] = rapid.SampledFrom([]byte("0123456789.-/: ,")).Draw(t, "to")
		}
		check(t, l, string(b))
		check(t, l, strings.TrimSuffix(string(b), string(b[len(b)-1:])))
	})
	if sure < 500 {
		t.Errorf("only %d comparisons", sure)
	}
}
