package preview

import "io"

// A source is the file under examination.
type source struct {
	r    io.ReaderAt
	size int64
}

// at reads up to n bytes at off; less at the end of the file.
func (s source) at(off, n int64) ([]byte, error) {
	return s.into(make([]byte, max(0, min(n, s.size-off))), off)
}

// into fills b from off; less at the end of the file.
func (s source) into(b []byte, off int64) ([]byte, error) {
	b = b[:max(0, min(int64(len(b)), s.size-off))]
	m, err := s.r.ReadAt(b, off)
	if err == io.EOF || m == len(b) {
		err = nil
	}
	return b[:m], err
}

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
