//go:build unix

package cells_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"atoll/app/agent"
	"atoll/app/api"
	"atoll/app/approval"
	"atoll/app/boundary"
	"atoll/app/cells"
	"atoll/app/chats"
	"atoll/app/config"
	"atoll/app/event"
	"atoll/llm"
	"atoll/llm/harness"
	"atoll/sandbox"
	"atoll/sandbox/toolchain"
	"atoll/storage"
	"atoll/storage/blob"
)

// helperArg makes the test binary the sandbox's helper, hostArg a host.
const (
	helperArg = "sandbox-helper"
	hostArg   = "host"
)

func TestMain(m *testing.M) {
	switch {
	case len(os.Args) == 2 && os.Args[1] == helperArg:
		os.Exit(sandbox.JailMain())
	case len(os.Args) == 4 && os.Args[1] == hostArg:
		os.Exit(hostMain(os.Args[2], os.Args[3]))
	}
	os.Exit(m.Run())
}

// runner is the real sandbox.
var runner = sync.OnceValue(func() sandbox.Runner {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return sandbox.New(sandbox.Options{Helper: []string{self, helperArg}})
})

// python is found once: to ask an interpreter who it is takes a second.
var python = sync.OnceValue(func() toolchain.Interpreter { return toolchain.Python(context.Background(), "") })

func findPython(context.Context) (toolchain.Interpreter, toolchain.Env, error) {
	return python(), toolchain.Env{}, nil
}

// needSandbox skips where writes cannot be held back.
func needSandbox(t *testing.T) {
	t.Helper()
	if !python().OK() {
		t.Skip("NOT TESTED: there is no Python on this machine")
	}
	if l := runner().Level(t.Context()); l.Name != sandbox.LevelFull {
		t.Skipf("NOT TESTED: the sandbox of this machine is %q", l.Name)
	}
}

// A world is the host of a data folder without its door: chats on a real store,
// code in the real sandbox. Only the model is made up.
type world struct {
	t       *testing.T
	home    config.Home
	project string // a person's folder
	long    time.Duration
	limits  sandbox.Limits

	table api.Table
	svc   *chats.Service
	cells *cells.Service
	close func()

	events  chan event.Event
	answers chan string // of the model, in order; "```" begins code
}

// newWorld makes the folders; open starts the host.
func newWorld(t *testing.T) *world {
	t.Helper()
	needSandbox(t)
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, home: config.Home(filepath.Join(base, "data")), project: filepath.Join(base, "project")}
	if err := errors.Join(w.home.Make(), os.Mkdir(w.project, 0o755)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if w.close != nil {
			w.close()
		}
	})
	return w
}

// shownCells are the cells as app.build shows them to the agent.
type shownCells struct{ *cells.Service }

func (c shownCells) Try(ctx context.Context, chat string, call storage.Call, out func(storage.Output), longer agent.Longer) (agent.Trial, storage.Result, error) {
	t, res, err := c.Service.Try(ctx, chat, call, out, longer)
	if t == nil {
		return nil, res, err
	}
	return t, res, err
}

// open starts the host of the data folder, once more after close.
func (w *world) open() *world {
	w.t.Helper()
	store, err := storage.Open(w.home.Store(), storage.Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	blobs, err := blob.Open(filepath.Join(w.home.Store(), "blobs"))
	if err != nil {
		w.t.Fatal(err)
	}
	bus := event.NewBus(store)
	w.cells = cells.New(cells.Deps{
		Home: w.home, Runner: runner(), Blobs: blobs, Python: findPython, Long: w.long, Limits: w.limits,
		Policy: func(chat string) (storage.ChatPolicy, error) {
			c, err := store.Chat(chat)
			return boundary.Of(c), err
		},
	})
	if err := w.cells.Tidy(); err != nil {
		w.t.Fatal(err)
	}
	w.table, w.answers, w.events = api.Table{}, make(chan string, 8), make(chan event.Event, 4096)
	w.svc = chats.New(chats.Deps{
		Store: store, Bus: bus, Gate: approval.NewGate(bus, approval.NewGrants(store)), Models: w,
		Cells: shownCells{w.cells}, Data: string(w.home), Drop: func([]string) {},
	})
	w.svc.Register(&w.table)
	ctx, cancel := context.WithCancel(context.Background())
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		_ = bus.Watch(ctx, 0, func(es []event.Event) error { // ends with the context
			for _, e := range es {
				if e.Ask != nil || e.Turn != nil {
					w.events <- e
				}
			}
			return nil
		})
	}()
	for bus.Watchers() == 0 {
		time.Sleep(time.Millisecond)
	}
	w.close = func() {
		w.close = nil
		if err := errors.Join(w.svc.Close(context.Background()), w.cells.Close()); err != nil {
			w.t.Error(err)
		}
		cancel()
		<-watched
		if err := errors.Join(store.Close(), blobs.Close()); err != nil {
			w.t.Error(err)
		}
	}
	return w
}

// The world is its own model: it says what the test has put in answers.

func (w *world) Open(context.Context, string) (llm.Model, string, error) {
	return w, "test/model", nil
}
func (w *world) Info() llm.Info                                   { return llm.Info{Harness: "test", Context: 8192} }
func (w *world) Count(context.Context, *llm.Request) (int, error) { return 1, nil }
func (w *world) Generate(context.Context, *llm.Request) llm.Stream {
	return func(yield func(llm.Delta, error) bool) {
		a := "It is done."
		select {
		case a = <-w.answers:
		default:
		}
		d := llm.Delta{Text: a}
		if code, ok := strings.CutPrefix(a, "```"); ok {
			d = llm.Delta{Call: harness.NewCodeCall("", "python", code)}
		}
		_ = yield(d, nil) && yield(llm.Delta{Done: &llm.Done{Stop: llm.StopEnd}}, nil)
	}
}

func do[Out any](w *world, method string, in any) (out Out, err error) {
	w.t.Helper()
	b, err := json.Marshal(in)
	if err != nil {
		w.t.Fatal(err)
	}
	got, err := w.table.Call(w.t.Context(), method, b)
	if err == nil {
		err = json.Unmarshal(got, &out)
	}
	return out, err
}

func must[Out any](w *world, method string, in any) Out {
	w.t.Helper()
	out, err := do[Out](w, method, in)
	if err != nil {
		w.t.Fatalf("%s: %v", method, err)
	}
	return out
}

// chat starts one with a mode and a policy, nil for none.
func (w *world) chat(mode string, p *storage.ChatPolicy) string {
	w.t.Helper()
	id := must[storage.Chat](w, "chats.create", chats.Create{Approve: mode}).ID
	if p != nil {
		must[boundary.View](w, "policy.set", chats.SetPolicy{Chat: id, Policy: *p})
	}
	return id
}

// inProject is the policy for the person's folder.
func (w *world) inProject() *storage.ChatPolicy {
	return &storage.ChatPolicy{Preset: boundary.Project, Project: w.project}
}

// A person answers a question, or looks at its effects first.
type person func(ask event.Ask)

// nobody fails the test when anything is asked.
func (w *world) nobody() person {
	return func(a event.Ask) {
		w.t.Errorf("asked %s: %+v", a.Stage, a.Needs)
		w.say(a, chats.Answer{})
	}
}

// says answers every question alike and notes stage and effects.
func (w *world) says(answer chats.Answer, asked *[]string) person {
	return func(a event.Ask) {
		line := []string{a.Stage}
		for _, n := range a.Needs {
			line = append(line, n.Effect)
		}
		*asked = append(*asked, strings.Join(line, " "))
		w.say(a, answer)
	}
}

func (w *world) say(a event.Ask, answer chats.Answer) {
	answer.Ask = a.ID
	must[api.Empty](w, "chats.answer", answer)
}

// run has the model write code in a chat, and returns what became of it when the
// turn is over.
func (w *world) run(chat, code string, p person) storage.Result {
	w.t.Helper()
	w.answers <- "```" + code
	turn := must[chats.Sent](w, "chats.send", chats.Send{ID: chat, Text: "Do it."}).Turn
	for e := range w.events {
		switch {
		case e.Ask != nil && e.Ask.Open && e.Ask.Turn == turn:
			p(*e.Ask)
		case e.Turn != nil && e.Turn.Turn == turn && e.Turn.Phase == event.Ended:
			if n := len(must[chats.View](w, "chats.get", chats.ID{ID: chat}).Asks); n > 0 {
				w.t.Errorf("%d questions are open after the end", n)
			}
			return w.last(chat)
		}
	}
	panic("unreachable")
}

// last is the last result in a chat.
func (w *world) last(chat string) (res storage.Result) {
	w.t.Helper()
	es := must[chats.View](w, "chats.get", chats.ID{ID: chat}).Entries
	i := slices.IndexFunc(es, func(e storage.Entry) bool { return e.Kind == storage.UserSaid })
	for _, e := range slices.Backward(es[max(i, 0):]) {
		if e.Kind == storage.CallEnded {
			if err := json.Unmarshal(e.Body, &res); err != nil {
				w.t.Fatal(err)
			}
			return res
		}
	}
	w.t.Fatal("no code was run")
	return res
}

// put makes a file of the person's.
func (w *world) put(name, text string) string {
	w.t.Helper()
	at := filepath.Join(w.project, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o644)); err != nil {
		w.t.Fatal(err)
	}
	return at
}

// holds is what a file of the project holds, "-" when there is none.
func (w *world) holds(name string) string {
	b, err := os.ReadFile(filepath.Join(w.project, name))
	if err != nil {
		return "-"
	}
	return string(b)
}

// work is the working folder of a chat.
func (w *world) work(chat string) string { return filepath.Join(w.home.Chat(chat), "work") }

// read decodes the body of an entry.
func read[Body any](t *testing.T, e storage.Entry) (b Body) {
	t.Helper()
	if err := json.Unmarshal(e.Body, &b); err != nil {
		t.Fatal(err)
	}
	return b
}
