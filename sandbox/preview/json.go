package preview

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"hash/maphash"
	"io"

	"golang.org/x/text/transform"
)

const (
	jsonWhole   = 16 << 20 // bytes that are parsed
	jsonRecords = 1000     // records of which the values are looked at
	jsonDepth   = 10       // levels of keys that become columns
)

// json makes the card of JSON or of JSON lines; false when it is neither.
func (c *Card) json(ctx context.Context, s source, cs charset, ext string) (bool, error) {
	most := int64(jsonWhole)
	if c.pass.whole {
		most = s.size
	}
	src := func() io.Reader {
		var r io.Reader = io.NewSectionReader(s.r, int64(cs.bom), s.size-int64(cs.bom))
		if cs.name != "utf-8" && cs.name != "utf-8-sig" {
			r = transform.NewReader(r, cs.decoder())
		}
		return io.LimitReader(r, most)
	}
	head, err := s.at(int64(cs.bom), 64<<10)
	if err != nil {
		return false, err
	}
	text, _ := cs.decode(head)
	text = bytes.TrimSpace(text)
	named := ext == ".json" || ext == ".geojson" || ext == ".jsonl" || ext == ".ndjson"
	if len(text) == 0 || text[0] != '{' && text[0] != '[' {
		if named {
			c.problem("the name ends in %s, but the content is not JSON", ext)
		}
		return false, nil
	}
	j := &jsonReader{card: c, seed: maphash.MakeSeed(), all: layouts(), index: map[string]int{}, search: suspectBytes}
	if line, rest, more := bytes.Cut(text, []byte{'\n'}); text[0] == '{' && json.Valid(line) && (more && firstJSON(rest) || ext == ".jsonl" || ext == ".ndjson") {
		c.Kind = JSONL
		return true, j.lines(ctx, src(), s.size)
	}
	ok := j.document(ctx, src())
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if !ok {
		if s.size > most && j.records > 0 {
			c.Rows, c.RowsExact = int64(float64(j.records)/float64(jsonWhole)*float64(s.size)), false
		} else if s.size > most {
			c.problem("the file is large; only its first %s were looked at", sizeText(jsonWhole))
		} else {
			if !named {
				c.Columns, c.Sample, c.Detail, c.Quotes, c.Key = nil, nil, nil, nil, ""
				return false, nil
			}
			c.problem("the JSON is damaged: it cannot be read to its end")
		}
	} else {
		c.Rows, c.RowsExact = j.records, true
	}
	c.Kind = JSON
	j.finish()
	return true, nil
}

// firstJSON says whether b starts with a whole object on a line of its own.
func firstJSON(b []byte) bool {
	line, _, whole := bytes.Cut(bytes.TrimSpace(b), []byte{'\n'})
	return len(line) > 0 && line[0] == '{' && (json.Valid(line) || !whole)
}

type jsonReader struct {
	card    *Card
	seed    maphash.Seed
	all     []layout
	index   map[string]int
	cols    []*collector
	lists   []bool
	strs    []bool // some value is a string: digits in it are no number
	records int64
	search  int
	others  int64 // records that are no objects
}

// lines reads one record per line.
func (j *jsonReader) lines(ctx context.Context, r io.Reader, size int64) error {
	br := bufio.NewReaderSize(r, 64<<10)
	var read, line, bad int64
	var badAt []int64
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		b, err := br.ReadBytes('\n')
		j.card.pass.at(read)
		if err == nil || len(b) > 0 && (size <= jsonWhole || j.card.pass.whole) {
			line++
			read += int64(len(b))
			if b = bytes.TrimSpace(b); len(b) > 0 {
				if json.Valid(b) {
					j.record(b)
				} else {
					bad++
					badAt = appendLine(badAt, line)
				}
			}
		}
		if err != nil {
			break
		}
	}
	c := j.card
	c.Rows, c.RowsExact = j.records, size <= jsonWhole || c.pass.whole
	if !c.RowsExact && read > 0 {
		c.Rows = int64(float64(j.records) / float64(read) * float64(size))
	}
	if bad > 0 {
		noun := "lines are"
		if bad == 1 {
			noun = "line is"
		}
		c.problem("%d %s no JSON%s", bad, noun, lineList(badAt, bad))
		c.BadRows, c.BadLines = bad, badAt
	}
	j.finish()
	return nil
}

// document reads a list of records, or an object that holds one.
func (j *jsonReader) document(ctx context.Context, r io.Reader) bool {
	d := json.NewDecoder(r)
	t, err := d.Token()
	if err != nil {
		return false
	}
	if t == json.Delim('[') {
		return j.list(ctx, d) && !d.More()
	}
	lists := 0
	for n := 0; d.More(); n++ {
		k, err := d.Token()
		if err != nil || ctx.Err() != nil {
			return false
		}
		key, _ := k.(string)
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			return false
		}
		if n < 20 {
			if shape := jsonShape(v); shape == "list" || shape == "object" || shape == "nothing" {
				j.card.Detail = append(j.card.Detail, "key "+shown(key, 80)+": "+shape)
			} else {
				j.card.Quotes = append(j.card.Quotes, "key "+shown(key, 80)+": "+shape)
			}
		}
		if len(v) > 1 && v[0] == '[' && bytes.HasPrefix(bytes.TrimSpace(v[1:]), []byte{'{'}) {
			if lists++; lists == 1 {
				in := json.NewDecoder(bytes.NewReader(v))
				if _, err := in.Token(); err == nil && j.list(ctx, in) {
					j.card.Key = key
				}
			}
		}
	}
	_, err = d.Token()
	return err == nil
}

func (j *jsonReader) list(ctx context.Context, d *json.Decoder) bool {
	for d.More() {
		var v json.RawMessage
		if err := d.Decode(&v); err != nil || ctx.Err() != nil {
			return false
		}
		j.record(v)
	}
	_, err := d.Token()
	return err == nil
}

func jsonShape(v json.RawMessage) string {
	v = bytes.TrimSpace(v)
	switch {
	case len(v) == 0:
		return "nothing"
	case v[0] == '[':
		return "list"
	case v[0] == '{':
		return "object"
	}
	return shown(string(v[:min(len(v), 240)]), 60)
}

func (j *jsonReader) record(v json.RawMessage) {
	j.records++
	if j.records > jsonRecords && !j.card.pass.whole {
		j.card.Sampled = true
		return
	}
	if v = bytes.TrimSpace(v); len(v) == 0 || v[0] != '{' {
		if j.others++; len(j.card.Sample) < 3 && len(j.cols) == 0 {
			j.card.Quotes = append(j.card.Quotes, "value: "+jsonShape(v))
		}
		return
	}
	if len(j.card.Sample) < 3 {
		j.card.Sample = append(j.card.Sample, []string{clipBytes(v, 2*maxValue)})
	}
	j.object("", v, 1)
}
