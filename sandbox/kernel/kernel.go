// Package kernel keeps interpreters alive between runs, one per chat and
// language, each inside a sandbox.
package kernel

import (
	"context"
	"encoding/json"
	"time"

	"atoll/sandbox"
)

// A Session is a living interpreter. Runs are serial: a second Run waits.
type Session interface {
	// Run executes code and reports output as it appears, in order. It returns
	// when the code ended, was stopped (ctx: interrupted first, the state is
	// kept if that suffices), or took the interpreter down; the next Run then
	// starts a new one. The error is only for faults of ours: what the code
	// did wrong is in Result.
	Run(ctx context.Context, code string, out func(Output)) (Result, error)
	// Close ends the interpreter and everything it started.
	Close() error
}

// Output is one piece of what a run shows. Exactly one of Text and Data is set.
type Output struct {
	Stream string `json:"stream,omitempty"` // "stdout" or "stderr", with Text
	Text   string `json:"text,omitempty"`
	// Data holds one displayed object, by MIME type: "text/plain" always,
	// "image/png", or [TableMIME].
	Data map[string][]byte `json:"data,omitempty"`
}

// TableMIME is the type of a data frame: JSON of [Table].
const TableMIME = "application/vnd.atoll.table+json"

// A Table is the visible part of a data frame.
type Table struct {
	Columns []string            `json:"columns"`
	Types   []string            `json:"types"` // the library's own names of the column types
	Index   []json.RawMessage   `json:"index"`
	Rows    [][]json.RawMessage `json:"rows"`  // numbers, strings, booleans, null
	Shape   [2]int              `json:"shape"` // rows and columns of the whole frame
}

// Status says how a run ended.
type Status string

// The ways in which a run ends.
const (
	OK          Status = "ok"
	Error       Status = "error"       // an exception
	Interrupted Status = "interrupted" // stopped, state kept
	TimedOut    Status = "timeout"     // the run's time was up
	Died        Status = "died"        // the interpreter is gone, variables are lost
)

// Result is how a run ended.
type Result struct {
	Status Status        `json:"status"`
	Value  string        `json:"value,omitempty"` // repr of the last expression, if any
	Error  *Exception    `json:"error,omitempty"`
	Took   time.Duration `json:"took"`
	// Exit is set when the interpreter died; Note then says it in a sentence.
	Exit *sandbox.Exit `json:"exit,omitempty"`
	Note string        `json:"note,omitempty"`
	// Cut counts bytes of output that were not passed on because a run may
	// show only so much; the whole text is in the log file.
	Cut int64 `json:"cut,omitempty"`
	// Log is the path of that file; empty when nothing was cut or none is kept.
	Log string `json:"log,omitempty"`
	// Record is what the boundary saw during the run; nil where it keeps none.
	Record *sandbox.Record `json:"record,omitempty"`
	// Tried is what the code looked for and did not find or could not reach, as
	// the interpreter itself says: a hint, of which the code can make anything.
	Tried []sandbox.Denial `json:"tried,omitempty"`
}

// SaidByProgram is the layer of a [sandbox.Denial] that is only a hint.
const SaidByProgram = "said by the program"

// An Exception is a fault in the user's program, not in ours.
type Exception struct {
	Name    string `json:"name"`    // "KeyError"
	Message string `json:"message"` // "'price'"
	Line    int    `json:"line"`    // line in the cell, 1-based; 0 if unknown
	Trace   string `json:"trace"`   // short traceback that points into the cell
	Hint    string `json:"hint"`    // what would help: the columns there are, the nearest name
}
