package fault

import (
	"context"
	"errors"

	"atoll/app/config"
	"atoll/llm"
	"atoll/llm/catalog"
	"atoll/sandbox"
	"atoll/sandbox/toolchain"
	"atoll/storage"
)

// Exit statuses of the command line; docs/cli.md lists them for people.
const (
	ExitOK       = 0
	ExitFailed   = 1
	ExitUsage    = 2
	ExitPartly   = 3
	ExitData     = 10  // data folder locked, newer, damaged, full
	ExitSandbox  = 11  // the sandbox refused
	ExitModel    = 12  // model unavailable
	ExitApproval = 13  // approval needed and nobody there
	ExitTimeout  = 124 // --timeout was up
	ExitStopped  = 130 // stopped
)

var (
	// ErrHostBusy means that a host is there and does not answer.
	ErrHostBusy = errors.New("the host does not answer")
	// ErrHostGone means that the host ended while it was needed.
	ErrHostGone = errors.New("the host is gone")
)

// table: the first row that matches says it. A machine without a sandbox is
// the reason for everything that cannot start there, so it comes first.
var table = []struct {
	is error
	f  Fault
}{
	{sandbox.ErrUnsupported, Fault{Code: "sandbox.unsupported", Title: "This machine cannot isolate code, so it is not run", Hint: "Run atoll doctor: it names the missing layer and how to get it.", exit: ExitSandbox, status: 501}},
	{sandbox.ErrPolicy, Fault{Code: "sandbox.policy", Title: "The sandbox refuses these folders", Hint: "Use a folder of its own for the workspace, not your home folder.", exit: ExitSandbox, status: 422}},
	{llm.ErrNoMemory, Fault{Code: "model.memory", Title: "The model does not fit in memory", Hint: "Choose a smaller model or a smaller context, or close other programs.", exit: ExitModel, status: 507}},
	{llm.ErrCrashed, Fault{Code: "model.crashed", Title: "The model process stopped", Hint: "Your prompt is kept; ask again and it starts anew. If it stops again, the model file may be damaged: atoll models verify.", exit: ExitModel, status: 502}},
	{llm.ErrContextFull, Fault{Code: "model.context", Title: "The chat is longer than the model can read", Hint: "Start a new chat, attach fewer files, or choose a model with a larger context.", exit: ExitFailed, status: 413}},
	{llm.ErrBadModel, Fault{Code: "model.bad", Title: "This model file cannot be used", Hint: "Check it with atoll models verify, or fetch it again with atoll models pull.", exit: ExitModel, status: 422}},
	{llm.ErrUnknownModel, Fault{Code: "model.unknown", Title: "There is no such model here", Hint: "See atoll models list; fetch one with atoll models pull, or give the path of a .gguf file.", exit: ExitModel, status: 404}},
	{llm.ErrEngine, Fault{Code: "model.engine", Title: "The inference engine cannot be started", Hint: "Run atoll doctor; make build fetches the engine again.", exit: ExitModel, status: 500}},
	{llm.ErrMalformed, Fault{Code: "model.malformed", Title: "The model's answer could not be read", Hint: "Ask again, or choose a larger model.", exit: ExitFailed, status: 502}},
	{storage.ErrLocked, Fault{Code: "data.locked", Title: "Another Atoll uses this data folder", Hint: "Close it, or set ATOLL_HOME to another folder.", exit: ExitData, status: 423}},
	{storage.ErrNewer, Fault{Code: "data.newer", Title: "These chats were written by a newer version of Atoll", Hint: "Start the newer version; nothing was changed.", exit: ExitData, status: 409}},
	{storage.ErrDamaged, Fault{Code: "data.damaged", Title: "The chat database is damaged", Hint: "The damaged file is kept; nothing was overwritten. Restore a copy, or move the file away to start with an empty one.", exit: ExitData, status: 500}},
	{config.ErrHome, Fault{Code: "data.folder", Title: "The data folder cannot be used", Hint: "Give yourself the right to write it and some free space, or set ATOLL_HOME to another folder.", exit: ExitData, status: 403}},
	{ErrHostBusy, Fault{Code: "host.silent", Title: "Atoll's host does not answer", Hint: "It may be stopped or the machine overloaded. Wait, or end the process named below and try again: what was sent is kept.", exit: ExitFailed, status: 504}},
	{ErrHostGone, Fault{Code: "host.gone", Title: "Atoll's host ended", Hint: "What was sent is kept. Try again: the next command starts a new one.", exit: ExitFailed, status: 502}},
	{storage.ErrReadOnly, Fault{Code: "data.readonly", Title: "The data folder cannot be written", Hint: "Give yourself the right to write it, or set ATOLL_HOME to another folder.", exit: ExitData, status: 403}},
	{storage.ErrNoSpace, Fault{Code: "data.space", Title: "The disk is full", Hint: "Free some space, then send it again: what could not be written was not taken. What was kept before is unharmed.", exit: ExitData, status: 507}},
	{storage.ErrNotFound, Fault{Code: "data.missing", Title: "There is no such chat", Hint: "See atoll chats list.", exit: ExitFailed, status: 404}},
	{catalog.ErrWrongBytes, Fault{Code: "download.bytes", Title: "What was fetched is not the model", Hint: "The wrong part was deleted. Run it again; if it comes back, use another source.", exit: ExitModel, status: 502}},
	{catalog.ErrNoSpace, Fault{Code: "download.space", Title: "There is not enough space for the model", Hint: "Free some space, or set ATOLL_HOME to a folder on another disk. What was fetched is kept.", exit: ExitModel, status: 507}},
	{catalog.ErrBusy, Fault{Code: "download.busy", Title: "This model is being fetched already", Hint: "Wait for it, or close the program that fetches it.", exit: ExitModel, status: 409}},
	{catalog.ErrNoSource, Fault{Code: "download.source", Title: "The model could not be fetched", Hint: "Check the network and run it again; it goes on where it was. Without a network: atoll models pull --folder DIR.", exit: ExitModel, status: 502}},
	{catalog.ErrIncomplete, Fault{Code: "model.incomplete", Title: "The model file is not complete", Hint: "Fetch it again with atoll models pull; what is there is kept.", exit: ExitModel, status: 422}},
	{catalog.ErrUnknown, Fault{Code: "model.unknown", Title: "There is no such model", Hint: "See atoll models list.", exit: ExitModel, status: 404}},
	{toolchain.ErrNotInstalled, Fault{Code: "python.libraries", Title: "The Python libraries are not installed", Hint: "Run atoll setup once.", exit: ExitFailed, status: 409}},
	{context.DeadlineExceeded, Fault{Code: "timeout", Title: "The time was up", Hint: "Give it more time, or ask for less at once.", exit: ExitTimeout, status: 504}},
	{context.Canceled, Fault{Code: "stopped", Title: "Stopped", exit: ExitStopped, status: 499}},
}
