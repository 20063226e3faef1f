package preview

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Prompt describes the file to a small model in at most budget characters:
// first the name, the kind and how to load it, then the columns, then three
// rows. When space is short the rows go first, then the examples, then columns
// from the end. Everything that comes from the file stands in string literals,
// so that nothing in it can end a code block or look like the model's own
// control tokens.
func (c Card) Prompt(budget int) string {
	head := c.promptHead()
	cols := func(n, examples int) string { return c.promptColumns(n, examples) }
	rows := c.promptRows()
	details := c.promptDetails()
	n := len(c.Columns)
	for _, try := range []func() string{
		func() string { return head + details + cols(min(n, 60), 3) + rows },
		func() string { return head + details + cols(min(n, 60), 3) },
		func() string { return head + cols(min(n, 60), 2) },
		func() string { return head + cols(min(n, 60), 1) },
		func() string { return head + cols(n, 0) },
	} {
		if s := try(); fits(s, budget) {
			return strings.TrimRight(s, "\n")
		}
	}
	low, high := 0, n // the most columns that fit
	for low < high {
		mid := (low + high + 1) / 2
		if fits(head+cols(mid, 0), budget) {
			low = mid
		} else {
			high = mid - 1
		}
	}
	if s := head + cols(low, 0); fits(s, budget) {
		return strings.TrimRight(s, "\n")
	}
	if fits(head, budget) {
		return strings.TrimRight(head, "\n")
	}
	return whole(head, budget)
}

func fits(s string, budget int) bool {
	return len(s) <= budget || utf8.RuneCountInString(strings.TrimRight(s, "\n")) <= budget
}

// whole keeps the whole lines of s that fit; a half line could be half a
// literal.
func whole(s string, budget int) string {
	out := ""
	for _, l := range strings.SplitAfter(s, "\n") {
		if !fits(out+l, budget) {
			break
		}
		out += l
	}
	return strings.TrimRight(out, "\n")
}

func (c Card) promptHead() string {
	var b strings.Builder
	fmt.Fprintf(&b, "File %s: %s\n", literal(c.Name), safe(c.promptKind()))
	if len(c.Sheets) > 1 {
		var p []string
		for _, s := range c.Sheets[:min(len(c.Sheets), 20)] {
			p = append(p, literal(s.Name))
		}
		more := ""
		if n := len(c.Sheets) - len(p); n > 0 {
			more = fmt.Sprintf(" and %d more", n)
		}
		b.WriteString("Sheets: " + strings.Join(p, ", ") + more + "; below is the first that has a table\n")
	}
	if c.Load != "" {
		b.WriteString("Load it with:\n" + indent(c.Load) + "\n")
	}
	for _, p := range c.Problems {
		b.WriteString("Note: " + safe(p) + "\n")
	}
	for _, w := range c.Warnings {
		b.WriteString("Warning: " + safe(w) + "\n")
	}
	return b.String()
}

func indent(s string) string { return "  " + strings.ReplaceAll(s, "\n", "\n  ") }

func (c Card) promptKind() string {
	// What Load says already, and what the notes say below, is left out.
	c.Problems, c.Warnings = nil, nil
	s := c.Summary()
	if c.Kind == CSV || c.Kind == TSV {
		s = fmt.Sprintf("%s, %s, %s", strings.ToUpper(string(c.Kind)), c.rowsText("row"), count(int64(c.ColumnCount), "column"))
	}
	if c.HeaderRow > 1 {
		s += fmt.Sprintf(", column names in line %d", c.HeaderRow)
	}
	return s
}

func (c Card) promptDetails() string {
	if len(c.Detail) == 0 {
		return ""
	}
	var b strings.Builder
	for _, d := range c.Detail {
		b.WriteString(safe(d) + "\n")
	}
	return b.String()
}

func (c Card) promptColumns(n, examples int) string {
	if len(c.Columns) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("Columns:\n")
	for _, col := range c.Columns[:n] {
		b.WriteString("  " + literal(col.Name) + " " + safe(col.describe()))
		if examples > 0 && len(col.Examples) > 0 {
			var p []string
			for _, e := range col.Examples[:min(examples, len(col.Examples))] {
				p = append(p, shown(e, 40))
			}
			b.WriteString(", e.g. " + strings.Join(p, " "))
		}
		b.WriteString("\n")
	}
	if more := max(c.ColumnCount, len(c.Columns)) - n; more > 0 {
		fmt.Fprintf(&b, "  and %d more columns\n", more)
	}
	return b.String()
}

// describe says what the column is after Load.
func (col Column) describe() string {
	s := string(col.Type)
	switch {
	case col.Type == ID:
		s = "text (an id, not a number)"
	case col.Type == Nothing:
		return "without values"
	case col.Unit != "":
		s += " in " + col.Unit
	}
	if col.Min != "" && col.Max != "" {
		s += " from " + col.Min + " to " + col.Max
	}
	if col.Missing > 0 {
		s += fmt.Sprintf(", %d missing", col.Missing)
	}
	if col.Type == String && col.Unique > 0 {
		about := ""
		if col.UniqueMin {
			about = "over "
		}
		s += fmt.Sprintf(", %s%d different", about, col.Unique)
	}
	return s
}

func (c Card) promptRows() string {
	if len(c.Sample) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("First " + rowNoun(c.Kind) + " as in the file:\n")
	for _, r := range c.Sample[:min(3, len(c.Sample))] {
		var p []string
		for i, v := range r {
			if i == 20 {
				p = append(p, "…")
				break
			}
			p = append(p, shown(v, 40))
		}
		b.WriteString("  " + strings.Join(p, ", ") + "\n")
	}
	return b.String()
}

func rowNoun(k Kind) string {
	if k == JSON || k == JSONL {
		return "records"
	}
	return "rows"
}
