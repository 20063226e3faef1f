package harness

import "strings"

// Cut returns what of out, the whole text that a model would write, is
// generated under the rules of Stop, Arm and Sampling.Stop, and the stop
// string that was met. The stop string that is complete first counts, of two
// the longer one. One of Stop counts where it begins behind the text that
// armed it; one of Sampling.Stop, which people set, counts at once.
func (p Prompt) Cut(out string) (text, stop string) {
	begin := -1 // where Stop begins to count
	if len(p.Arm) == 0 {
		begin = 0
	}
	for _, a := range p.Arm {
		if i := strings.Index(out, a); i >= 0 && (begin < 0 || i+len(a) < begin) {
			begin = i + len(a)
		}
	}
	start, end := -1, -1
	find := func(stops []string, from int) {
		for _, s := range stops {
			if s == "" { // it would stop before the first character
				continue
			}
			i := strings.Index(out[from:], s)
			if i < 0 {
				continue
			}
			i += from
			if e := i + len(s); end < 0 || e < end || e == end && i < start {
				start, end, stop = i, e, s
			}
		}
	}
	if begin >= 0 {
		find(p.Stop, begin)
	}
	find(p.Sampling.Stop, 0)
	if end < 0 {
		return out, ""
	}
	return out[:start], stop
}
