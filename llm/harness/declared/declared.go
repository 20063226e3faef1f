// Package declared offers harnesses that are declared in files: those of the
// program, and those that people add. A file is a unit: the system prompt, the
// dialect of calls, grammar, repairs, sampling, and how results are written.
//
// A file NAME.md begins with JSON between two lines of three dashes; what
// follows is the system prompt, in which {rules} stands for the rules that all
// harnesses share, {languages} for the languages that can run, {tool} for the
// schema of the one tool, and {call} for an example of a call.
package declared

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"atoll/llm/harness"
	"atoll/llm/harness/dialect"
	"atoll/llm/harness/fenced"
)

//go:embed files/*.md
var own embed.FS

// Protocols that are not dialects.
const (
	protocolSmall  = "small"  // package fenced
	protocolNative = "native" // the dialect in the model's chat template
)

// Fallback is the harness of models about which nothing is known: the one that
// asks least of them.
const Fallback = "atoll-small"

// ErrUnknown means that there is no harness of that name.
var ErrUnknown = errors.New("unknown harness")

// A Set holds harnesses by name. It does not change.
type Set struct{ files map[string]file }

// Load reads the program's harnesses and then those in the folders, where a
// file replaces one of the same name. A folder that does not exist is empty.
// The error names every file that cannot be used, and why; the set holds all
// others and is never nil.
func Load(folders ...fs.FS) (*Set, error) {
	s := &Set{files: map[string]file{}}
	program, err := fs.Sub(own, "files")
	if err != nil {
		return s, err
	}
	errs := s.add(program)
	for _, f := range folders {
		errs = append(errs, s.add(f)...)
	}
	return s, errors.Join(errs...)
}

func (s *Set) add(folder fs.FS) (errs []error) {
	names, err := fs.Glob(folder, "*.md")
	if err != nil {
		return []error{err}
	}
	for _, n := range names {
		b, err := fs.ReadFile(folder, n)
		if err == nil {
			var f file
			if f, err = read(strings.TrimSuffix(path.Base(n), ".md"), b); err == nil {
				s.files[f.name] = f
				continue
			}
		}
		errs = append(errs, fmt.Errorf("harness file %s: %w", n, err))
	}
	return errs
}

// An Info describes a harness to people.
type Info struct {
	Name  string `json:"name"`
	Title string `json:"title"`
}

// List returns all harnesses, by name.
func (s *Set) List() []Info {
	var all []Info
	for _, n := range slices.Sorted(maps.Keys(s.files)) {
		all = append(all, Info{n, s.files[n].Title})
	}
	return all
}

// Choose returns the name of the harness for a model with this chat template
// and so many weights; zero values mean that these are not known.
func (s *Set) Choose(chatTemplate string, params int64) string {
	if f, ok := s.best(chatTemplate, params, func(file) bool { return true }); ok {
		return f.name
	}
	return Fallback
}

// best returns the matching file of lowest rank, of those that may be.
func (s *Set) best(chatTemplate string, params int64, may func(file) bool) (best file, ok bool) {
	all := slices.SortedFunc(maps.Values(s.files), func(a, b file) int { return cmp.Compare(a.name, b.name) })
	for _, f := range all {
		if f.Match == nil || !may(f) || f.Match.Below > 0 && params >= f.Match.Below {
			continue
		}
		holds := len(f.Match.Template) == 0
		for _, t := range f.Match.Template {
			holds = holds || t != "" && strings.Contains(chatTemplate, t)
		}
		if holds && (!ok || f.Match.Rank < best.Match.Rank) {
			best, ok = f, true
		}
	}
	return best, ok
}

// A Model is what a harness is fitted to.
type Model struct {
	ChatTemplate string   // "": not known
	Languages    []string // canonical names of those that can run here; empty: all
}

// Open returns the harness called name for m. It returns ErrUnknown when there
// is none; other errors say why this one does not fit m.
func (s *Set) Open(name string, m Model) (harness.Harness, error) {
	f, ok := s.files[name]
	offers := false // the template says by itself what tools there are
	switch {
	case !ok:
		var names []string
		for _, i := range s.List() {
			names = append(names, i.Name)
		}
		return nil, fmt.Errorf("%w %q; there are %s", ErrUnknown, name, strings.Join(names, ", "))
	case f.Protocol == protocolSmall:
		return fenced.Harness{System: f.system}, nil
	case f.Protocol == protocolNative:
		// What the model was trained to write is declared under another name.
		g, ok := s.best(m.ChatTemplate, 0, func(f file) bool {
			return f.Match != nil && len(f.Match.Template) > 0 && f.Protocol != protocolSmall && f.Protocol != protocolNative
		})
		if !ok {
			return nil, fmt.Errorf("harness %s: the model's chat template shows no way to call tools; choose another harness", name)
		}
		if offers = strings.Contains(m.ChatTemplate, "tools"); offers {
			g.system = f.system
		}
		f = g
	}
	if len(m.Languages) > 0 {
		asked := f.Languages
		f.Languages = slices.DeleteFunc(slices.Clone(asked), func(l string) bool { return !slices.Contains(m.Languages, l) })
		if len(f.Languages) == 0 {
			return nil, fmt.Errorf("harness %s: of its languages (%s) none can run here; choose another harness", name, strings.Join(asked, ", "))
		}
	}
	h := &unit{file: f, name: name, settings: f.settings(dialect.Dialect(f.Protocol)), offers: offers}
	h.settings.Thinking = thinks(m.ChatTemplate)
	return h, nil
}

// thinks reports whether a chat template begins the answer with a thought.
func thinks(chatTemplate string) bool {
	i := strings.LastIndex(chatTemplate, "add_generation_prompt")
	if i < 0 {
		return false
	}
	tail := chatTemplate[i:]
	return strings.Contains(tail, "<think>") && !strings.Contains(tail, "</think>")
}
