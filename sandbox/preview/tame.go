package preview

// tame bounds the numbers and the lists of a card that a child has made. The
// child read a hostile file, so it may say anything; what is counted here is
// what the host makes loops or slices of.
func (c *Card) tame() {
	for _, n := range []*int{&c.HeaderRow, &c.SkipRows, &c.Ruler} {
		*n = min(max(*n, 0), 10_000)
	}
	c.Sheet = min(max(c.Sheet, 0), 10_000)
	c.ColumnCount = min(max(c.ColumnCount, 0), 1<<30)
	c.Rows, c.BadRows = max(c.Rows, 0), max(c.BadRows, 0)
	c.Columns = c.Columns[:min(len(c.Columns), MaxColumns)]
	c.Widths = c.Widths[:min(len(c.Widths), fixedColumns)]
	c.Sheets = c.Sheets[:min(len(c.Sheets), maxParts)]
	c.Tables = c.Tables[:min(len(c.Tables), maxParts)]
	c.Problems = c.Problems[:min(len(c.Problems), maxNotes)]
	c.Warnings = c.Warnings[:min(len(c.Warnings), maxNotes)]
	c.BadLines = c.BadLines[:min(len(c.BadLines), 3*MaxBadLines)]
}
