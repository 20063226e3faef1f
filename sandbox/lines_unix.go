//go:build linux || darwin

package sandbox

import (
	"bufio"
	"errors"
)

var errLongLine = errors.New("a line is too long")

// readLine returns the next line with its end. Whoever sends more than limit
// bytes without one is not listened to any further.
func readLine(r *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > limit {
			return nil, errLongLine
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}
