package preview

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"atoll/sandbox"
)

const (
	timeLimit   = 10 * time.Second
	memoryLimit = 512 << 20
	answerMax   = 1 << 20  // bytes of JSON that the child writes
	requestMax  = 64 << 10 // bytes of JSON that it reads
)

// request is what the child reads. The path is bytes, for not every file name
// is valid UTF-8.
type request struct {
	Path     []byte `json:"path"`
	Encoding string `json:"encoding,omitempty"`
	Whole    bool   `json:"whole,omitempty"` // answer with reports, see [Profile]
}

func (r request) limit() time.Duration {
	if r.Whole {
		return profileLimit
	}
	return timeLimit
}

// WorkerMain is the child: it reads one request on stdin, writes the card on
// stdout and returns the exit status.
func WorkerMain() int {
	debug.SetMemoryLimit(memoryLimit / 2)
	return work(os.Stdin, os.Stdout)
}

func work(in io.Reader, out io.Writer) int {
	var q request
	if err := json.NewDecoder(io.LimitReader(in, requestMax)).Decode(&q); err != nil {
		fmt.Fprintln(os.Stderr, "preview: request:", err)
		return 2
	}
	ctx, cancel := context.WithTimeout(context.Background(), q.limit())
	defer cancel()
	p := &pass{whole: q.Whole}
	if q.Whole {
		p.progress = func(done int64) { _ = json.NewEncoder(out).Encode(report{Done: done}) } // the host sees a lost pipe itself
	}
	c := readSafely(ctx, string(q.Path), q.Encoding, p)
	b, err := c.marshal()
	if err == nil && q.Whole {
		b, err = json.Marshal(report{Card: b})
	}
	if err == nil {
		_, err = out.Write(b)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "preview: answer:", err)
		return 1
	}
	return 0
}

// readSafely is Read with every fault as a card. The parsers of other people
// may panic on a hostile file.
func readSafely(ctx context.Context, path, encoding string, p *pass) (c Card) {
	defer func() {
		if r := recover(); r != nil {
			c = unread(path, "reading it went wrong inside; it may be damaged on purpose")
		}
	}()
	c, err := read(ctx, path, encoding, p)
	if err != nil {
		return unread(path, reason(err, p))
	}
	return c
}

func reason(err error, p *pass) string {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return tooLong(request{Whole: p.whole})
	case errors.Is(err, os.ErrPermission):
		return "there is no permission to read it"
	case errors.Is(err, os.ErrNotExist):
		return "it does not exist"
	case errors.Is(err, ErrEncoding):
		return "the chosen encoding is not known"
	case errors.Is(err, ErrNotFile):
		return "it is not a file"
	}
	return "it could not be read"
}

func tooLong(r request) string {
	return fmt.Sprintf("reading it took longer than %d seconds", int(r.limit()/time.Second))
}

// unread is the card of a file that gave none. It can be attached all the same.
func unread(path, why string) Card {
	c := Card{Name: filepath.Base(path), Kind: Unread}
	if st, err := os.Stat(path); err == nil {
		c.Size = st.Size()
	}
	c.problem("there is no preview: %s", why)
	return c
}

// marshal is the card as JSON of at most answerMax bytes.
func (c Card) marshal() ([]byte, error) {
	for _, smaller := range []func(){
		func() {},
		func() { c.Sample = nil },
		func() {
			for i := range c.Columns {
				c.Columns[i].Examples, c.Columns[i].NA = nil, nil
			}
		},
		func() { c.Columns = c.Columns[:min(len(c.Columns), 50)] },
	} {
		smaller()
		b, err := json.Marshal(c)
		if err != nil || len(b) <= answerMax {
			return b, err
		}
	}
	return nil, errors.New("card is too large")
}

// Of makes the card of the file or the folder at path in a child that may read nothing else,
// started as self (the program and its arguments). Whatever the file does to
// the child ends up as a card with a problem, so that it can be attached. The
// error is ErrNotFile, that of os.Stat, or that of ctx.
func Of(ctx context.Context, runner sandbox.Runner, self []string, path string) (Card, error) {
	return OfAs(ctx, runner, self, path, "")
}

// OfAs is [Of] for a text whose encoding a person chose from [Card.Encodings].
func OfAs(ctx context.Context, runner sandbox.Runner, self []string, path, encoding string) (Card, error) {
	// A link in the path is resolved here: the policy speaks of real files.
	real, err := realPath(path)
	if err != nil {
		return Card{}, err
	}
	c, why := ask(ctx, runner, self, request{Path: []byte(real), Encoding: encoding}, nil)
	if err := ctx.Err(); err != nil {
		return Card{}, fmt.Errorf("preview %s: %w", path, err)
	}
	if why != "" {
		c = unread(real, why)
	}
	// The name is not the child's to say, and Load is made anew here: all that
	// it takes from the child becomes a literal.
	return c.WithName(filepath.Base(path)), nil
}

func realPath(path string) (string, error) {
	given := path
	path, err := filepath.Abs(path)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return "", fmt.Errorf("preview %s: %w", given, err)
	}
	st, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("preview %s: %w", given, err)
	}
	if !st.Mode().IsRegular() && !st.IsDir() {
		return "", fmt.Errorf("preview %s: %w", given, ErrNotFile)
	}
	return path, nil
}

// ask runs the child; why is empty when it answered.
func ask(ctx context.Context, runner sandbox.Runner, self []string, r request, progress func(done, all int64)) (c Card, why string) {
	path := string(r.Path)
	limited, cancel := context.WithTimeout(ctx, r.limit())
	defer cancel()
	p, err := runner.Start(limited, policy(self[0], path), sandbox.Command{
		Path: self[0], Args: self[1:],
	})
	if err != nil {
		if errors.Is(err, sandbox.ErrUnsupported) {
			return c, "this machine has no sandbox in which an unknown file can be opened safely (" + err.Error() + ")"
		}
		return c, "its reader could not be started (" + err.Error() + ")"
	}
	stderr := make(chan struct{})
	go func() {
		defer close(stderr)
		_, _ = io.Copy(io.Discard, p.Stderr())
	}()
	q, err := json.Marshal(r)
	if err == nil {
		_, err = p.Stdin().Write(q)
	}
	_ = p.Stdin().Close()
	var answer []byte
	var readErr error
	if r.Whole {
		all := int64(0)
		if st, err := os.Stat(path); err == nil {
			all = st.Size()
		}
		answer, readErr = reports(p.Stdout(), all, progress)
	} else {
		answer, readErr = io.ReadAll(io.LimitReader(p.Stdout(), answerMax+1))
	}
	if err != nil || readErr != nil || len(answer) > answerMax {
		_ = p.Kill()
	}
	exit := p.Wait()
	<-stderr
	switch {
	case limited.Err() != nil:
		return c, tooLong(r)
	case exit.Cause == sandbox.OutOfMem:
		return c, "reading it took more memory than allowed"
	case exit.Cause != sandbox.Exited || exit.Code != 0:
		return c, fmt.Sprintf("its reader stopped (%s, code %d); the file may be damaged on purpose", exit.Cause, exit.Code)
	case len(answer) > answerMax, json.Unmarshal(answer, &c) != nil:
		return Card{}, "its reader gave no proper answer; the file may be damaged on purpose"
	}
	c.tame()
	if st, err := os.Stat(path); err == nil && !st.IsDir() {
		c.Size = st.Size()
	}
	return c, ""
}

func policy(program, path string) sandbox.Policy {
	return sandbox.Policy{
		Read: []string{path, program},
		Env:  []string{"GOTRACEBACK=none"},
		Limits: sandbox.Limits{
			Memory: memoryLimit, FileSize: 1 << 20, Disk: 1 << 20, Procs: 64, Files: 64,
		},
	}
}
