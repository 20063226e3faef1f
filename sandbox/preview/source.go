package preview

// A span is a part of the file, from inclusive, to exclusive.
type span struct{ from, to int64 }

// parts is the whole file when it has at most whole bytes, else its head, n
// blocks spread evenly over the rest, and the last block.
func (s source) parts(whole, head int64, n int, block int64) []span {
	if s.size <= whole {
		return []span{{0, s.size}}
	}
	p := []span{{0, min(head, s.size)}}
	step := (s.size - head) / int64(n)
	for i := range n {
		from := head + int64(i)*step
		if i == n-1 {
			from = s.size - block
		}
		from = max(from, p[len(p)-1].to)
		if to := min(from+block, s.size); to > from {
			p = append(p, span{from, to})
		}
	}
	return p
}
