package preview

import (
	"strconv"
	"strings"
)

// resolve decides what every column is. A value like 1,234 or 03/04/2024 can
// be read in two ways; the other values of its column decide, then the other
// columns of the file, and what stays open is said in Problems.
func (c *Card) resolve(cols []*collector) {
	var sureDot, sureComma int64
	for _, k := range cols {
		if k.numeric() {
			sureDot += k.sureDot
			sureComma += k.sureComma
		}
	}
	var first byte // 'd' or 'm', proven by some column
	for _, k := range cols {
		fit, _ := k.dates.best(k.n)
		if o := onlyOrder(fit); o != 0 && k.n > 0 && !k.numeric() {
			first = o
		}
	}
	for i, k := range cols {
		col := &c.Columns[i]
		k.facts(col)
		fit, most := k.dates.best(k.n)
		switch {
		case k.n == 0 && k.soft == 0:
			col.Type = Nothing
		case k.n > 0 && k.bools == k.n && k.soft == 0:
			col.Type = Boolean
		case k.numeric() && !k.wordsN && k.zeros+k.long+k.plus == 0:
			c.resolveNumber(col, k, sureDot, sureComma)
		case k.n > 0 && k.whole == k.n && k.zeros+k.long+k.plus > 0:
			col.Type = ID
		case k.n > 0 && len(fit) > 0 && !k.wordsN:
			c.resolveDate(col, k, fit, first, sureComma > sureDot)
		default:
			col.Type = String
			col.Plain = k.n > 0 && k.digitish == k.n
			c.mixed(col, k, most)
			if k.naWords > 0 && k.naWords == k.missing {
				c.problem("column %s: the word NA or None is read as missing; add keep_default_na=False if it is a value", shown(col.Name, 60))
			}
		}
		c.warnFormulas(col, k)
	}
	c.marks()
}

func (c *Card) warnFormulas(col *Column, k *collector) {
	if k.formulas > 0 {
		c.warn("column %s has %s that a spreadsheet program would run as a formula, first %s%s; it is only data here",
			shown(col.Name, 60), count(k.formulas, "value"), shown(k.formula.value, 60), onLine(k.formula.line))
	}
}

func onlyOrder(fit []candidate) (order byte) {
	for _, f := range fit {
		if f.order != 0 && order != 0 && f.order != order {
			return 0
		}
		order = f.order
	}
	return order
}

// numeric says whether all values are numbers under one decimal mark.
func (k *collector) numeric() bool {
	return k.n > 0 && k.numbers == k.n && (k.dotOK == k.n || k.commaOK == k.n) && !k.unitVary
}

func (c *Card) resolveNumber(col *Column, k *collector, sureDot, sureComma int64) {
	comma := k.dotOK < k.n
	if k.dotOK == k.n && k.commaOK == k.n && k.ambDot+k.ambComma > 0 {
		var sure bool
		comma, sure = k.reading(c.Delimiter, sureDot, sureComma)
		if !sure {
			mark, other := ".", "thousands"
			if comma {
				mark = ","
			}
			example := k.examples[0]
			for _, e := range k.examples {
				if strings.ContainsAny(e, ".,") {
					example = e
					break
				}
			}
			if k.ambComma > 0 == comma {
				other = "a decimal mark"
			} else {
				other = "a thousands mark"
			}
			c.problem("column %s: the mark in %s is taken as %s (decimal mark %q), but the file does not prove it; ask if it matters",
				shown(col.Name, 60), shown(example, 30), other, mark)
		}
	}
	i, dec := 0, k.decDot
	col.Type = Number
	if comma {
		i, dec = 1, k.decComma
	}
	marked := k.grouped > 0 || dec > 0 || k.ambDot+k.ambComma > 0
	switch {
	case !marked:
	case comma:
		col.Decimal = ","
		if k.grouped > 0 || k.ambDot > 0 {
			col.Thousands = "."
		}
	default:
		col.Decimal = "."
		if k.grouped > 0 || k.ambComma > 0 {
			col.Thousands = ","
		}
	}
	if k.group != 0 {
		col.Thousands = string(k.group)
		if k.groupVary {
			col.Thousands = "mixed"
		}
	}
	if dec == 0 {
		col.Type = Integer
	}
	col.Unit, col.Brackets = k.unit, k.bracks > 0
	col.NA, col.Missing = k.words, k.missing+k.soft
	col.Min, col.Max, col.Mean = number(k.min[i]), number(k.max[i]), k.mean(i)
}

// reading decides whether values like 1.234 and 1,234 have a decimal comma.
func (k *collector) reading(delim string, sureDot, sureComma int64) (comma, sure bool) {
	switch {
	case sureComma > 0 && sureDot == 0:
		return true, true
	case sureDot > 0 && sureComma == 0:
		return false, true
	}
	// Whole numbers up to 999 but none above, beside 1.234: a thousands mark.
	// Whole numbers above: a decimal one.
	dots := k.ambDot > 0
	switch {
	case k.ambDot > 0 && k.ambComma > 0:
		return false, false
	case k.small > 0 && k.large == 0:
		return dots, true
	case k.large > 0:
		return !dots, true
	case dots:
		return false, false
	}
	return delim == ";", false
}

func (c *Card) resolveDate(col *Column, k *collector, fit []candidate, first byte, commas bool) {
	best := fit[0]
	if best.order != 0 && onlyOrder(fit) == 0 {
		var d, m candidate
		for _, f := range fit {
			if f.order == 'd' && d.order == 0 {
				d = f
			} else if f.order == 'm' && m.order == 0 {
				m = f
			}
		}
		spread := k.n >= 3 && d.min != d.max && m.min != m.max
		switch {
		case first == 'd':
			best = d
		case first == 'm':
			best = m
		case spread && m.unsorted && !d.unsorted:
			best = d
		case spread && d.unsorted && !m.unsorted:
			best = m
		case commas || c.Delimiter == ";":
			best = d
		default:
			best = m
		}
		if first == 0 {
			read := "month first"
			if best.order == 'd' {
				read = "day first"
			}
			c.problem("column %s: dates like %s can be day first or month first; taken as %s, but the file does not prove it", shown(col.Name, 60), shown(k.examples[0], 30), read)
		}
	}
	if best.min.Year() < 1678 || best.max.Year() > 2261 {
		col.Type = String
		c.problem("column %s: dates from %s to %s do not fit pandas' datetime, so it stays text", shown(col.Name, 60), literal(best.min.Format("2006-01-02")), literal(best.max.Format("2006-01-02")))
		return
	}
	if best.order != 0 {
		col.Evidence = "month first"
		if best.order == 'd' {
			col.Evidence = "day first"
		}
		switch {
		case onlyOrder(fit) != 0 && k.dates.proof != "":
			col.Evidence += ", as " + shown(k.dates.proof, 30) + onLine(k.proofLine) + " shows"
		case first != 0:
			col.Evidence += ", as another column shows"
		default:
			col.Evidence += ", not proven"
		}
	}
	col.Type, col.Format = Date, best.python
	out := "2006-01-02"
	if best.time {
		col.Type, out = DateTime, "2006-01-02 15:04:05"
	}
	col.NA, col.Missing = k.words, k.missing+k.soft
	col.Min, col.Max = best.min.Format(out), best.max.Format(out)
}

// mixed reports a text column that is nearly a column of numbers or dates.
func (c *Card) mixed(col *Column, k *collector, dates int64) {
	odd, what, fit := k.odd, "numbers", k.numbers
	if dates > fit {
		odd, what, fit = k.dateOdd, "dates of one layout", dates
	}
	rest := k.n - fit
	switch {
	case k.n == 0 || fit*10 < k.n*8 || k.zeros > 0:
		return
	case what == "numbers" && k.unitVary && rest == 0:
		c.problem("column %s: numbers with different units, so it stays text", shown(col.Name, 60))
	case what == "numbers" && rest == 0 && k.wordsN:
		c.problem("column %s: numbers and many different words for a missing value (%s …), so it stays text", shown(col.Name, 60), shown(k.words[0], 20))
	case what == "numbers" && rest == 0:
		c.problem("column %s: some numbers have a decimal point and some a decimal comma, so it stays text", shown(col.Name, 60))
	case len(odd) > 0:
		var p []string
		for _, o := range odd {
			p = append(p, shown(o.value, 30)+onLine(o.line))
		}
		c.problem("column %s: mixed types, %d of %d values are no %s (%s), so it stays text", shown(col.Name, 60), rest, k.n, what, strings.Join(p, ", "))
	}
}

// marks chooses the decimal and thousands marks of the file: those of most
// number columns.
func (c *Card) marks() {
	type pair struct{ decimal, thousands string }
	votes := map[pair]int{}
	best, most := pair{}, 0
	for _, col := range c.Columns {
		if col.Decimal == "" && col.Thousands == "" {
			continue
		}
		p := pair{col.Decimal, col.Thousands}
		votes[p] += 2
		if col.Unit == "" {
			votes[p]++
		}
		if votes[p] > most {
			best, most = p, votes[p]
		}
	}
	c.Decimal, c.Thousands = best.decimal, best.thousands
	for _, col := range c.Columns {
		// A column without thousands does not mind that others have them.
		if c.Thousands == "" && col.Decimal == c.Decimal && col.Unit == "" && len(col.Thousands) == 1 {
			c.Thousands = col.Thousands
		}
	}
}

func number(f float64) string {
	if f > -1e15 && f < 1e15 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

func count(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if noun == "entry" {
		noun = "entrie"
	}
	return strconv.FormatInt(n, 10) + " " + noun + "s"
}

// countOf is count for a noun that does not just get an s.
func countOf(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.FormatInt(n, 10) + " " + many
}

func onLine(n int64) string {
	if n == 0 {
		return ""
	}
	return " in line " + strconv.FormatInt(n, 10)
}
