package preview

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// A numeral is a value that can be read as a number in at least one way.
type numeral struct {
	dot, comma bool    // readable with "." or with "," as the decimal mark
	vdot       float64 // its value in either way
	vcomma     float64
	decDot     bool   // has a decimal mark when "." is it
	decComma   bool   // the same for ","
	whole      bool   // digits and sign only
	digits     int    // before any mark
	zero       bool   // starts with a zero that no number needs
	plus       bool   // starts with "+"
	ambiguous  byte   // the one mark, before exactly three digits: 1.234
	grouped    bool   // has a mark that can only be for thousands
	group      rune   // space or apostrophe between thousands
	unit       string // sign before or after it
	brackets   bool   // (1.00) for -1.00
}

// The signs that are taken off a number. Longer ones come before their parts.
var units = [...]string{
	"EUR", "USD", "GBP", "CHF", "SEK", "NOK", "DKK", "PLN", "JPY", "CNY", "INR", "RUB",
	"€", "$", "£", "¥", "₹", "₽", "₩", "zł", "kr", "%", "‰",
	"kWh", "MWh", "kW", "kg", "mg", "km", "cm", "mm", "ml", "min", "°C", "°F", "GB", "MB", "KB",
}

// parseNumeral reads b; ok is false when it is no number in any way.
func parseNumeral(b []byte) (x numeral, ok bool) {
	b = bytes.TrimSpace(b)
	if len(b) == 0 || len(b) > 64 {
		return x, false
	}
	if b[0] == '(' && b[len(b)-1] == ')' {
		x.brackets = true
		b = b[1 : len(b)-1]
	}
	neg, signed := false, false
	if b, neg, x.plus = sign(b); neg || x.plus {
		signed = true
	}
	if len(b) > 0 && (b[0] < '0' || b[0] > '9') && b[0] != '.' && b[0] != ',' {
		for _, u := range units {
			if t, cut := bytes.CutPrefix(b, []byte(u)); cut {
				x.unit, b = u, trimBlank(t)
				break
			}
		}
		if x.unit == "" {
			return x, false
		}
		if !signed {
			b, neg, _ = sign(b)
		}
	} else if n := len(b); n > 0 && (b[n-1] < '0' || b[n-1] > '9') && b[n-1] != '.' && b[n-1] != ',' {
		for _, u := range units {
			if t, cut := bytes.CutSuffix(b, []byte(u)); cut {
				x.unit, b = u, trimBlank(t)
				break
			}
		}
		if x.unit == "" {
			return x, false
		}
	}
	if x.brackets {
		neg = !neg
	}
	return x, x.scan(b, neg)
}

func sign(b []byte) (rest []byte, neg, plus bool) {
	if len(b) > 0 && b[0] == '-' {
		return b[1:], true, false
	}
	if len(b) > 0 && b[0] == '+' {
		return b[1:], false, true
	}
	return b, false, false
}

func trimBlank(b []byte) []byte { return bytes.Trim(b, " \u00a0\u202f") }

var pow10 = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// scan reads digits and marks without sign and unit.
func (x *numeral) scan(b []byte, neg bool) bool {
	var (
		plain      [64]byte // digits with "." where the last mark is
		marks      int
		kinds      [2]int // dots, commas
		groupsOK   = true // every group after a mark but the last has three digits
		run        int    // digits since the last mark
		last       byte
		mixedAfter bool // a mark of the other kind came before the last
		k          int
		lastAt     = -1
		exp        = false
	)
	for i := 0; i < len(b); {
		c := b[i]
		switch {
		case c >= '0' && c <= '9':
			if k == len(plain)-2 {
				return false
			}
			plain[k] = c
			k++
			run++
			i++
			continue
		case c == '.' || c == ',':
			if marks == 0 {
				x.digits = run
			} else if run != 3 {
				groupsOK = false
			}
			if last != 0 && last != c {
				mixedAfter = true
			}
			if c == '.' {
				kinds[0]++
			} else {
				kinds[1]++
			}
			last, lastAt = c, k
			marks++
			run = 0
			i++
			continue
		case (c == 'e' || c == 'E') && k > 0 && x.unit == "":
			f, err := strconv.ParseFloat(string(b), 64)
			if err != nil {
				return false
			}
			exp = true
			x.dot, x.vdot, x.vcomma = true, f, f
			x.comma = kinds[0] == 0
		default:
			r, n := utf8.DecodeRune(b[i:])
			if r != ' ' && r != 0xa0 && r != 0x202f && r != '\'' && r != '’' {
				return false
			}
			// Thousands by space or apostrophe: three digits must follow, and
			// no other mark may have come.
			if marks > 0 || k == 0 || x.group != 0 && (r != x.group || run != 3) || x.group == 0 && run > 3 || len(b) < i+n+3 {
				return false
			}
			x.group = r
			run = 0
			i += n
			continue
		}
		break
	}
	if exp {
		if neg {
			x.vdot, x.vcomma = -x.vdot, -x.vcomma
		}
		x.digits, x.decDot, x.decComma = 1, true, true
		return true
	}
	if k == 0 {
		return false
	}
	if x.group != 0 && marks == 0 && run != 3 {
		return false
	}
	if marks == 0 {
		x.digits = k
	}
	lead := x.digits
	x.zero = plain[0] == '0' && lead > 1
	x.whole = marks == 0 && x.group == 0 && x.unit == "" && !x.brackets
	value := func(at int) float64 {
		s := plain[:k]
		if k <= 15 {
			// Both are exact, so their quotient is what ParseFloat gives.
			n := int64(0)
			for _, c := range s {
				n = n*10 + int64(c-'0')
			}
			f := float64(n)
			if at >= 0 {
				f /= pow10[k-at]
			}
			if neg {
				return -f
			}
			return f
		}
		if at >= 0 {
			var w [66]byte
			n := copy(w[:], plain[:at])
			w[n] = '.'
			n++
			n += copy(w[n:], plain[at:k])
			s = w[:n]
		}
		f, _ := strconv.ParseFloat(string(s), 64)
		if neg {
			return -f
		}
		return f
	}
	switch {
	case marks == 0:
		x.dot, x.comma = true, true
		x.vdot = value(-1)
		x.vcomma = x.vdot
	case mixedAfter:
		// Both marks: the last, standing once, is the decimal one.
		if !groupsOK || lead > 3 || lead == 0 || x.group != 0 {
			return false
		}
		f := value(lastAt)
		switch {
		case last == '.' && kinds[0] == 1:
			x.dot, x.decDot, x.vdot = true, true, f
		case last == ',' && kinds[1] == 1:
			x.comma, x.decComma, x.vcomma = true, true, f
		default:
			return false
		}
		x.grouped = true
	default:
		grouping := groupsOK && run == 3 && lead >= 1 && lead <= 3 && !x.zero && plain[0] != '0' && x.group == 0
		asDecimal := marks == 1
		if !grouping && !asDecimal {
			return false
		}
		if grouping && asDecimal {
			x.ambiguous = last
		}
		x.grouped = grouping && !asDecimal
		dec, thou := 0.0, 0.0
		if asDecimal {
			dec = value(lastAt)
		}
		if grouping {
			thou = value(-1)
		}
		if last == '.' {
			x.dot, x.vdot, x.comma, x.vcomma = asDecimal, dec, grouping, thou
			x.decDot = asDecimal
		} else {
			x.comma, x.vcomma, x.dot, x.vdot = asDecimal, dec, grouping, thou
			x.decComma = asDecimal
		}
	}
	return true
}
