// Package wire carries commands to the model worker and events back, as
// bounded frames over a pair of pipes.
//
// A frame is four bytes, the length of what follows as a big-endian unsigned
// number, and then one JSON value. The host sends a [Command] per frame, the
// worker an [Event]. Every event bears the number of the command it answers;
// the answer to a command ends with an event whose Last method is true.
package wire

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"atoll/llm"
	"atoll/llm/harness"
)

// MaxFrame is the most bytes one frame may hold. It bounds what a confused
// peer can make the other side allocate; a prompt of a million tokens fits.
const MaxFrame = 32 << 20

// ErrFrame means that the stream does not hold frames of this package: the
// peer is another program, or the library printed into the stream.
var ErrFrame = errors.New("not a frame of the model worker")

// A Command is what the host asks of the worker. Exactly one of the pointers
// or Cancel is set. The worker handles one command at a time, in order; only
// Cancel is taken while another runs.
type Command struct {
	ID       int64           `json:"id"`
	Load     *Load           `json:"load,omitempty"`
	Complete *harness.Prompt `json:"complete,omitempty"`
	Count    *harness.Prompt `json:"count,omitempty"`
	Cancel   bool            `json:"cancel,omitempty"` // stop the command with this ID
}

// Load asks for a model. It is the first command of a worker, and the only one
// of its kind: another model gets another worker.
type Load struct {
	Path      string `json:"path"`      // the GGUF file; "" only opens the libraries and tells the device
	LibDir    string `json:"libDir"`    // folder of the inference libraries
	Context   int    `json:"context"`   // tokens; 0 chooses what fits
	Threads   int    `json:"threads"`   // at least 1
	GPULayers int    `json:"gpuLayers"` // layers to put on a graphics device
	Memory    int64  `json:"memory"`    // bytes free for the model, 0: unknown
}

// An Event is what the worker says about a command. Exactly one of the other
// fields is set.
type Event struct {
	ID       int64     `json:"id"`
	Text     string    `json:"text,omitempty"`
	Progress *llm.Load `json:"progress,omitempty"`
	Loaded   *Loaded   `json:"loaded,omitempty"`
	Count    *int      `json:"count,omitempty"`
	Done     *llm.Done `json:"done,omitempty"`
	Fault    *Fault    `json:"fault,omitempty"`
}

// Last reports whether e ends the answer to its command.
func (e Event) Last() bool {
	return e.Loaded != nil || e.Count != nil || e.Done != nil || e.Fault != nil
}

// Loaded describes the model that is ready.
type Loaded struct {
	Context      int    `json:"context"`      // tokens of the context in use
	ContextTrain int    `json:"contextTrain"` // tokens the model was trained for
	Device       string `json:"device"`       // what computes
	Description  string `json:"description"`  // the library's words for the model
	// ChatTemplate is the source of the model's own chat template, for the host
	// to see what the model was trained on; only the worker renders it.
	ChatTemplate string `json:"chatTemplate"`
	Parameters   int64  `json:"parameters"` // weights
}

// A Fault is an error of the worker, fit to be read by a person.
type Fault struct {
	Kind Kind   `json:"kind"`
	Text string `json:"text"`
	// Final says that the worker ends after this event.
	Final bool `json:"final,omitempty"`
}

// Kind says which error of package llm a fault is.
type Kind string

// The kinds of faults.
const (
	KindEngine    Kind = "engine"    // llm.ErrEngine
	KindModel     Kind = "model"     // llm.ErrBadModel
	KindMemory    Kind = "memory"    // llm.ErrNoMemory
	KindContext   Kind = "context"   // llm.ErrContextFull
	KindCancelled Kind = "cancelled" // the host cancelled
	KindRequest   Kind = "request"   // the request itself cannot be served
)

// A Writer writes frames. It is safe for concurrent use.
type Writer struct {
	mu sync.Mutex // guards w: a frame is written whole
	w  io.Writer
}

// NewWriter returns a writer of frames to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Write sends v, a [Command] or an [Event], in one frame.
func (w *Writer) Write(v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write frame: %w", err)
	}
	if len(body) > MaxFrame {
		return fmt.Errorf("write frame: %d bytes are more than the %d that one message may have", len(body), MaxFrame)
	}
	frame := append(binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(body)), uint32(len(body))), body...)
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, err := w.w.Write(frame); err != nil {
		return fmt.Errorf("write frame: %w", err)
	}
	return nil
}

// Read reads one frame from r into v. It returns io.EOF when r ends between
// frames, io.ErrUnexpectedEOF when it ends within one, and ErrFrame when the
// bytes are not a frame.
func Read(r io.Reader, v any) error {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n == 0 || n > MaxFrame {
		return fmt.Errorf("%w: length %d", ErrFrame, n)
	}
	// Grown as bytes arrive: a wrong length costs nothing until they do.
	body, err := io.ReadAll(io.LimitReader(r, int64(n)))
	if err != nil {
		return err
	}
	if len(body) < int(n) {
		return io.ErrUnexpectedEOF
	}
	if err := json.Unmarshal(body, v); err != nil {
		return fmt.Errorf("%w: %w", ErrFrame, err)
	}
	return nil
}
