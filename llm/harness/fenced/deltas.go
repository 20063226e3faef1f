package fenced

import "atoll/llm"

// deltas joins neighbours of the same kind, so that one piece makes few.
type deltas []llm.Delta

func (d *deltas) text(s string) {
	if s == "" {
		return
	}
	if n := len(*d); n > 0 && (*d)[n-1].Text != "" {
		(*d)[n-1].Text += s
		return
	}
	*d = append(*d, llm.Delta{Text: s})
}

func (d *deltas) code(s string) {
	if s == "" {
		return
	}
	if n := len(*d); n > 0 && (*d)[n-1].Code != "" {
		(*d)[n-1].Code += s
		return
	}
	*d = append(*d, llm.Delta{Code: s})
}
