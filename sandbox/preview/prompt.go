package preview

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// PromptOptions say how a card is described to a model.
type PromptOptions struct {
	// Budget is the most that Count may return for the description.
	Budget int
	// Count measures a text, for example with [Tokens] or the model's own
	// tokenizer; nil: it counts characters.
	Count func(string) int
	// NoValues keeps every value of the file out: the model gets names, types
	// and counts, but no examples, rows, bounds or quoted lines.
	NoValues bool
}

// Prompt is [Card.PromptFor] with at most budget characters.
func (c Card) Prompt(budget int) string { return c.PromptFor(PromptOptions{Budget: budget}) }

// PromptFor describes the file to a model: first the name, the kind and how to
// load it, then the columns, then three rows. When space is short the rows go
// first, then quoted lines and examples, then the loading code, of which
// load() is left; then columns are only named. A column that is not even named
// is counted. Everything that comes from the file stands in string literals, so
// that nothing in it can end a code block or look like the model's own control
// tokens.
func (c Card) PromptFor(o PromptOptions) string {
	if o.NoValues {
		c = c.withoutValues()
	}
	n := len(c.Columns)
	some := min(n, 60)
	details, quotes := c.promptLines(c.Detail), c.promptLines(c.Quotes)
	head, short := c.promptHead(true), c.promptHead(false)
	if o.NoValues {
		head = short // the code may name values, such as words for "missing"
	}
	for _, try := range []func() string{
		func() string { return head + details + quotes + c.promptColumns(some, 3, n) + c.promptRows(3) },
		func() string { return head + details + quotes + c.promptColumns(some, 3, n) + c.promptRows(1) },
		func() string { return head + details + quotes + c.promptColumns(some, 3, n) },
		func() string { return head + details + c.promptColumns(some, 2, n) },
		func() string { return head + c.promptColumns(some, 1, n) },
		func() string { return short + c.promptColumns(some, 1, n) },
		func() string { return short + c.promptColumns(n, 0, n) },
	} {
		if s := try(); o.fits(s) {
			return strings.TrimRight(s, "\n")
		}
	}
	if d := o.most(n, func(k int) string { return short + c.promptColumns(k, 0, n) }); d >= 0 {
		return strings.TrimRight(short+c.promptColumns(d, 0, n), "\n")
	}
	if d := o.most(n, func(k int) string { return short + c.promptColumns(0, 0, k) }); d >= 0 {
		return strings.TrimRight(short+c.promptColumns(0, 0, d), "\n")
	}
	return o.whole(short)
}

// most is the largest k up to n for which the text fits, -1 when none does.
func (o PromptOptions) most(n int, text func(k int) string) int {
	low, high := -1, n
	for low < high {
		mid := (low + high + 1) / 2
		if o.fits(text(mid)) {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return low
}

func (o PromptOptions) fits(s string) bool {
	if o.Count != nil {
		return o.Count(strings.TrimRight(s, "\n")) <= o.Budget
	}
	return len(s) <= o.Budget || utf8.RuneCountInString(strings.TrimRight(s, "\n")) <= o.Budget
}

// whole keeps the whole lines of s that fit; a half line could be half a
// literal.
func (o PromptOptions) whole(s string) string {
	out := ""
	for _, l := range strings.SplitAfter(s, "\n") {
		if !o.fits(out + l) {
			break
		}
		out += l
	}
	return strings.TrimRight(out, "\n")
}

func (c Card) promptHead(code bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "File %s: %s\n", literal(c.Name), safe(c.promptKind()))
	if len(c.Sheets) > 1 {
		var p []string
		for _, s := range c.Sheets[:min(len(c.Sheets), 20)] {
			p = append(p, literal(s.Name)+s.about())
		}
		more := ""
		if n := len(c.Sheets) - len(p); n > 0 {
			more = fmt.Sprintf(" and %d more", n)
		}
		b.WriteString("Sheets: " + strings.Join(p, ", ") + more + "; below is the first that has a table\n")
	}
	if c.Load != "" {
		b.WriteString("Load it with:\n  " + c.loadCall() + "\n")
		if code {
			b.WriteString("which is:\n" + indent(c.Load) + "\n")
		}
	}
	for _, p := range c.Problems {
		b.WriteString("Note: " + safe(p) + "\n")
	}
	for _, w := range c.Warnings {
		b.WriteString("Warning: " + safe(w) + "\n")
	}
	return b.String()
}

// loadCall is the line that loads the file in the kernel, see [Plan].
func (c Card) loadCall() string {
	v := "df"
	switch {
	case c.Kind == Text || c.Kind == PDF || c.Kind == GZip || c.Kind == HTML && len(c.Columns) == 0:
		v = "text"
	case c.Kind == Image:
		v = "img"
	case c.Kind == ZIP || c.Kind == TAR || c.Kind == Folder:
		v = "names"
	case c.Kind == Notebook:
		v = "cells"
	case len(c.Columns) == 0 && (c.Kind == JSON || c.Kind == JSONL || c.Kind == XML):
		v = "data"
	}
	part := ""
	switch {
	case c.Kind == Excel && len(c.Sheets) > 1 && c.Sheet >= 0 && c.Sheet < len(c.Sheets):
		part = ", sheet=" + literal(c.Sheets[c.Sheet].Name)
	case c.Kind == SQLite && len(c.Tables) > 1:
		part = ", table=" + literal(c.Table)
	case c.Kind == HTML && c.Sheet > 0:
		part = fmt.Sprintf(", table=%d", c.Sheet)
	}
	return v + " = load(" + literal(c.Name) + part + ")"
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

func (c Card) promptLines(lines []string) string {
	var b strings.Builder
	for _, d := range lines {
		b.WriteString(safe(d) + "\n")
	}
	return b.String()
}

// promptColumns describes the first n columns and names the others up to
// named.
func (c Card) promptColumns(n, examples, named int) string {
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
	all := max(c.ColumnCount, len(c.Columns))
	more := all - n
	if more == 0 {
		return b.String()
	}
	fmt.Fprintf(&b, "  and %d more columns", more)
	if named = max(named, n); named > n {
		var p []string
		for _, col := range c.Columns[n:named] {
			p = append(p, literal(col.Name))
		}
		b.WriteString(": " + strings.Join(p, ", "))
	}
	if named < all {
		fmt.Fprintf(&b, "; %d not named here, see list(df.columns)", all-named)
	}
	b.WriteString("\n")
	return b.String()
}

// describe says what the column is after Load.
func (col Column) describe() string {
	s := string(col.Type)
	switch {
	case s == "":
		return "of unknown type"
	case col.Type == ID:
		s = "text (an id, not a number)"
	case col.Type == String && col.Plain:
		s = "text that looks like numbers"
	case col.Type == Nothing:
		return "without values"
	case col.Unit != "":
		s += " in " + col.Unit
	}
	if col.Min != "" && col.Max != "" {
		s += " from " + col.Min + " to " + col.Max
		if col.Mean != "" {
			s += ", mean " + col.Mean
		}
	}
	if col.Evidence != "" {
		s += ", " + col.Evidence
	}
	if col.Missing > 0 {
		s += fmt.Sprintf(", %d missing", col.Missing)
	}
	if col.Type == String && col.Unique > 0 {
		about := ""
		switch {
		case col.UniqueMin:
			about = "over "
		case col.UniqueAbout:
			about = "about "
		}
		s += fmt.Sprintf(", %s%d different", about, col.Unique)
	}
	return s
}

func (c Card) promptRows(n int) string {
	if len(c.Sample) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("First " + rowNoun(c.Kind) + " as in the file:\n")
	for _, r := range c.Sample[:min(n, len(c.Sample))] {
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
