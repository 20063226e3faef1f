package preview

import (
	"bytes"
	"context"
	"encoding/binary"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

// A charset is an encoding that was found.
type charset struct {
	name   string // Python's codec name; empty: the file is not text
	by     string // "bom", "utf-8", "guess" or "chosen"
	bom    int    // bytes to skip
	others []string
	nul    bool // there are NUL bytes in otherwise good text
	stray  bool // a few bytes do not fit
}

// encodings is every name that may be chosen.
var encodings = [...]string{
	"utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1250", "cp1251", "cp1252", "cp1253",
	"latin-1", "koi8-r", "mac-roman", "gb18030", "big5", "cp932", "euc-jp", "cp949",
}

// chosen is the charset that a person chose.
func chosen(name string, head []byte) charset {
	c := charset{name: name, by: "chosen"}
	if name == "utf-8-sig" && bytes.HasPrefix(head, []byte("\xef\xbb\xbf")) {
		c.bom = 3
	}
	if _, fits := c.decode(head[:len(head)&^3]); !fits && len(head) < 64<<10 {
		c.stray = true
	}
	return c
}

// wide says that ASCII is not one byte in the encoding.
func (c charset) wide() bool {
	return len(c.name) > 5 && (c.name[:6] == "utf-16" || c.name[:6] == "utf-32")
}

func (c charset) decoder() *encoding.Decoder {
	switch c.name {
	case "utf-16":
		return unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder()
	case "utf-16-le":
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewDecoder()
	case "utf-16-be":
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM).NewDecoder()
	case "utf-32":
		return utf32.UTF32(utf32.LittleEndian, utf32.ExpectBOM).NewDecoder()
	case "cp1250":
		return charmap.Windows1250.NewDecoder()
	case "cp1251":
		return charmap.Windows1251.NewDecoder()
	case "cp1252":
		return charmap.Windows1252.NewDecoder()
	case "cp1253":
		return charmap.Windows1253.NewDecoder()
	case "latin-1":
		return charmap.ISO8859_1.NewDecoder()
	case "koi8-r":
		return charmap.KOI8R.NewDecoder()
	case "mac-roman":
		return charmap.Macintosh.NewDecoder()
	case "gb18030":
		return simplifiedchinese.GB18030.NewDecoder()
	case "big5":
		return traditionalchinese.Big5.NewDecoder()
	case "cp932":
		return japanese.ShiftJIS.NewDecoder()
	case "euc-jp":
		return japanese.EUCJP.NewDecoder()
	case "cp949":
		return korean.EUCKR.NewDecoder()
	}
	return encoding.Nop.NewDecoder()
}

// decode turns a part of the file into UTF-8 and says whether all of it fitted.
func (c charset) decode(b []byte) ([]byte, bool) {
	switch c.name {
	case "utf-8", "utf-8-sig":
		if utf8.Valid(b) {
			return b, true
		}
		return bytes.ToValidUTF8(b, []byte("\uFFFD")), false
	}
	d, err := c.decoder().Bytes(b)
	if err != nil {
		return bytes.ToValidUTF8(b, []byte("\uFFFD")), false
	}
	return d, !bytes.Contains(d, []byte("\uFFFD"))
}

const (
	scanMax    = 128 << 20 // bytes that are looked at one by one
	scanChunk  = 1 << 20
	guessBytes = 64 << 10 // sample of the surroundings of bytes above 127
)

// tally is what a pass over the bytes counts.
type tally struct {
	bytes, nul     int64
	looked         int64  // bytes among which control is counted
	control        int64  // codes that no text has
	invalid, multi int64  // bad bytes and good sequences in UTF-8
	high           []byte // surroundings of bytes above 127
}

// add counts the chunk b and returns how many bytes at its end belong to a
// sequence that b cuts.
func (t *tally) add(b []byte, last bool) int {
	keep := 0
	if !last {
		for keep < 3 && keep < len(b) && !utf8.RuneStart(b[len(b)-1-keep]) {
			keep++
		}
		if keep < len(b) && !utf8.FullRune(b[len(b)-1-keep:]) {
			keep++
		} else {
			keep = 0
		}
	}
	b = b[:len(b)-keep]
	t.bytes += int64(len(b))
	t.nul += int64(bytes.Count(b, []byte{0}))
	if len(t.high) >= 4096 && utf8.Valid(b) || t.bytes > 4<<20 && ascii(b) {
		return keep // nothing new is to be learned here
	}
	t.looked += int64(len(b))
	for _, c := range b {
		if noText(c) {
			t.control++
		}
	}
	for i := 0; i < len(b); {
		if b[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			t.invalid++
		} else {
			t.multi++
		}
		if len(t.high) < guessBytes {
			// Multi-byte encodings must be cut between characters: a line's
			// start is always one.
			from := bytes.LastIndexByte(b[max(0, i-400):i], '\n') + 1 + max(0, i-400)
			to := min(len(b), i+400)
			if j := bytes.IndexByte(b[i:to], '\n'); j >= 0 {
				to = i + j + 1
			}
			t.high = append(t.high, b[from:to]...)
			t.high = append(t.high, '\n')
			for k := i; k < to; k++ {
				if b[k] < utf8.RuneSelf {
					continue
				}
				r, n := utf8.DecodeRune(b[k:])
				if r == utf8.RuneError && n == 1 {
					if k > i {
						t.invalid++
					}
				} else if k += n - 1; k > i {
					t.multi++
				}
			}
			i = max(to, i+n)
			continue
		}
		i += n
	}
	return keep
}

// noText reports whether c is a control code that text does not have. Line
// ends, tabs, the line break inside a field (vertical tab), the page break,
// the end mark of DOS (0x1A), escape and the separators from 0x1C on do occur.
// NUL is counted apart.
func noText(c byte) bool {
	return c > 0 && c < '\t' || c > '\r' && c < 0x1a || c == 0x7f
}

// ascii looks at eight bytes at a time.
func ascii(b []byte) bool {
	for ; len(b) >= 8; b = b[8:] {
		if binary.LittleEndian.Uint64(b)&0x8080808080808080 != 0 {
			return false
		}
	}
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// findCharset says how the file's bytes are to be read as text.
func findCharset(ctx context.Context, s source) (charset, error) {
	head, err := s.at(0, 64<<10)
	if err != nil {
		return charset{}, err
	}
	switch {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		return charset{name: "utf-8-sig", by: "bom", bom: 3}, nil
	case bytes.HasPrefix(head, []byte("\xff\xfe\x00\x00")) && len(head)%4 == 0:
		return charset{name: "utf-32", by: "bom"}, nil
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return charset{name: "utf-16", by: "bom"}, nil
	}
	if bytes.IndexByte(head, 0) >= 0 {
		for _, name := range []string{"utf-16-le", "utf-16-be"} {
			if c := (charset{name: name, by: "guess"}); looksWide(c, head) {
				return c, nil
			}
		}
	}
	var t tally
	buf := make([]byte, min(scanChunk, s.size))
	for _, p := range s.parts(scanMax, 16<<20, 64, 256<<10) {
		for off := p.from; off < p.to; {
			if err := ctx.Err(); err != nil {
				return charset{}, err
			}
			b, err := s.into(buf[:min(int64(len(buf)), p.to-off)], off)
			if err != nil {
				return charset{}, err
			}
			if len(b) == 0 {
				break
			}
			last := off+int64(len(b)) >= p.to
			if p.from > 0 && off == p.from {
				for len(b) > 0 && !utf8.RuneStart(b[0]) && !last {
					b, off = b[1:], off+1
				}
			}
			keep := t.add(b, last && p.to == s.size)
			off += int64(len(b))
			if !last {
				off -= int64(keep)
			}
		}
	}
	return t.charset(), nil
}

func (t *tally) charset() charset {
	if t.nul*50 > t.bytes || t.control*20 > t.looked {
		return charset{}
	}
	nul := t.nul > 0
	if t.invalid == 0 {
		return charset{name: "utf-8", by: "utf-8", nul: nul}
	}
	if t.multi >= 10*t.invalid {
		return charset{name: "utf-8", by: "utf-8", nul: nul, stray: true}
	}
	// Random bytes fit one-byte encodings too: two in three are letters or signs
	// there. But one in twelve is a control code, which the texts of those
	// encodings do not have; two may be a slip.
	if t.control > 2 && t.control*100 > t.looked {
		return charset{}
	}
	c := guess(t.high)
	c.nul = nul
	return c
}

// looksWide says whether b reads as text in a two-byte encoding.
func looksWide(c charset, b []byte) bool {
	b = b[:len(b)&^1]
	d, fits := c.decode(b)
	if len(b) < 4 || !fits {
		return false
	}
	n, good, ascii := 0, 0, 0
	for _, r := range string(d) {
		n++
		if r >= ' ' && r < 0x7f || r == '\n' || r == '\r' || r == '\t' {
			ascii++
			good++
		} else if r >= 0xa0 && r < 0xe000 {
			good++
		}
	}
	// Every table has separators and line ends, which are ASCII.
	return good*100 >= n*98 && ascii*20 >= n
}
