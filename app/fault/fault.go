// Package fault says errors to people. It alone knows which error of which
// package means what to a user; everything below returns plain errors.
package fault

import (
	"encoding/json"
	"errors"
	"strings"

	"atoll/storage"
	"unicode"
	"unicode/utf8"
)

// A Fault is an error fit to be shown: Title and Hint are written for people
// and hold no raw error text; Detail is for the "more" fold and bug reports.
type Fault struct {
	Code   string `json:"code"`
	Title  string `json:"title"`
	Hint   string `json:"hint,omitempty"`
	Detail string `json:"detail,omitempty"`

	exit   int
	status int
	err    error
}

// New returns a fault with its own code: exit status 1, HTTP status 500.
func New(code, title, hint string) *Fault {
	return &Fault{Code: code, Title: title, Hint: hint, exit: ExitFailed, status: 500}
}

// WithExit returns a fault with an exit status of its own.
func WithExit(exit int, code, title, hint string) *Fault {
	f := New(code, title, hint)
	f.exit = exit
	return f
}

// With returns f with a detail; errors.Is still finds f.
func (f *Fault) With(detail string) *Fault {
	c := *f
	c.Detail, c.err = detail, f
	return &c
}

// Error returns the title, the detail and the hint as one line.
func (f *Fault) Error() string {
	s := f.Title
	if f.Detail != "" {
		s += ": " + f.Detail
	}
	if f.Hint != "" {
		s += ". " + f.Hint
	}
	return s
}

// Unwrap returns the error that the fault says.
func (f *Fault) Unwrap() error { return f.err }

// JSON returns f as doors send it, on one line.
func (f *Fault) JSON() []byte {
	b, err := json.Marshal(f)
	if err != nil { // strings always marshal
		panic(err)
	}
	return b
}

// Body is f as an entry or an event holds it.
func (f *Fault) Body() *storage.Fault {
	return &storage.Fault{Code: f.Code, Title: f.Title, Hint: f.Hint, Detail: f.Detail}
}

// Exit is the exit status of a command that ends with f.
func (f *Fault) Exit() int { return f.exit }

// Status is the HTTP status of an answer that is f.
func (f *Fault) Status() int { return f.status }

// Of returns err as a Fault; nil stays nil.
func Of(err error) *Fault {
	if err == nil {
		return nil
	}
	if f, ok := errors.AsType[*Fault](err); ok {
		return f
	}
	for _, row := range table {
		if errors.Is(err, row.is) {
			f := row.f
			// The title says what the sentinel says; the rest is news.
			f.Detail, f.err = strings.TrimPrefix(err.Error(), row.is.Error()+": "), err
			if f.Detail == row.is.Error() {
				f.Detail = ""
			}
			return &f
		}
	}
	f := *New("internal", "Something went wrong inside Atoll", "Try again; if it comes back, `atoll doctor` may tell more.")
	f.Detail, f.err = err.Error(), err
	return &f
}

// sentence makes a sentence of the text of an error.
func sentence(s string) string {
	if s == "" {
		return ""
	}
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + strings.TrimSuffix(s[n:], ".") + "."
}

// BadRequest says that the caller asked for something that makes no sense.
func BadRequest(err error) *Fault {
	_, why, _ := strings.Cut(err.Error(), ": ") // after the words that it is a bad request
	return &Fault{Code: "input", Title: "This cannot be done as asked", Hint: sentence(why), Detail: err.Error(), exit: ExitUsage, status: 400, err: err}
}

// Read returns the fault that a door sent as JSON, with the exit and HTTP
// status of its code.
func Read(b []byte) (*Fault, error) {
	var f Fault
	if err := json.Unmarshal(b, &f); err != nil {
		return nil, err
	}
	f.exit, f.status = ExitFailed, 500
	if f.Code == "input" {
		f.exit, f.status = ExitUsage, 400
	}
	for _, row := range table {
		if row.f.Code == f.Code {
			f.exit, f.status, f.err = row.f.exit, row.f.status, row.is
		}
	}
	return &f, nil
}
