package sandbox

import (
	"errors"
	"io"
	"os"
	"sync"
)

// stream closes the pipe when it was read to its end.
type stream struct {
	f      *os.File
	budget func(n int) int // how much of n bytes may be passed on; nil: all
}

func (s *stream) Read(p []byte) (int, error) {
	n, err := s.f.Read(p)
	if s.budget != nil && n > 0 {
		if may := s.budget(n); may < n {
			s.f.Close()
			return may, io.EOF
		}
	}
	if errors.Is(err, os.ErrClosed) {
		return n, io.EOF
	}
	if err != nil {
		s.f.Close()
	}
	return n, err
}

// An outputBudget is what both streams of a program may carry together.
type outputBudget struct {
	mu          sync.Mutex
	limit, used int64
}

// take takes n read bytes from it and returns how many of them may be passed on.
func (b *outputBudget) take(n int) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	may := max(min(int64(n), b.limit-b.used), 0)
	b.used += int64(n)
	return int(may)
}
