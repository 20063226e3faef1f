package worker

import (
	"bytes"
	"encoding/json"
	"fmt"

	"atoll/llm"

	"github.com/ardanlabs/jinja"
)

// toolValues writes tools in the form that chat templates expect. The keys of
// a schema keep their order, because the model sees it.
func toolValues(tools []llm.Tool) (jinja.Value, error) {
	list := make([]jinja.Value, len(tools))
	for i, t := range tools {
		schema, err := ordered(t.Schema)
		if err != nil {
			return jinja.Value{}, fmt.Errorf("schema of the tool %s: %w", t.Name, err)
		}
		f := jinja.NewDict()
		f.AsDict().Set("name", jinja.NewString(t.Name))
		f.AsDict().Set("description", jinja.NewString(t.Description))
		f.AsDict().Set("parameters", schema)
		d := jinja.NewDict()
		d.AsDict().Set("type", jinja.NewString("function"))
		d.AsDict().Set("function", f)
		list[i] = d
	}
	return jinja.NewList(list), nil
}

// ordered reads JSON with the keys of its objects in the order they have.
func ordered(raw json.RawMessage) (jinja.Value, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	open, err := dec.Token()
	if err != nil {
		return jinja.Value{}, err
	}
	switch open {
	case json.Delim('{'):
		d := jinja.NewDict()
		for dec.More() {
			key, err := dec.Token()
			if err != nil {
				return jinja.Value{}, err
			}
			v, err := orderedNext(dec)
			if err != nil {
				return jinja.Value{}, err
			}
			d.AsDict().Set(fmt.Sprint(key), v)
		}
		return d, nil
	case json.Delim('['):
		var list []jinja.Value
		for dec.More() {
			v, err := orderedNext(dec)
			if err != nil {
				return jinja.Value{}, err
			}
			list = append(list, v)
		}
		return jinja.NewList(list), nil
	}
	return jinja.FromGoValue(open), nil
}

func orderedNext(dec *json.Decoder) (jinja.Value, error) {
	var raw json.RawMessage
	if err := dec.Decode(&raw); err != nil {
		return jinja.Value{}, err
	}
	return ordered(raw)
}
