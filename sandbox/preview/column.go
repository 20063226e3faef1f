package preview

import (
	"bytes"
	"hash/maphash"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// An oddity is a value that does not fit the rest of its column.
type oddity struct {
	line  int64
	value string
}

// collector gathers the facts of one column, value by value.
type collector struct {
	seed    maphash.Seed
	all     []layout
	n       int64 // values that are there
	missing int64
	naWords int64 // of the missing: words that may be names, "NA" or "None"
	soft    int64 // words like "-" that may mean a missing value
	words   []string
	wordsN  bool // more words than are kept

	numbers               int64
	dotOK, commaOK        int64
	ambDot, ambComma      int64
	sureDot, sureComma    int64 // values that allow just one decimal mark
	small, large          int64 // whole numbers without marks below 1000, and from 1000
	whole, zeros, long    int64
	plus, grouped, bracks int64
	decDot, decComma      int64 // values with a decimal mark, in either reading
	group                 rune
	groupVary             bool
	unit                  string
	units                 int64
	unitVary              bool
	min, max              [2]float64 // with "." and with ","
	odd                   []oddity

	dates     dating
	dateOdd   []oddity
	proofLine int64 // of dates.proof
	bools     int64
	digitish  int64 // only digits and marks

	unique     map[uint64]struct{}
	uniqueMax  int
	uniqueMore bool
	examples   []string
	distinct   *distinct // of a whole pass
	sum        [2]float64
	formulas   int64
	formula    oddity
}

const (
	maxOdd   = 3
	maxWords = 5
)

func newCollector(seed maphash.Seed, all []layout, uniqueMax int, p *pass) *collector {
	inf := math.Inf(1)
	c := &collector{
		seed: seed, all: all, uniqueMax: uniqueMax, unique: map[uint64]struct{}{},
		min: [2]float64{inf, inf}, max: [2]float64{-inf, -inf},
	}
	if p.whole {
		c.distinct = &distinct{}
	}
	return c
}

// facts are what all kinds of columns say of their values.
func (c *collector) facts(col *Column) {
	col.Missing, col.Unique, col.UniqueMin, col.Examples = c.missing, len(c.unique), c.uniqueMore, c.examples
	if c.uniqueMore && c.distinct != nil {
		col.Unique, col.UniqueMin, col.UniqueAbout = max(c.distinct.count(), len(c.unique)), false, true
	}
}

// mean is the mean in one reading of the decimal mark; empty after a quick pass.
func (c *collector) mean(reading int) string {
	if c.distinct == nil || c.n == 0 {
		return ""
	}
	return strconv.FormatFloat(c.sum[reading]/float64(c.n), 'g', 6, 64)
}

// pandasNA is what pandas.read_csv reads as missing by itself.
func pandasNA(b []byte) bool {
	switch string(b) {
	case "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null":
		return true
	}
	return false
}

// softNA is a word that people write for a missing number.
func softNA(b []byte) bool {
	if len(b) > 20 {
		return false
	}
	if b = bytes.TrimSpace(b); len(b) > 0 {
		switch b[0] { // most values end here
		case '-', 0xe2, '?', '.', '(', '#', '\\', 'k', 'K', 'n', 'N', 'm', 'M', 'u', 'U':
		default:
			return false
		}
	}
	switch strings.ToLower(string(b)) {
	case "", "-", "--", "---", "–", "—", "?", ".", "..", "...", "k.a.", "k. a.", "n.a.", "n. a.", "n.v.", "na", "nil", "none", "missing", "unknown", "unbekannt", "keine angabe", "(null)", "#ref!", "#div/0!", "#value!", "#name?", "#wert!", "#bezug!", "#null!", "\\n":
		return true
	}
	return false
}

func (c *collector) add(b []byte, line int64) {
	if pandasNA(b) {
		c.missing++
		if len(b) == 2 && b[0] == 'N' || len(b) == 4 && b[0] == 'N' && b[1] == 'o' {
			c.naWords++
		}
		return
	}
	soft := softNA(b)
	c.note(b, !soft)
	if soft {
		c.soft++
		if w := string(b); !slices.Contains(c.words, w) {
			if len(c.words) < maxWords {
				c.words = append(c.words, w)
			} else {
				c.wordsN = true
			}
		}
		return
	}
	n := c.n
	c.n++
	if b[0] == '=' || b[0] == '+' || b[0] == '-' || b[0] == '@' {
		if formulaLike(b) {
			if c.formulas == 0 {
				c.formula = oddity{line, clipBytes(b, maxValue)}
			}
			c.formulas++
		}
	}
	if onlyDigits(b) {
		c.digitish++
	}
	// A column of prose needs no more tries.
	if n < 200 || c.numbers*2 > n {
		if x, ok := parseNumeral(b); ok {
			c.number(x)
		} else {
			c.odd = appendOdd(c.odd, line, b)
		}
	}
	proven := c.dates.proof != ""
	if !c.dates.add(b, n, c.all) && len(c.dates.live) > 0 {
		c.dateOdd = appendOdd(c.dateOdd, line, b)
	}
	if !proven && c.dates.proof != "" {
		c.proofLine = line
	}
	switch string(b) {
	case "True", "TRUE", "true", "False", "FALSE", "false":
		c.bools++
	}
}

func appendOdd(o []oddity, line int64, b []byte) []oddity {
	if len(o) == maxOdd {
		return o
	}
	return append(o, oddity{line, clipBytes(b, maxValue)})
}

func clipBytes(b []byte, n int) string {
	if len(b) > 4*n {
		b = b[:4*n]
		for len(b) > 0 && !utf8.Valid(b[max(0, len(b)-utf8.UTFMax):]) && len(b) > 4*n-utf8.UTFMax {
			b = b[:len(b)-1]
		}
	}
	return clip(strings.ToValidUTF8(string(b), "\uFFFD"), n)
}

// note keeps the value for Unique and, if it is an example, for Examples.
func (c *collector) note(b []byte, example bool) {
	if c.uniqueMore && c.distinct == nil {
		return
	}
	h := maphash.Bytes(c.seed, b)
	if c.distinct != nil {
		if c.distinct.add(h); c.uniqueMore {
			return
		}
	}
	if _, seen := c.unique[h]; seen {
		return
	}
	if len(c.unique) == c.uniqueMax {
		c.uniqueMore = true
		return
	}
	c.unique[h] = struct{}{}
	if example && len(c.examples) < 3 {
		c.examples = append(c.examples, clipBytes(b, maxValue))
	}
}

func (c *collector) number(x numeral) {
	c.numbers++
	if x.dot {
		c.dotOK++
		c.sum[0] += x.vdot
		c.min[0], c.max[0] = min(c.min[0], x.vdot), max(c.max[0], x.vdot)
	}
	if x.comma {
		c.commaOK++
		c.sum[1] += x.vcomma
		c.min[1], c.max[1] = min(c.min[1], x.vcomma), max(c.max[1], x.vcomma)
	}
	switch {
	case x.dot && !x.comma:
		c.sureDot++
	case x.comma && !x.dot:
		c.sureComma++
	}
	if x.decDot {
		c.decDot++
	}
	if x.decComma {
		c.decComma++
	}
	switch x.ambiguous {
	case '.':
		c.ambDot++
	case ',':
		c.ambComma++
	}
	if x.grouped {
		c.grouped++
	}
	if x.group != 0 {
		c.groupVary = c.groupVary || c.group != 0 && c.group != x.group
		c.group = x.group
	}
	if x.whole {
		c.whole++
		if x.digits <= 3 {
			c.small++
		} else {
			c.large++
		}
		if x.zero {
			c.zeros++
		}
		if x.digits >= 16 {
			c.long++
		}
		if x.plus && x.digits >= 7 {
			c.plus++
		}
	}
	if x.brackets {
		c.bracks++
	}
	if x.unit != "" {
		c.units++
		c.unitVary = c.unitVary || c.unit != "" && c.unit != x.unit
		c.unit = x.unit
	}
}

func onlyDigits(b []byte) bool {
	if len(b) > 64 {
		return false
	}
	for _, c := range b {
		if (c < '0' || c > '9') && c != '.' && c != ',' && c != ' ' && c != '-' && c != '+' && c != '\'' {
			return false
		}
	}
	return true
}

// formulaLike is true for a value that a spreadsheet program would run.
func formulaLike(b []byte) bool {
	switch b[0] {
	case '=', '@':
		return len(b) > 1
	}
	// "-5" and "+49 30 1" are no formulas, "-2+3" and "+cmd|..." are.
	return len(b) > 1 && bytes.ContainsAny(b[1:], "()|!*")
}
