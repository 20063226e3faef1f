// Package api is the list of everything the program can be asked to do. The
// window, the served page and the command line are doors to this one table.
package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
)

// A Method is one thing the program can do.
type Method struct {
	Name    string // "noun.verb"
	Doc     string
	In, Out reflect.Type
	call    func(context.Context, json.RawMessage) (any, error)
}

// A Table holds methods by name. The zero Table is empty and ready.
type Table struct{ methods map[string]Method }

// Add adds f under name. It panics when the name is taken: the table is built
// once, at the start.
func Add[In, Out any](t *Table, name, doc string, f func(context.Context, In) (Out, error)) {
	if t.methods == nil {
		t.methods = map[string]Method{}
	}
	if _, dup := t.methods[name]; dup {
		panic("api: " + name + " added twice")
	}
	t.methods[name] = Method{name, doc, reflect.TypeFor[In](), reflect.TypeFor[Out](), func(ctx context.Context, raw json.RawMessage) (any, error) {
		var in In
		if len(raw) > 0 {
			if err := json.Unmarshal(raw, &in); err != nil {
				return nil, fmt.Errorf("%w: %s: %w", ErrInput, name, err)
			}
		}
		return f(ctx, in)
	}}
}

// Methods returns all methods by name.
func (t *Table) Methods() []Method {
	ms := make([]Method, 0, len(t.methods))
	for _, m := range t.methods {
		ms = append(ms, m)
	}
	slices.SortFunc(ms, func(a, b Method) int { return strings.Compare(a.Name, b.Name) })
	return ms
}

// Call calls a method with JSON in and out. A panic in it becomes an error:
// one broken request must not take the other chats down.
func (t *Table) Call(ctx context.Context, method string, in json.RawMessage) (out json.RawMessage, err error) {
	m, ok := t.methods[method]
	if !ok {
		return nil, fmt.Errorf("%w: no method %q", ErrInput, method)
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic in %s: %v\n%s", method, r, debug.Stack())
		}
	}()
	res, err := m.call(ctx, in)
	if err != nil {
		return nil, err
	}
	return json.Marshal(res)
}

// ErrInput means the caller asked for something that makes no sense.
var ErrInput = errors.New("bad request")

// Empty is the input or output of methods that have none.
type Empty struct{}
