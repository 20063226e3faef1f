package declared

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"atoll/llm"
	"atoll/llm/harness/block"
	"atoll/llm/harness/dialect"
)

// head is the first part of a file: everything about a harness but the words
// of its system prompt.
type head struct {
	Title     string       `json:"title"`               // a few words for people
	Protocol  string       `json:"protocol"`            // "small", "native", or a dialect
	Languages []string     `json:"languages,omitempty"` // canonical; the first is meant where a call names none
	One       bool         `json:"one,omitempty"`       // the first call ends an answer
	Grammar   bool         `json:"grammar,omitempty"`   // calls are locked with a grammar
	Repair    *[]string    `json:"repair,omitempty"`    // faults of JSON that are mended; left out: all
	MaxTokens int          `json:"maxTokens,omitempty"` // most tokens of an answer
	Stop      []string     `json:"stop,omitempty"`      // an answer ends before any of these
	Sampling  samplingPart `json:"sampling,omitzero"`
	Context   contextPart  `json:"context,omitzero"`
	Match     *matchPart   `json:"match,omitempty"` // left out: chosen only by name
}

// samplingPart holds what is used where a request says nothing.
type samplingPart struct {
	Temperature *float64 `json:"temperature,omitempty"`
	TopP        *float64 `json:"topP,omitempty"`
	TopK        *int     `json:"topK,omitempty"`
	MinP        *float64 `json:"minP,omitempty"`
}

// contextPart says how what happened is written for the model.
type contextPart struct {
	Result      string `json:"result,omitempty"`      // text around a result, with {result} in it
	ResultBytes int    `json:"resultBytes,omitempty"` // most bytes of one result; 0: all of it
}

// matchPart says which models a harness is for.
type matchPart struct {
	Template []string `json:"template,omitempty"` // texts of which the chat template holds one; none: any template
	Below    int64    `json:"below,omitempty"`    // only models with fewer weights
	Rank     int      `json:"rank"`               // of the harnesses that match, the lowest is chosen
}

// A file is a harness as it is declared.
type file struct {
	name string
	head
	system string
}

var nameRE = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,39}$`)

// mostBytes bounds a file: its prompt would leave no room for a conversation.
const mostBytes = 64 << 10

// read reads a file: three dashes, JSON, three dashes, and the system prompt.
func read(name string, b []byte) (f file, err error) {
	f.name = name
	if !nameRE.MatchString(name) {
		return f, errors.New("its name must be lower-case letters, digits and -")
	}
	if len(b) > mostBytes {
		return f, fmt.Errorf("it has more than %d bytes", mostBytes)
	}
	text := strings.ReplaceAll(string(b), "\r\n", "\n")
	rest, ok := strings.CutPrefix(text, "---\n")
	top, system, closed := strings.Cut(rest, "\n---\n")
	if !closed {
		top, closed = strings.CutSuffix(strings.TrimRight(rest, "\n"), "\n---")
	}
	if !ok || !closed {
		return f, errors.New("it must begin with a line ---, JSON and a line ---")
	}
	dec := json.NewDecoder(bytes.NewReader([]byte(top)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f.head); err != nil {
		return f, fmt.Errorf("its JSON: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return f, errors.New("its JSON is followed by more")
	}
	f.system = strings.TrimSpace(system)
	return f, f.check()
}

// check refuses what could not work.
func (f *file) check() error {
	known := f.Protocol == protocolSmall || f.Protocol == protocolNative || slices.Contains(dialect.All, dialect.Dialect(f.Protocol))
	switch {
	case f.Title == "":
		return errors.New("title is missing")
	case !known:
		return fmt.Errorf("protocol %q is not known; there are %s, %s and %v", f.Protocol, protocolSmall, protocolNative, dialect.All)
	case f.MaxTokens < 0 || f.Context.ResultBytes < 0:
		return errors.New("maxTokens and resultBytes cannot be below zero")
	case f.Context.Result != "" && !strings.Contains(f.Context.Result, "{result}"):
		return errors.New("context.result must hold {result}")
	case f.Match != nil && f.Match.Below < 0:
		return errors.New("match.below cannot be below zero")
	case f.Protocol == protocolSmall:
		return nil
	case f.system == "":
		return errors.New("the system prompt is missing")
	case f.Protocol == protocolNative:
		return nil
	case len(f.Languages) == 0:
		return errors.New("languages is empty")
	}
	for _, l := range f.Languages {
		if block.Language(l) != l {
			return fmt.Errorf("language %q is not one of python, javascript, sql and shell", l)
		}
	}
	if f.Repair != nil {
		for _, r := range *f.Repair {
			if dialect.Repairs[r] == 0 {
				return fmt.Errorf("repair %q is not known", r)
			}
		}
	}
	return nil
}

// settings are those of the parser.
func (f *file) settings(d dialect.Dialect) dialect.Settings {
	s := dialect.Settings{Dialect: d, Languages: f.Languages, One: f.One, Locked: f.Grammar, Repair: dialect.AllRepairs}
	if f.Repair != nil {
		s.Repair = 0
		for _, r := range *f.Repair {
			s.Repair |= dialect.Repairs[r]
		}
	}
	return s
}

// sampling returns what req asks for, and of the file what it leaves open.
func (f *file) sampling(req llm.Sampling) llm.Sampling {
	if req.Temperature == nil {
		req.Temperature = f.Sampling.Temperature
	}
	if req.TopP == nil {
		req.TopP = f.Sampling.TopP
	}
	if req.TopK == nil {
		req.TopK = f.Sampling.TopK
	}
	if req.MinP == nil {
		req.MinP = f.Sampling.MinP
	}
	return req
}
