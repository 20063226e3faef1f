package kernel

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"io"
	"strings"
)

// An event is one line of the driver. It comes from the process that runs the
// model's code, which can write any line it likes: every field is only data to
// show, and is bounded here.
type event struct {
	Kind   string            `json:"t"` // "ready", "out", "show" or "done"
	Seq    int64             `json:"s"`
	Stream string            `json:"n"`
	Text   string            `json:"x"`
	Data   map[string]string `json:"d"`
	Token  string            `json:"k"`
	Status string            `json:"status"`
	Value  string            `json:"value"`
	Fault  *fault            `json:"err"`
	Code   string            `json:"code"`
	Cut    int64             `json:"cut"`
	Python string            `json:"python"`
	Tried  []tried           `json:"tried"`
}

// A fault is an exception together with what there was when it happened.
type fault struct {
	Name    string   `json:"name"`
	Bases   []string `json:"bases"`
	Message string   `json:"message"`
	Line    int      `json:"line"`
	Trace   string   `json:"trace"`
	Facts   facts    `json:"facts"`
}

// size is about what the event takes in memory, in bytes.
func (e event) size() int {
	n := 200 + len(e.Text) + len(e.Value)
	for k, v := range e.Data {
		n += len(k) + len(v)
	}
	return n
}

var errTooLong = errors.New("line is too long")

// readLine returns the next line without its end, or errTooLong for one over
// max, which is then passed over.
func readLine(r *bufio.Reader, max int) ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if !long && len(line)+len(part) > max {
			long, line = true, nil
		}
		if !long {
			line = append(line, part...)
		}
		switch {
		case err == nil && long:
			return nil, errTooLong
		case err == nil:
			return bytes.TrimSuffix(line, []byte("\n")), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err // a last line without an end is broken
		}
	}
}

// readEvents calls put with each event until r ends. What is no event is
// passed over.
func readEvents(r io.Reader, put func(event) bool) {
	b := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := readLine(b, maxLine)
		var e event
		switch {
		case errors.Is(err, errTooLong):
			e = event{Kind: "out", Stream: "stderr", Text: "[one output was too large to show]\n"}
		case err != nil:
			return
		case json.Unmarshal(line, &e) != nil:
			continue
		}
		if !put(e) {
			return
		}
	}
}

// output turns the data of a "show" event into what may be passed on.
func output(data map[string]string) (Output, error) {
	text := clip(data["text/plain"], 2*maxRepr)
	o := Output{Data: map[string][]byte{"text/plain": []byte(text)}}
	if s, ok := data["image/png"]; ok {
		b, err := decodePNG(s)
		if err != nil {
			return o, err
		}
		o.Data["image/png"] = b
	}
	if s, ok := data[TableMIME]; ok {
		b, err := checkTable(s)
		if err != nil {
			return o, err
		}
		o.Data[TableMIME] = b
	}
	return o, nil
}

// decodePNG refuses what is no PNG, too large, or would unpack to more than
// 64 million pixels.
func decodePNG(s string) ([]byte, error) {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return nil, fmt.Errorf("read picture: %w", err)
	}
	if len(b) > maxPNG {
		return nil, errors.New("read picture: it is over 8 MB")
	}
	c, err := png.DecodeConfig(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("read picture: %w", err)
	}
	if int64(c.Width)*int64(c.Height) > 64<<20 {
		return nil, fmt.Errorf("read picture: %d×%d is too large", c.Width, c.Height)
	}
	return b, nil
}

func checkTable(s string) ([]byte, error) {
	var t Table
	if len(s) > maxTable {
		return nil, errors.New("read table: it is over 2 MB")
	}
	if err := json.Unmarshal([]byte(s), &t); err != nil {
		return nil, fmt.Errorf("read table: %w", err)
	}
	if len(t.Rows) > maxRows || len(t.Columns) > maxCols || len(t.Index) != len(t.Rows) || len(t.Types) != len(t.Columns) ||
		t.Shape[0] < 0 || t.Shape[1] < 0 {
		return nil, errors.New("read table: its parts do not fit")
	}
	for _, r := range t.Rows {
		if len(r) != len(t.Columns) {
			return nil, errors.New("read table: its parts do not fit")
		}
		for _, c := range r {
			if !scalar(c) {
				return nil, errors.New("read table: a cell is no plain value")
			}
		}
	}
	for _, c := range t.Index {
		if !scalar(c) {
			return nil, errors.New("read table: a row name is no plain value")
		}
	}
	return json.Marshal(t)
}

func scalar(c json.RawMessage) bool { return len(c) > 0 && c[0] != '{' && c[0] != '[' }

// clip cuts s at a character's start so that at most n bytes are left.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
