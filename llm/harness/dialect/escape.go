package dialect

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// unescape decodes a string's text. A backslash before a character that needs
// none stands for itself if loose is set; then so do all in a path of Windows,
// where "\n" is the beginning of a name.
func unescape(s string, quote byte, loose bool) (string, bool) {
	if strings.IndexByte(s, '\\') < 0 {
		return s, true
	}
	odd := loose && hasOdd(s)
	var b strings.Builder
	for i := 0; i < len(s); {
		if odd && pathAt(s, i) {
			n := i + 2
			for n < len(s) && strings.IndexByte("\"'` \t\n,;()", s[n]) < 0 && (s[n] != '\\' || n+1 < len(s) && s[n+1] != quote) {
				n++
			}
			b.WriteString(strings.ReplaceAll(s[i:n], `\\`, `\`))
			i = n
			continue
		}
		if s[i] != '\\' {
			b.WriteByte(s[i])
			i++
			continue
		}
		if i+1 == len(s) {
			return "", false
		}
		c := s[i+1]
		i += 2
		switch c {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'r':
			b.WriteByte('\r')
		case 'b':
			b.WriteByte('\b')
		case 'f':
			b.WriteByte('\f')
		case '"', '\\', '/':
			b.WriteByte(c)
		case 'u':
			if u, n := unicodeAt(s[i:]); n > 0 {
				b.WriteRune(u)
				i += n
				continue
			}
			fallthrough
		default:
			switch {
			case c == '\'' && quote == '\'':
				b.WriteByte(c)
			case !loose:
				return "", false
			default:
				b.WriteByte('\\')
				i-- // the character itself may be the first byte of more
			}
		}
	}
	return b.String(), true
}

// hasOdd reports whether a backslash stands where JSON has none, so that
// others may not be JSON's either.
func hasOdd(s string) bool {
	for i := 0; i+1 < len(s); i++ {
		if s[i] != '\\' {
			continue
		}
		i++
		if strings.IndexByte(`"\/bfnrtu'`, s[i]) < 0 {
			return true
		}
		if _, n := unicodeAt(s[i+1:]); s[i] == 'u' && n == 0 {
			return true
		}
	}
	return false
}

// pathAt reports whether a path of Windows begins at s[i]: C:\ and a name.
func pathAt(s string, i int) bool {
	letter := func(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
	return i+3 < len(s) && letter(s[i]) && s[i+1] == ':' && s[i+2] == '\\' && letter(s[i+3]) && (i == 0 || !letter(s[i-1]))
}

// unicodeAt decodes the digits behind \u, and the second half of a pair.
func unicodeAt(s string) (r rune, n int) {
	hex := func(s string) (rune, bool) {
		if len(s) < 4 {
			return 0, false
		}
		u := rune(0)
		for _, c := range []byte(s[:4]) {
			d := strings.IndexByte("0123456789abcdef", c|0x20)
			if c < '0' || d < 0 {
				return 0, false
			}
			u = u<<4 | rune(d)
		}
		return u, true
	}
	u, ok := hex(s)
	if !ok {
		return 0, 0
	}
	if utf16.IsSurrogate(u) {
		if strings.HasPrefix(s[4:], `\u`) {
			if low, ok := hex(s[6:]); ok {
				if r := utf16.DecodeRune(u, low); r != utf8.RuneError {
					return r, 10
				}
			}
		}
		return utf8.RuneError, 4
	}
	return u, 4
}
