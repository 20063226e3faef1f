package preview

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"atoll/sandbox"
)

const (
	profileLimit = 15 * time.Minute
	profileStep  = 4 << 20 // bytes between two reports of progress
	profileNoise = 1 << 20 // bytes of progress that the child may write
)

// A pass is how a file is read: the quick one for the first card, or the whole
// one of [Profile].
type pass struct {
	whole    bool
	progress func(done int64) // nil: nobody listens
	reported int64
}

// at reports how far a whole pass has come.
func (p *pass) at(done int64) {
	if p.progress != nil && done-p.reported >= profileStep {
		p.reported = done
		p.progress(done)
	}
}

// ReadWhole is [Read] of every value, out of core: the counts, bounds and means
// of a table are those of the whole file, and the number of different values is
// an estimate good to a few percent. Memory does not grow with the file.
// progress gets the bytes done from time to time; it may be nil.
func ReadWhole(ctx context.Context, path, encoding string, progress func(done int64)) (Card, error) {
	return read(ctx, path, encoding, &pass{whole: true, progress: progress})
}

// Profile is [OfAs] with [ReadWhole]: the exact second card, made in the
// background after the first. It ends at once when ctx does; the child is
// killed. progress gets bytes done and bytes in all, from this goroutine; it
// may be nil.
func Profile(ctx context.Context, runner sandbox.Runner, self []string, path, encoding string, progress func(done, all int64)) (Card, error) {
	real, err := realPath(path)
	if err != nil {
		return Card{}, err
	}
	c, why := ask(ctx, runner, self, request{Path: []byte(real), Encoding: encoding, Whole: true}, progress)
	if err := ctx.Err(); err != nil {
		return Card{}, fmt.Errorf("profile %s: %w", path, err)
	}
	if why != "" {
		c = unread(real, why)
	}
	return c.WithName(filepath.Base(path)), nil
}

// A report is a line that the child writes during a whole pass.
type report struct {
	Done int64           `json:"done,omitempty"`
	Card json.RawMessage `json:"card,omitempty"` // the last line
}

// reports reads the lines of the child up to the card.
func reports(r io.Reader, all int64, progress func(done, all int64)) ([]byte, error) {
	br := bufio.NewReader(io.LimitReader(r, answerMax+profileNoise))
	for {
		line, err := br.ReadBytes('\n')
		var p report
		if json.Unmarshal(line, &p) != nil {
			return nil, errors.Join(errors.New("no report"), err)
		}
		if p.Card != nil {
			return p.Card, nil
		}
		if progress != nil {
			progress(min(max(p.Done, 0), all), all)
		}
	}
}
