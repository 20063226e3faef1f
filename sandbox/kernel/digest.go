package kernel

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// DigestLimits bounds a [Digest], in bytes of text.
type DigestLimits struct {
	Head   int // of the beginning
	Tail   int // of the end
	Errors int // of lines between them that look like errors
}

// A Digest keeps of a run's output what a model should read: the beginning,
// the end, and the lines between that look like errors. Lines that a progress
// bar has overwritten are dropped, and equal lines that follow each other are
// counted. Its memory is bounded by its limits. The zero value keeps nothing;
// use NewDigest.
type Digest struct {
	lim      DigestLimits
	head     strings.Builder
	full     bool // head takes no more
	tail     []string
	tailSize int
	errs     []string
	errSize  int
	lines    int   // lines so far
	cutLines int   // lines that are neither in head nor in tail
	cutBytes int64 // and their bytes

	line     strings.Builder // the line that is being written
	lineCut  int             // bytes that did not fit into it
	cr       bool            // a carriage return was the last character
	previous string          // last line, for counting
	repeats  int
}

// maxDigestLine is the part of one line that is kept.
const maxDigestLine = 2000

// NewDigest returns an empty digest. Zero limits become 3000, 1500 and 800.
func NewDigest(lim DigestLimits) *Digest {
	for _, d := range []struct {
		v   *int
		def int
	}{{&lim.Head, 3000}, {&lim.Tail, 1500}, {&lim.Errors, 800}} {
		if *d.v <= 0 {
			*d.v = d.def
		}
	}
	return &Digest{lim: lim}
}

// Add takes the next piece of output. Of an object it keeps the text; a
// picture becomes a remark that the user sees it.
func (d *Digest) Add(o Output) {
	if o.Data == nil {
		d.text(o.Text)
		return
	}
	if d.line.Len() > 0 {
		d.commit()
	}
	text := strings.TrimRight(string(o.Data["text/plain"]), "\n")
	if o.Data["image/png"] != nil {
		text = "[shown to the user as a picture: " + text + "]"
	}
	d.text(text + "\n")
}

func (d *Digest) text(s string) {
	for len(s) > 0 {
		i := strings.IndexAny(s, "\r\n")
		if d.cr && i != 0 {
			d.line.Reset() // what follows overwrites the line
			d.lineCut = 0
		}
		if i != 0 {
			d.cr = false
		}
		part := s
		if i >= 0 {
			part = s[:i]
		}
		d.extend(part)
		if i < 0 {
			return
		}
		if s[i] == '\n' {
			d.commit()
		}
		d.cr = s[i] == '\r'
		s = s[i+1:]
	}
}

func (d *Digest) extend(s string) {
	room := maxDigestLine - d.line.Len()
	if len(s) > room {
		cut := max(room, 0)
		for cut > 0 && !utf8.RuneStart(s[cut]) {
			cut--
		}
		d.lineCut += len(s) - cut
		s = s[:cut]
	}
	d.line.WriteString(s)
}

// commit ends the line.
func (d *Digest) commit() {
	l := d.line.String()
	if d.lineCut > 0 {
		l += fmt.Sprintf("… [%d bytes cut]", d.lineCut)
	}
	d.line.Reset()
	d.lineCut, d.cr = 0, false
	if l == d.previous && l != "" && d.lines > 0 {
		d.repeats++
		return
	}
	d.flushRepeats()
	d.previous = l
	d.put(l)
}

func (d *Digest) flushRepeats() {
	if d.repeats > 0 {
		d.put(fmt.Sprintf("[the same line %d more times]", d.repeats))
		d.repeats = 0
	}
}

func (d *Digest) put(l string) {
	d.lines++
	l += "\n"
	if !d.full && d.head.Len()+len(l) <= d.lim.Head {
		d.head.WriteString(l)
		return
	}
	if !d.full {
		d.full = true
		if d.head.Len() == 0 { // one long line is better than none
			room := d.lim.Head
			for room > 0 && !utf8.RuneStart(l[room]) {
				room--
			}
			d.head.WriteString(l[:room])
			d.head.WriteString("…\n")
			l = l[room:]
		}
	}
	d.tail = append(d.tail, l)
	d.tailSize += len(l)
	for d.tailSize > d.lim.Tail && len(d.tail) > 1 {
		d.drop(d.tail[0])
		d.tailSize -= len(d.tail[0])
		d.tail = d.tail[1:]
	}
}

// drop takes a line out of the middle; it stays only if it tells of an error.
func (d *Digest) drop(l string) {
	d.cutLines++
	d.cutBytes += int64(len(l))
	if looksWrong(l) && d.errSize < d.lim.Errors {
		if len(l) > 200 {
			l = clip(l, 200) + "\n"
		}
		d.errs = append(d.errs, l)
		d.errSize += len(l)
	}
}

func looksWrong(l string) bool {
	l = strings.ToLower(l)
	for _, w := range []string{"error", "exception", "traceback", "warning", "failed", "fatal"} {
		if strings.Contains(l, w) {
			return true
		}
	}
	return false
}

// Text returns the digest of all that was added.
func (d *Digest) Text() string {
	c := d.clone()
	if c.line.Len() > 0 {
		c.commit()
	}
	c.flushRepeats()
	var b strings.Builder
	b.WriteString(c.head.String())
	if c.cutLines > 0 {
		fmt.Fprintf(&b, "[... %d lines, %d bytes left out ...]\n", c.cutLines, c.cutBytes)
		if len(c.errs) > 0 {
			b.WriteString("[lines among them that look like errors:]\n")
			for _, e := range c.errs {
				b.WriteString(e)
			}
			b.WriteString("[... the end:]\n")
		}
	}
	end := strings.Join(c.tail, "")
	if over := len(end) - c.lim.Tail; over > 0 && len(c.tail) > 0 {
		for over < len(end) && !utf8.RuneStart(end[over]) {
			over++
		}
		end = "…" + end[over:]
	}
	b.WriteString(end)
	return b.String()
}

// clone lets Text finish the last line without ending it for good.
func (d *Digest) clone() *Digest {
	c := *d
	c.head, c.line = strings.Builder{}, strings.Builder{}
	c.head.WriteString(d.head.String())
	c.line.WriteString(d.line.String())
	c.tail = append([]string(nil), d.tail...)
	c.errs = append([]string(nil), d.errs...)
	return &c
}
