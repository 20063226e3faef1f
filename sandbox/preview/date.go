package preview

import (
	"bytes"
	"time"
)

// A layout is one way to write dates, for Go and for Python's strptime.
type layout struct {
	python   string
	layouts  []string // any of these, in Go's notation
	time     bool     // has a time of day
	fraction bool     // has fractions of a second
	zoned    bool
	steps    []step // how to read it quickly; nil: it cannot be
	order    byte   // 'd' day first, 'm' month first, 0: cannot be mistaken
}

// layouts is every layout that is tried, in order of preference.
func layouts() []layout {
	var ls []layout
	type form struct{ python, golang string }
	clocks := []struct {
		form
		fraction bool
	}{
		{form{"", ""}, false},
		{form{" %H:%M", " 15:04"}, false},
		{form{" %H:%M:%S", " 15:04:05"}, false},
		{form{" %H:%M:%S.%f", " 15:04:05"}, true},
		{form{" %I:%M %p", " 3:04 PM"}, false},
		{form{" %I:%M:%S %p", " 3:04:05 PM"}, false},
	}
	days := []struct {
		form
		order byte
	}{
		{form{"%Y-%m-%d", "2006-01-02"}, 0},
		{form{"%Y/%m/%d", "2006/01/02"}, 0},
		{form{"%Y.%m.%d", "2006.01.02"}, 0},
		{form{"%d.%m.%Y", "2.1.2006"}, 0},
		{form{"%d.%m.%y", "2.1.06"}, 0},
		{form{"%d/%m/%Y", "2/1/2006"}, 'd'},
		{form{"%m/%d/%Y", "1/2/2006"}, 'm'},
		{form{"%d-%m-%Y", "2-1-2006"}, 'd'},
		{form{"%m-%d-%Y", "1-2-2006"}, 'm'},
		{form{"%d/%m/%y", "2/1/06"}, 'd'},
		{form{"%m/%d/%y", "1/2/06"}, 'm'},
		{form{"%d %b %Y", "2 Jan 2006"}, 0},
		{form{"%d-%b-%Y", "2-Jan-2006"}, 0},
		{form{"%d-%b-%y", "2-Jan-06"}, 0},
		{form{"%d %B %Y", "2 January 2006"}, 0},
		{form{"%b %d, %Y", "Jan 2, 2006"}, 0},
		{form{"%B %d, %Y", "January 2, 2006"}, 0},
	}
	for _, d := range days {
		for _, c := range clocks {
			ls = append(ls, layout{
				python: d.python + c.python, layouts: []string{d.golang + c.golang},
				time: c.python != "", fraction: c.fraction, order: d.order,
				steps: compile(d.python+c.python, d.golang+c.golang),
			})
		}
	}
	return append(ls,
		layout{python: "%Y-%m", layouts: []string{"2006-01"}, steps: compile("%Y-%m", "2006-01")},
		layout{python: "%Y-%m-%dT%H:%M:%S", layouts: []string{"2006-01-02T15:04:05"}, time: true, steps: compile("%Y-%m-%dT%H:%M:%S", "2006-01-02T15:04:05")},
		layout{python: "ISO8601", layouts: []string{"2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02"}, time: true, fraction: true},
		layout{python: "ISO8601", layouts: []string{time.RFC3339, "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04Z07:00"}, time: true, fraction: true, zoned: true},
	)
}

var isoDay = compile("%Y-%m-%d", "2006-01-02")

// parse reads s; loose is for ISO8601, where a fraction may be there or not.
func (l *layout) parse(s string, fraction bool) (time.Time, bool) {
	if l.python != "ISO8601" && fraction != l.fraction {
		return time.Time{}, false
	}
	if t, ok, sure := quick(l.steps, s); sure {
		return t, ok
	}
	if l.python == "ISO8601" && len(s) <= 10 { // a plain day: the only short form
		if l.zoned {
			return time.Time{}, false
		}
		if t, ok, sure := quick(isoDay, s); sure {
			return t, ok
		}
	}
	for _, g := range l.layouts {
		if t, err := time.Parse(g, s); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// dateLike is a cheap test that saves most values the costly ones.
func dateLike(b []byte) bool {
	if len(b) < 6 || len(b) > 40 {
		return false
	}
	marks, digits := 0, 0
	for _, c := range b {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c == '-' || c == '/' || c == '.' || c == ':' || c == ' ' || c == ',':
			marks++
		}
	}
	return digits >= 3 && marks >= 1 && (marks >= 2 || len(b) == 7 && b[4] == '-')
}

// dating follows the layouts that may fit a column.
type dating struct {
	started bool
	proof   string // the first value that only one order of day and month reads
	live    []candidate
}

type candidate struct {
	layout
	ok          int64
	min, max    time.Time
	previous    time.Time
	unsorted    bool
	offset      int
	offsetsVary bool
}

// add tries b as the n-th value of the column, n from 0.
func (d *dating) add(b []byte, n int64, all []layout) (fits bool) {
	if d.started && len(d.live) == 0 {
		return false
	}
	if !dateLike(b) {
		d.prune(n)
		return false
	}
	s := string(b)
	colon := bytes.IndexByte(b, ':')
	fraction := colon >= 0 && bytes.IndexByte(b[colon:], '.') > 0
	if !d.started {
		if n > 20 {
			return false
		}
		for _, l := range all {
			if t, ok := l.parse(s, fraction); ok {
				_, off := t.Zone()
				d.live = append(d.live, candidate{layout: l, ok: 1, min: t, max: t, previous: t, offset: off})
			}
		}
		d.started = len(d.live) > 0
		if o := onlyOrder(d.live); o != 0 {
			d.proof = clip(s, 40)
		}
		return d.started
	}
	var orders [2]bool // read with the day first, with the month first
	for i := range d.live {
		c := &d.live[i]
		t, ok := c.parse(s, fraction)
		if !ok {
			continue
		}
		fits = true
		if c.order != 0 {
			orders[0], orders[1] = orders[0] || c.order == 'd', orders[1] || c.order == 'm'
		}
		c.ok++
		if t.Before(c.min) {
			c.min = t
		}
		if t.After(c.max) {
			c.max = t
		}
		if t.Before(c.previous) {
			c.unsorted = true
		}
		c.previous = t
		if _, off := t.Zone(); off != c.offset {
			c.offsetsVary = true
		}
	}
	if orders[0] != orders[1] && d.proof == "" {
		d.proof = clip(s, 40)
	}
	d.prune(n)
	return fits
}

// prune drops layouts that fit less than half of many values.
func (d *dating) prune(n int64) {
	if n != 100 && n != 1000 {
		return
	}
	keep := d.live[:0]
	for _, c := range d.live {
		if c.ok*2 >= n {
			keep = append(keep, c)
		}
	}
	d.live = keep
}

// best returns the candidates that fit all n values, and the largest number of
// values that any candidate fits.
func (d *dating) best(n int64) (fit []candidate, most int64) {
	for _, c := range d.live {
		most = max(most, c.ok)
		if c.ok == n && !c.offsetsVary {
			fit = append(fit, c)
		}
	}
	return fit, most
}
