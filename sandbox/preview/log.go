package preview

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// logTime is a time at the start of a line, or in the bracket of a web server.
var logTime = regexp.MustCompile(`^\W{0,2}(\d{4}[-/.]\d\d[-/.]\d\d[T ]\d\d:\d\d(:\d\d([.,]\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?|\d\d[-/.]\d\d[-/.]\d{2,4}[ ,]+\d\d:\d\d(:\d\d([.,]\d{1,9})?)?|[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d|\d\d:\d\d:\d\d([.,]\d{1,9})?)|\[(\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4})\]`)

var logLevel = regexp.MustCompile(`\b(TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL|SEVERE|trace|debug|info|notice|warn|warning|error|critical|fatal)\b`)

// logVary is what differs from line to line of the same pattern.
var logVary = regexp.MustCompile(`"[^"]{0,200}"|'[^']{0,200}'|\b[0-9a-fA-F]{8,}(-[0-9a-fA-F]{4,})*\b|0x[0-9a-fA-F]+|/[\w./-]+|\d+([.,:]\d+)*`)

const (
	logLines    = 3000 // of the head
	logLine     = 500  // bytes of one that are looked at
	logPatterns = 500
)

// log notes what the lines of a log have in common; last is the last line.
func (c *Card) log(lines [][]byte, last []byte) {
	n, timed := 0, 0
	var first string
	levels := map[string]int{}
	patterns := map[string]int{}
	for _, l := range lines[:min(len(lines), logLines)] {
		l = bytes.TrimSpace(l[:min(len(l), logLine)])
		if len(l) == 0 {
			continue
		}
		n++
		rest := l
		if m := logTime.FindSubmatchIndex(l); m != nil {
			timed++
			if first == "" {
				first = logMoment(l, m)
			}
			if m[2] >= 0 {
				rest = l[m[3]:]
			}
		}
		if m := logLevel.Find(rest[:min(len(rest), 80)]); m != nil {
			levels[strings.ToUpper(string(m))]++
		}
		p := clipBytes(logVary.ReplaceAll(rest, []byte("#")), 100)
		if _, known := patterns[p]; known || len(patterns) < logPatterns {
			patterns[p]++
		}
	}
	leveled := 0
	for _, k := range levels {
		leveled += k
	}
	if n < 3 || timed*2 < n && leveled*2 < n {
		return
	}
	part := ""
	if int64(len(lines)) < c.Rows {
		part = fmt.Sprintf(" in the first %d lines", min(len(lines), logLines))
	}
	if timed*2 >= n {
		c.Detail = append(c.Detail, fmt.Sprintf("a log: %d of %d lines%s begin with a time", timed, n, part))
		s := "times: first " + shown(first, 40)
		if m := logTime.FindSubmatchIndex(last); m != nil {
			s += ", last " + shown(logMoment(last, m), 40)
		}
		c.Quotes = append(c.Quotes, s)
	}
	if leveled > 0 {
		c.Detail = append(c.Detail, "levels"+part+": "+strings.Join(ranked(levels, 8, func(s string, k int) string { return fmt.Sprintf("%s %d", s, k) }), ", "))
	}
	for p, k := range patterns {
		if k < 3 || k*50 < n {
			delete(patterns, p)
		}
	}
	if len(patterns) > 0 {
		c.Quotes = append(c.Quotes, "frequent lines"+part+": "+strings.Join(ranked(patterns, 5, func(s string, k int) string { return fmt.Sprintf("%d x %s", k, shown(strings.TrimSpace(s), 90)) }), ", "))
	}
}

func logMoment(l []byte, m []int) string {
	if m[2] >= 0 {
		return string(l[m[2]:m[3]])
	}
	return string(l[m[len(m)-2]:m[len(m)-1]])
}

// ranked is the most frequent keys of counts, at most n, in words.
func ranked(counts map[string]int, n int, words func(string, int) string) (out []string) {
	var keys []string
	for k := range counts {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int {
		if counts[a] != counts[b] {
			return counts[b] - counts[a]
		}
		return strings.Compare(a, b)
	})
	for _, k := range keys[:min(n, len(keys))] {
		out = append(out, words(k, counts[k]))
	}
	return out
}
