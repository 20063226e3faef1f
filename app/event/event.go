// Package event carries what happens to whoever watches.
package event

import "atoll/storage"

// An Event is either durable (Entry, in the store already) or passing (the
// rest: lost ones do no harm, the entry that follows replaces them). Exactly
// one field beside Seq is set.
type Event struct {
	Seq   uint64         `json:"seq,omitempty"` // set with Entry
	Entry *storage.Entry `json:"entry,omitempty"`
	Delta *Delta         `json:"delta,omitempty"`
	Turn  *Turn          `json:"turn,omitempty"`
	Ask   *Ask           `json:"ask,omitempty"`
	Task  *Task          `json:"task,omitempty"`
	Chat  *storage.Chat  `json:"chat,omitempty"` // a chat is new or its head changed
	Gone  string         `json:"gone,omitempty"` // a chat was deleted
}

// Delta is content still being produced.
type Delta struct {
	Chat   string          `json:"chat"`
	Turn   string          `json:"turn"`
	Call   string          `json:"call,omitempty"`                              // set: output of that running call
	Kind   string          `json:"kind" enum:"text,code,stdout,stderr,display"` // "text", "code", "stdout", "stderr", "display"
	Text   string          `json:"text,omitempty"`
	Output *storage.Output `json:"output,omitempty"` // with "display"
}

// Phase says what a turn is doing.
type Phase string

// The phases of a turn, in the order in which they can come.
const (
	Queued    Phase = "queued"
	Loading   Phase = "load"    // Done tells how far
	Reading   Phase = "prompt"  // Done tells how far
	Answering Phase = "answer"  // text or code is coming
	Approving Phase = "approve" // waits for a person
	Running   Phase = "run"     // code is running
	Ended     Phase = "done"
)

// Turn is the state of a running turn.
type Turn struct {
	Chat    string  `json:"chat"`
	Turn    string  `json:"turn"`
	Phase   Phase   `json:"phase" enum:"queued,load,prompt,answer,approve,run,done"`
	Done    float64 `json:"done,omitempty"` // 0 to 1
	Model   string  `json:"model,omitempty"`
	Context int     `json:"context,omitempty"` // tokens the model can read
	Used    int     `json:"used,omitempty"`    // tokens of the last prompt and its answer
	// Fault says, at the end, why there is no answer when not even that could be
	// kept: the disk is full.
	Fault *storage.Fault `json:"fault,omitempty"`
}

// Ask is an approval waiting for a person; Open false withdraws it.
type Ask struct {
	ID      string       `json:"id"`
	Chat    string       `json:"chat"`
	Turn    string       `json:"turn"`
	Call    storage.Call `json:"call"`
	Reasons []string     `json:"reasons"` // what the code can do, as sentences
	Open    bool         `json:"open"`
	// Stage is "before" when the code has not run, "after" when it ran in a
	// layer and its effects wait.
	Stage      string   `json:"stage" enum:"before,after"`
	CanPreview bool     `json:"canPreview"` // chats.preview works
	Previewed  bool     `json:"previewed"`  // it was done: Effects are of this code
	Effects    *Effects `json:"effects,omitempty"`
	Needs      []Need   `json:"needs"` // why it is asked
}

// Effects is what code did in a layer, and would do to the folders.
type Effects struct {
	Changes []FileChange `json:"changes"`
	More    int          `json:"more"`  // changes that are not listed
	Bytes   int64        `json:"bytes"` // written
	Procs   int          `json:"procs"` // processes and threads, the highest seen
	Hosts   []string     `json:"hosts"` // tried or reached
	Seconds float64      `json:"seconds"`
	Error   string       `json:"error,omitempty"` // how the code failed
	Needs   []Need       `json:"needs"`           // what of it asks for a person
}

// A FileChange is what a layer does to one file.
type FileChange struct {
	Path string `json:"path"` // inside the project or the chat's folder where it lies there
	Kind string `json:"kind" enum:"created,changed,deleted,folder"`
	Size int64  `json:"size"` // bytes afterwards
	Was  int64  `json:"was"`  // bytes before
	Diff string `json:"diff,omitempty"`
	Own  bool   `json:"own"`            // made by the code of this chat
	Runs string `json:"runs,omitempty"` // which program of the machine would run it later
}

// A Need is one reason why a person is asked.
type Need struct {
	Effect string `json:"effect" enum:"delete,overwrite,network,outside,install,long,runs-later,code"`
	What   string `json:"what"` // a path, a host, a package
	Why    string `json:"why"`  // a sentence
}

// Task is progress of something long: a download, a set-up step.
type Task struct {
	ID    string         `json:"id"`
	Label string         `json:"label"`
	Done  int64          `json:"done"`
	Total int64          `json:"total"`
	Unit  string         `json:"unit" enum:"bytes,steps"`
	State string         `json:"state" enum:"running,done,failed"`
	Error *storage.Fault `json:"error,omitempty"`
}
