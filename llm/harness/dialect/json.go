package dialect

import "strings"

// A Repair is a kind of fault in JSON whose intent is certain enough to be
// read all the same.
type Repair uint

// The repairs. Their names in files are those of [Repairs].
const (
	TrailingComma Repair = 1 << iota // [1, 2,]
	RawNewline                       // a line end or tab in a string
	MissingEnd                       // braces that the end of the call closes
	SingleQuotes                     // 'a', where no other reading is possible
	TripleQuotes                     // """a"""
	Backslash                        // "\d" and "C:\Users\new"
	BareCode                         // a program where its JSON is due
)

// Repairs names all repairs.
var Repairs = map[string]Repair{
	"trailing-comma": TrailingComma, "raw-newline": RawNewline, "missing-end": MissingEnd, "single-quotes": SingleQuotes,
	"triple-quotes": TripleQuotes, "backslash": Backslash, "bare-code": BareCode,
}

// AllRepairs allows every repair.
const AllRepairs = TrailingComma | RawNewline | MissingEnd | SingleQuotes | TripleQuotes | Backslash | BareCode

// A value is one JSON value.
type value struct {
	kind  byte // 'o' object, 'a' array, 's' string, 'x' number or word
	text  string
	list  []value
	names []string // of list, in an object
}

// get returns the value of the first of the keys that an object has.
func (v value) get(keys ...string) (value, bool) {
	for _, k := range keys {
		for i, n := range v.names {
			if n == k {
				return v.list[i], true
			}
		}
	}
	return value{}, false
}

type status int

const (
	whole status = iota
	more         // the text ends within the value
	bad          // no continuation makes it a value
)

// deepest bounds nesting, against texts made to exhaust the stack.
const deepest = 64

// readJSON reads the value at the start of s and returns how long it is. end
// says that no more comes; then missing ends may be repaired.
func readJSON(s string, allow Repair, end bool) (v value, n int, st status) {
	r := reader{s: s, allow: allow, end: end}
	v = r.value(0)
	return v, r.i, r.st
}

type reader struct {
	s     string
	i     int
	allow Repair
	end   bool
	st    status
}

func (r *reader) fail(st status) value {
	if r.st == whole {
		r.st = st
	}
	return value{}
}

// peek returns the next byte that is no space, 0 at the end of the text.
func (r *reader) peek() byte {
	for r.i < len(r.s) {
		switch c := r.s[r.i]; c {
		case ' ', '\t', '\n', '\r':
			r.i++
		default:
			return c
		}
	}
	return 0
}

// out is what the end of the text means where more is due.
func (r *reader) out() value {
	if r.end {
		return r.fail(bad)
	}
	return r.fail(more)
}

func (r *reader) value(depth int) value {
	switch c := r.peek(); {
	case depth > deepest:
		return r.fail(bad)
	case c == 0:
		return r.out()
	case c == '{':
		return r.group('o', '}', depth)
	case c == '[':
		return r.group('a', ']', depth)
	case c == '"', c == '\'' && r.allow&SingleQuotes != 0:
		return value{kind: 's', text: r.str()}
	}
	n := 0
	for r.i+n < len(r.s) && strings.IndexByte(" \t\r\n,:{}[]\"'", r.s[r.i+n]) < 0 {
		n++
	}
	w := r.s[r.i : r.i+n]
	switch {
	case r.i+n == len(r.s):
		if !r.end {
			return r.fail(more)
		}
		return r.fail(bad) // a word that ends with the text may be cut
	case !word(w):
		return r.fail(bad)
	}
	r.i += n
	return value{kind: 'x', text: w}
}

// word reports whether w is a number or constant of JSON or Python.
func word(w string) bool {
	switch w {
	case "true", "false", "null", "True", "False", "None":
		return true
	}
	return w != "" && strings.Trim(w, "0123456789+-.eE") == "" && strings.ContainsAny(w, "0123456789")
}

// group reads an object or array.
func (r *reader) group(kind, last byte, depth int) value {
	v := value{kind: kind}
	r.i++
	for first := true; ; first = false {
		c := r.peek()
		if c == 0 && r.end && !first && r.allow&MissingEnd != 0 {
			return v // what stands there is complete
		}
		if !first && c == ',' {
			r.i++
			if c = r.peek(); c == last && r.allow&TrailingComma == 0 {
				return r.fail(bad)
			}
		} else if !first && c != last && c != 0 {
			return r.fail(bad)
		}
		switch c {
		case 0:
			return r.out()
		case last:
			r.i++
			return v
		}
		if kind == 'o' {
			if c != '"' && (c != '\'' || r.allow&SingleQuotes == 0) {
				return r.fail(bad)
			}
			name := r.str()
			if r.st != whole {
				return value{}
			}
			if _, twice := v.get(name); twice {
				return r.fail(bad) // which of them is meant is a guess
			}
			switch r.peek() {
			case 0:
				return r.out()
			case ':':
				r.i++
			default:
				return r.fail(bad)
			}
			v.names = append(v.names, name)
		}
		v.list = append(v.list, r.value(depth+1))
		if r.st != whole {
			return value{}
		}
	}
}

// str reads a string.
func (r *reader) str() string {
	quote := r.s[r.i]
	if rest := r.s[r.i:]; quote == '"' && r.allow&TripleQuotes != 0 {
		if len(rest) < 3 && strings.HasPrefix(`"""`, rest) && !r.end {
			r.fail(more)
			return ""
		}
		if strings.HasPrefix(rest, `"""`) {
			return r.triple()
		}
	}
	r.i++
	begin := r.i
	for r.i < len(r.s) {
		switch c := r.s[r.i]; {
		case c == quote:
			raw := r.s[begin:r.i]
			r.i++
			if quote == '\'' && !r.closed() {
				return ""
			}
			text, ok := unescape(raw, quote, r.allow&Backslash != 0)
			if !ok {
				r.fail(bad)
			}
			return text
		case c == '\\':
			r.i += 2
		case c < ' ' && r.allow&RawNewline == 0:
			r.fail(bad)
			return ""
		default:
			r.i++
		}
	}
	r.i = len(r.s)
	r.out()
	return ""
}

// closed reports whether what follows a single quote can only follow the end
// of a string.
func (r *reader) closed() bool {
	for j := r.i; j < len(r.s); j++ {
		switch r.s[j] {
		case ' ', '\t', '\n', '\r':
		case ',', ':', '}', ']':
			return true
		default:
			r.fail(bad)
			return false
		}
	}
	if !r.end {
		r.fail(more)
	}
	return r.end
}

// triple reads a string in three double quotes, as Python has them.
func (r *reader) triple() string {
	body := r.s[r.i+3:]
	n := strings.Index(body, `"""`)
	if n < 0 {
		r.i = len(r.s)
		r.out()
		return ""
	}
	for strings.HasPrefix(body[n+1:], `"""`) { // a quote at the end of the text
		n++
	}
	if n+3 == len(body) && !r.end {
		r.fail(more) // a fourth quote would belong to the text
		return ""
	}
	r.i += 3 + n + 3
	return body[:n]
}
