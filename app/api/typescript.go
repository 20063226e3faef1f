package api

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// TypeScript writes the types of the table, and of extra, for the page. names
// gives types another name there; a type's own name is the default. A string
// field with the tag enum:"a,b" becomes a union.
func TypeScript(t *Table, names map[reflect.Type]string, extra ...reflect.Type) string {
	w := &writer{names: names, done: map[reflect.Type]bool{}, taken: map[string]reflect.Type{}}
	for _, e := range extra {
		w.ref(e)
	}
	var methods strings.Builder
	for _, m := range t.Methods() {
		fmt.Fprintf(&methods, "  /** %s */\n  '%s': { in: %s; out: %s };\n", m.Doc, m.Name, w.ref(m.In), w.ref(m.Out))
	}
	return "// Written by `go test ./app -run TestTypeScript -update` from the table of methods\n" +
		"// and the entry bodies; do not edit by hand.\n\n" +
		w.out.String() +
		"/** Every method: what goes in and what comes out. */\nexport interface Methods {\n" + methods.String() + "}\n"
}

type writer struct {
	names map[reflect.Type]string
	done  map[reflect.Type]bool
	taken map[string]reflect.Type
	out   strings.Builder
}

// ref returns how t is written where it is used, and writes its declaration
// the first time.
func (w *writer) ref(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[json.RawMessage]():
		return "any"
	case t == reflect.TypeFor[time.Time]():
		return "string"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return w.ref(t.Elem())
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Int, reflect.Int64, reflect.Uint64, reflect.Float64:
		return "number"
	case reflect.Slice, reflect.Array:
		return w.ref(t.Elem()) + "[]"
	case reflect.Map:
		return "Record<string, " + w.ref(t.Elem()) + ">"
	case reflect.Struct:
		return w.declare(t)
	}
	panic("api: no TypeScript for " + t.String())
}

func (w *writer) declare(t reflect.Type) string {
	name := w.names[t]
	if name == "" {
		name = t.Name()
	}
	if w.done[t] {
		return name
	}
	if other, ok := w.taken[name]; ok {
		panic(fmt.Sprintf("api: %v and %v are both %s in TypeScript; name one of them", t, other, name))
	}
	w.done[t], w.taken[name] = true, t
	fields, bases := w.fields(t)
	if len(fields) == 0 && len(bases) == 0 {
		w.out.WriteString("export type " + name + " = Record<string, never>;\n\n")
		return name
	}
	head := "export interface " + name
	if len(bases) > 0 {
		head += " extends " + strings.Join(bases, ", ")
	}
	w.out.WriteString(head + " {\n" + strings.Join(fields, "") + "}\n\n")
	return name
}

func (w *writer) fields(t reflect.Type) (fields, bases []string) {
	for _, f := range reflect.VisibleFields(t) {
		tag, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case len(f.Index) > 1 || !f.IsExported() || tag == "-":
			continue
		case f.Anonymous && tag == "":
			bases = append(bases, w.ref(f.Type))
			continue
		}
		typ := w.ref(f.Type)
		if e := f.Tag.Get("enum"); e != "" {
			typ = "'" + strings.ReplaceAll(e, ",", "' | '") + "'"
		}
		mark := ""
		if o := strings.Split(options, ","); slices.Contains(o, "omitempty") || slices.Contains(o, "omitzero") {
			mark = "?"
		} else if f.Type.Kind() == reflect.Pointer {
			typ += " | null"
		}
		sep := " "
		if len("  "+tag+mark+": "+typ+";") > 100 { // as the page's formatter breaks lines
			sep = "\n    "
		}
		fields = append(fields, fmt.Sprintf("  %s%s:%s%s;\n", tag, mark, sep, typ))
	}
	return fields, bases
}
