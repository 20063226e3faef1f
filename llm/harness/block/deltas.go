package block

import "atoll/llm"

// Deltas joins neighbours of the same kind, so that one piece makes few.
type Deltas []llm.Delta

// Text adds prose.
func (d *Deltas) Text(s string) {
	if s == "" {
		return
	}
	if n := len(*d); n > 0 && (*d)[n-1].Text != "" {
		(*d)[n-1].Text += s
		return
	}
	*d = append(*d, llm.Delta{Text: s})
}

// Code adds source text.
func (d *Deltas) Code(s string) {
	if s == "" {
		return
	}
	if n := len(*d); n > 0 && (*d)[n-1].Code != "" {
		(*d)[n-1].Code += s
		return
	}
	*d = append(*d, llm.Delta{Code: s})
}
