package preview

import (
	"bytes"
	"slices"
	"unicode"

	"github.com/wlynxg/chardet"
)

// guess chooses among the encodings that were common before UTF-8. Every
// candidate that reads b without an error is scored by how plausible the
// outcome is: what share of its characters are frequent ones, and stand where
// such characters stand in words. A statistical detector made for long prose
// is too easily wrong on the few letters of a table, so it only adds a little.
func guess(b []byte) charset {
	type scored struct {
		name  string
		score float64
	}
	hint := ""
	if r := chardet.Detect(b); r.Confidence >= 0.5 {
		hint = pythonName(r.Encoding)
	}
	var found []scored
	for _, m := range pairScores {
		if s, ok := m.score(b); ok {
			found = append(found, scored{m.name, s})
		}
	}
	for _, name := range []string{"cp1252", "cp1250", "cp1251", "koi8-r", "cp1253", "mac-roman"} {
		d, fits := charset{name: name}.decode(b)
		if s, ok := letterScore(name, []rune(string(d))); fits && ok {
			found = append(found, scored{name, s})
		}
	}
	for i := range found {
		if found[i].name == hint {
			found[i].score += 0.15
		}
	}
	slices.SortStableFunc(found, func(a, b scored) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return 0
	})
	c := charset{name: "latin-1", by: "guess"}
	var first []byte
	for i, f := range found {
		if i == 0 {
			c.name = f.name
			first, _ = c.decode(b)
		} else if f.score > 0 && f.score > found[0].score-0.2 && len(c.others) < 3 {
			// Another name for the same text is no choice.
			if d, _ := (charset{name: f.name}).decode(b); !bytes.Equal(d, first) {
				c.others = append(c.others, f.name)
			}
		}
	}
	return c
}

func pythonName(s string) string {
	switch s {
	case "GB2312", "GBK", "GB18030":
		return "gb18030"
	case "Shift_JIS", "SHIFT_JIS", "CP932":
		return "cp932"
	case "Big5", "BIG5":
		return "big5"
	case "EUC-KR", "CP949":
		return "cp949"
	case "EUC-JP":
		return "euc-jp"
	case "KOI8-R":
		return "koi8-r"
	case "Windows-1250", "ISO-8859-2":
		return "cp1250"
	case "Windows-1251":
		return "cp1251"
	case "Windows-1252", "ISO-8859-1":
		return "cp1252"
	case "Windows-1253", "ISO-8859-7":
		return "cp1253"
	}
	return ""
}

// pairs scores an encoding of East Asia by its two-byte sequences. points is
// called for a lead and a trail byte; ok is false where no character is.
type pairs struct {
	name   string
	lead   func(b byte) bool
	points func(l, t byte) (p float64, ok bool)
	single func(b byte) (p float64, ok bool) // bytes above 127 that stand alone
}

func within(b, lo, hi byte) bool { return b >= lo && b <= hi }

func noSingle(byte) (float64, bool) { return 0, false }

// The ranges are those of the frequent characters in each standard: GB 2312
// level 1, Big5 level 1, KS X 1001 hangul, JIS X 0208 kana and level 1.
var pairScores = [...]pairs{
	{"gb18030", func(b byte) bool { return within(b, 0x81, 0xfe) }, func(l, t byte) (float64, bool) {
		switch {
		case t < 0x40 && !within(t, 0x30, 0x39) || t == 0x7f || t == 0xff || t == 0x80 && l > 0xfe:
			return 0, false
		case within(l, 0xb0, 0xd7) && t >= 0xa1:
			return 0.95, true
		case within(l, 0xa1, 0xa3) && t >= 0xa1:
			return 0.5, true
		case within(l, 0xd8, 0xf7) && t >= 0xa1:
			return 0.1, true
		}
		return -0.4, true
	}, noSingle},
	{"big5", func(b byte) bool { return within(b, 0xa1, 0xf9) }, func(l, t byte) (float64, bool) {
		switch {
		case !within(t, 0x40, 0x7e) && !within(t, 0xa1, 0xfe):
			return 0, false
		case within(l, 0xa4, 0xc6):
			return 0.95, true
		case within(l, 0xa1, 0xa3):
			return 0.5, true
		}
		return -0.4, true
	}, noSingle},
	{"cp949", func(b byte) bool { return within(b, 0x81, 0xfd) }, func(l, t byte) (float64, bool) {
		switch {
		case !within(t, 0x41, 0x5a) && !within(t, 0x61, 0x7a) && !within(t, 0x81, 0xfe):
			return 0, false
		case within(l, 0xb0, 0xc8) && t >= 0xa1:
			return 1, true
		case within(l, 0xa1, 0xa3) && t >= 0xa1:
			return 0.5, true
		}
		return -0.6, true
	}, noSingle},
	{"euc-jp", func(b byte) bool { return within(b, 0xa1, 0xfe) || b == 0x8e }, func(l, t byte) (float64, bool) {
		switch {
		case t < 0xa1 || t == 0xff:
			return 0, false
		case l == 0xa4 || l == 0xa5:
			return 1.1, true
		case within(l, 0xb0, 0xcf):
			return 0.85, true
		case within(l, 0xa1, 0xa3):
			return 0.5, true
		}
		return -0.5, true
	}, noSingle},
	{"cp932", func(b byte) bool { return within(b, 0x81, 0x9f) || within(b, 0xe0, 0xfc) }, func(l, t byte) (float64, bool) {
		switch {
		case !within(t, 0x40, 0x7e) && !within(t, 0x80, 0xfc):
			return 0, false
		case l == 0x82 && t >= 0x9f || l == 0x83 && t <= 0x96:
			return 1.1, true
		case l == 0x81 || l == 0x82:
			return 0.5, true
		case within(l, 0x88, 0x98):
			return 0.95, true
		}
		return -0.4, true
	}, func(b byte) (float64, bool) { return -0.7, within(b, 0xa1, 0xdf) }},
}

func (p pairs) score(b []byte) (float64, bool) {
	sum, high := 0.0, 0
	for i := 0; i < len(b); i++ {
		if b[i] < 0x80 {
			continue
		}
		high++
		if !p.lead(b[i]) {
			q, ok := p.single(b[i])
			if !ok {
				return 0, false
			}
			sum += q
			continue
		}
		if i+1 == len(b) {
			return 0, false
		}
		q, ok := p.points(b[i], b[i+1])
		if !ok {
			return 0, false
		}
		if b[i+1] >= 0x80 {
			high++
			q *= 2
		}
		sum += q
		i++
	}
	return sum / float64(max(high, 1)), high > 0
}

// letterScore judges text of an alphabet by the neighbours of its letters.
func letterScore(name string, rs []rune) (float64, bool) {
	var script *unicode.RangeTable
	switch name {
	case "cp1251", "koi8-r":
		script = unicode.Cyrillic
	case "cp1253":
		script = unicode.Greek
	}
	sum, high := 0.0, 0
	at := func(i int) rune {
		if i < 0 || i >= len(rs) {
			return ' '
		}
		return rs[i]
	}
	for i, r := range rs {
		if r < 0x80 {
			continue
		}
		high++
		before, after := at(i-1), at(i+1)
		switch {
		case r < 0xa0: // undefined in the code page
			return 0, false
		case !unicode.IsLetter(r):
			sum += symbolPoints(r, name)
			continue
		case script != nil:
			if !unicode.Is(script, r) {
				sum -= 0.5
				continue
			}
			if before < 0x80 && unicode.IsLetter(before) || after < 0x80 && unicode.IsLetter(after) {
				sum -= 0.6
				continue
			}
			sum += 0.8
			if commonLetter(r) {
				sum += 0.25
			}
		default:
			run := before >= 0x80 && unicode.IsLetter(before) && after >= 0x80 && unicode.IsLetter(after)
			if run {
				sum -= 0.6
				continue
			}
			sum += latinPoints(r, name)
		}
		if unicode.IsLower(before) && unicode.IsUpper(r) || before >= 0x80 && unicode.IsLower(r) && unicode.IsUpper(after) {
			sum -= 1.2
		}
	}
	return sum / float64(max(high, 1)), high > 0
}

func commonLetter(r rune) bool {
	switch unicode.ToLower(r) {
	case 'о', 'е', 'а', 'и', 'н', 'т', 'с', 'р', 'в', 'л', 'α', 'ο', 'ι', 'ε', 'τ', 'σ', 'ν', 'η', 'υ', 'ς', 'ρ':
		return true
	}
	return false
}

// latinPoints prefers the letters of the large languages of each code page.
func latinPoints(r rune, name string) float64 {
	switch unicode.ToLower(r) {
	case 'ä', 'ö', 'ü', 'ß', 'é', 'á', 'í', 'ó', 'ú':
		return 1
	case 'è', 'ê', 'à', 'â', 'ç', 'ñ', 'å', 'ø', 'æ', 'ã', 'õ', 'ô', 'î', 'ï', 'ë', 'û', 'ù', 'ò', 'ì', 'œ':
		return 0.95
	case 'ą', 'ę', 'ł', 'ś', 'ż', 'ź', 'ć', 'ń', 'č', 'š', 'ž', 'ř', 'ě', 'ů', 'ý', 'ő', 'ű', 'ď', 'ť', 'ň':
		if name == "cp1250" {
			return 0.9
		}
		return 0.5
	}
	return 0.1
}

func symbolPoints(r rune, name string) float64 {
	switch r {
	case '€', '“', '”', '„', '‘', '’', '–', '—', '…', '°', '§', '£', '²', '³', 'µ', '«', '»', '·', '®', '©', '™', '½', 0xa0, '№', '±', '•', '¿', '¡', 'º', 'ª':
		if name == "mac-roman" {
			return 0.6
		}
		return 0.8
	}
	return -0.6
}
