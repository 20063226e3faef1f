package preview

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// object gives the values of one record to the columns, which are named as
// pandas.json_normalize names them.
func (j *jsonReader) object(prefix string, v []byte, depth int) {
	d := json.NewDecoder(bytes.NewReader(v))
	if _, err := d.Token(); err != nil {
		return
	}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return
		}
		key, _ := t.(string)
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return
		}
		name := prefix + key
		if raw[0] == '{' && depth < jsonDepth { // an empty object gives no column
			j.object(name+".", raw, depth+1)
			continue
		}
		j.value(name, raw)
	}
}

func (j *jsonReader) value(name string, raw json.RawMessage) {
	i, ok := j.index[name]
	if !ok {
		if len(j.cols) == MaxColumns {
			return
		}
		i = len(j.cols)
		j.index[name] = i
		j.cols = append(j.cols, newCollector(j.seed, j.all, 1000, j.card.pass))
		j.lists = append(j.lists, false)
		j.strs = append(j.strs, false)
		j.card.Columns = append(j.card.Columns, Column{Name: clip(name, maxName)})
	}
	switch raw[0] {
	case 'n':
		j.cols[i].add(nil, j.records)
	case '"':
		var s string
		if json.Unmarshal(raw, &s) == nil {
			j.strs[i] = true
			j.cols[i].add([]byte(s), j.records)
			j.card.suspect([][]byte{[]byte(s)}, j.records, &j.search)
		}
	case '[', '{':
		j.lists[i] = true
		j.cols[i].note(raw, true)
	default:
		j.cols[i].add(raw, j.records)
	}
}

func (j *jsonReader) finish() {
	c := j.card
	c.ColumnCount = len(c.Columns)
	looked := j.records - j.others
	if !c.pass.whole {
		looked = min(j.records, jsonRecords) - j.others
	}
	for i, k := range j.cols {
		col := &c.Columns[i]
		k.facts(col)
		col.Missing = max(0, looked-k.n-k.soft)
		switch {
		case j.lists[i]:
			col.Type, col.Missing = List, 0
		case k.n == 0 && k.soft == 0:
			col.Type = Nothing
		case j.strs[i]:
			col.Type, col.Plain = String, k.n > 0 && k.digitish == k.n
			if k.numbers > 0 && k.numbers < k.n && k.digitish > 0 && k.digitish < k.n {
				c.mixed(col, k, 0)
			}
		case k.bools == k.n:
			col.Type = Boolean
		case k.dotOK == k.n && k.whole == k.n:
			col.Type, col.Min, col.Max, col.Mean = Integer, number(k.min[0]), number(k.max[0]), k.mean(0)
		case k.dotOK == k.n:
			col.Type, col.Min, col.Max, col.Mean = Number, number(k.min[0]), number(k.max[0]), k.mean(0)
		default:
			col.Type = String
		}
	}
	if j.others > 0 && len(c.Columns) > 0 {
		c.problem("%s not an object and cannot become rows", isAre(j.others))
	}
	if len(c.Columns) == 0 && j.records > 0 {
		c.Detail = append(c.Detail, fmt.Sprintf("a list of %d values", j.records))
	}
}

func isAre(n int64) string {
	if n == 1 {
		return "1 record is"
	}
	return fmt.Sprintf("%d records are", n)
}
