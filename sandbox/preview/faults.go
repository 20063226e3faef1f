package preview

import (
	"fmt"
	"strings"
)

// finish turns what was collected into the card.
func (t *tableReader) finish() {
	c := t.card
	c.Rows = t.rows
	for i := range c.Columns {
		t.collector(i)
	}
	c.resolve(t.cols)
	c.Faults = t.faults
	c.BadRows = t.wide + t.narrow + t.runaway
	lines := append(append([]int64(nil), t.wideAt...), t.runAt...)
	listed := t.wide+t.runaway <= MaxBadLines && int64(len(lines)) == t.wide+t.runaway
	switch {
	case t.runaway > 0 && !t.quoted && t.wide == 0:
		// Quotes are needed nowhere, so nothing is lost without them.
		c.Repair = RepairNoQuote
	case t.runaway > 0 && listed, t.firstBad && listed:
		c.Repair = RepairLines
	case t.wide > 0:
		c.Repair = RepairWarn
	case t.extra > 0:
		c.Repair = RepairExtra
	}
	if t.wide > 0 {
		how := "the loading code leaves them out with a warning"
		if c.Repair == RepairLines {
			how = "the loading code leaves these lines out"
		}
		c.problem("%s more fields than the %d columns%s; %s: ask how to treat them", hasHave(t.wide), t.width, lineList(t.wideAt, t.wide), how)
	}
	if t.runaway > 0 {
		how := "it cannot be loaded safely"
		switch c.Repair {
		case RepairLines:
			how = "the loading code leaves these lines out"
		case RepairNoQuote:
			how = "the loading code keeps all quotes as ordinary characters"
		}
		c.problem("%s a quote that is opened and not closed%s; %s: ask how to treat it", hasHave(t.runaway), lineList(t.runAt, t.runaway), how)
	}
	if t.narrow > 0 {
		c.problem("%s fewer fields than the %d columns%s; the last columns are missing there", hasHave(t.narrow), t.count, lineList(t.narrowAt, t.narrow))
	}
	if c.Repair == RepairLines {
		c.BadLines = lines
	} else {
		c.BadLines = append(lines, t.narrowAt...)
		c.BadLines = c.BadLines[:min(len(c.BadLines), MaxBadLines)]
	}
	switch strings.ToLower(strings.Trim(clipBytes(t.last, 40), " :.*")) {
	case "total", "totals", "grand total", "sum", "summe", "gesamt", "gesamtsumme", "insgesamt", "somme", "totale", "suma", "итого", "合计", "合計":
		if t.read > 2 {
			c.problem("the last row is a total (%s); leave it out of sums", shown(string(t.last), 40))
		}
	}
	c.notes()
}

// notes are the problems that follow from the columns.
func (c *Card) notes() {
	var ids, empty []string
	for _, col := range c.Columns {
		switch col.Type {
		case ID:
			ids = append(ids, shown(col.Name, 40))
		case Nothing:
			empty = append(empty, shown(col.Name, 40))
		}
	}
	if len(ids) > 0 {
		c.problem("kept as text because of leading zeros, length or a plus sign: %s", some(ids))
	}
	if len(empty) > 0 && c.Rows > 0 {
		c.problem("no values in: %s", some(empty))
	}
	if c.Sampled {
		c.problem("types and ranges come from parts of the file, for it is large; check them after loading")
	}
	if c.Rows == 0 {
		c.problem("there are column names but no rows")
	}
	if c.ColumnCount > len(c.Columns) {
		c.problem("%d columns; only the first %d were looked at", c.ColumnCount, len(c.Columns))
	}
}

func some(names []string) string {
	if len(names) > 5 {
		return strings.Join(names[:5], ", ") + fmt.Sprintf(" and %d more", len(names)-5)
	}
	return strings.Join(names, ", ")
}

func hasHave(n int64) string {
	if n == 1 {
		return "1 row has"
	}
	return fmt.Sprintf("%d rows have", n)
}

func lineList(at []int64, n int64) string {
	if len(at) == 0 {
		return ""
	}
	var p []string
	for _, l := range at[:min(len(at), 8)] {
		p = append(p, fmt.Sprint(l))
	}
	more := ""
	if n > int64(len(p)) {
		more = ", ..."
	}
	noun := "line"
	if n > 1 {
		noun = "lines"
	}
	return " (" + noun + " " + strings.Join(p, ", ") + more + ")"
}
