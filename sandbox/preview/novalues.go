package preview

import (
	"regexp"
	"strings"
)

// withoutValues is the card with nothing of the cells: what stands in quotes
// in a note stays only if it is a name.
func (c Card) withoutValues() Card {
	keep := map[string]bool{`"."`: true, `","`: true, literal(c.Name): true, literal(c.Key): true, literal(c.Table): true}
	name := func(s string) {
		for _, n := range []int{30, 40, 60, 80, 100} {
			keep[strings.TrimSuffix(shown(s, n), "…")] = true
		}
	}
	cols := make([]Column, len(c.Columns))
	for i, col := range c.Columns {
		name(col.Name)
		cols[i] = Column{Name: col.Name, Type: col.Type, Format: col.Format, Unit: col.Unit, Missing: col.Missing, Unique: col.Unique, UniqueMin: col.UniqueMin, UniqueAbout: col.UniqueAbout}
	}
	for _, s := range c.Sheets {
		name(s.Name)
	}
	redact := func(notes []string) (out []string) {
		for _, n := range notes {
			out = append(out, quoted.ReplaceAllStringFunc(n, func(q string) string {
				if keep[q] {
					return q
				}
				return `"…"`
			}))
		}
		return out
	}
	c.Columns, c.Problems, c.Warnings = cols, redact(c.Problems), redact(c.Warnings)
	c.Quotes, c.Sample = nil, nil
	return c
}

// quoted is a literal in a note.
var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
