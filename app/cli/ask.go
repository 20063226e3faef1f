package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"atoll/app/approval"
	"atoll/app/chats"
	"atoll/app/client"
	"atoll/app/event"
	"atoll/app/fault"
	"atoll/storage"
)

type askFlags struct {
	files   []string
	model   string
	approve string
	chat    string
	timeout time.Duration
	save    string
	json    bool
}

func (p Program) ask() *cobra.Command {
	var f askFlags
	c := &cobra.Command{
		Use:   "ask [flags] PROMPT",
		Short: "Ask a question and print the computed answer",
		Long: `Ask keeps the question in a chat, lets the model write code for it, runs that
code in the sandbox, and prints the answer. Code, output and progress go to
standard error, the answer to standard output. PROMPT - reads standard input.

With --json every event is a line of JSON, and the last line is
{"type":"answer",...} with the text, the steps and the files that were made.`,
		Example: `  atoll ask --approve auto --file sales.csv "Which region has the highest total revenue?"
  atoll ask --approve auto --save out --file weather.csv "Plot the temperatures of both cities"
  atoll ask --chat 0193f0c2-... "And the lowest?"`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("give the question as one argument, in quotes")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("chat") && f.chat == "" {
				return usageError{errors.New("--chat has no ID")}
			}
			if f.timeout < 0 {
				return usageError{fmt.Errorf("--timeout %v: it must be more than nothing", f.timeout)}
			}
			if f.approve != "" && !approval.Valid(f.approve) {
				return usageError{fmt.Errorf("--approve %q: it is auto, ask or never", f.approve)}
			}
			prompt := args[0]
			if prompt == "-" {
				b, err := io.ReadAll(p.In)
				if err != nil {
					return fmt.Errorf("read the prompt: %w", err)
				}
				prompt = string(b)
			}
			if strings.TrimSpace(prompt) == "" {
				return usageError{errors.New("the prompt is empty")}
			}
			a := &asking{Program: p, askFlags: f}
			return a.run(c.Context(), prompt)
		},
	}
	fl := c.Flags()
	fl.StringArrayVarP(&f.files, "file", "f", nil, "attach `FILE`; may be given many times")
	fl.StringVarP(&f.model, "model", "m", "", "`NAME` of an installed model, or the path of a .gguf file")
	fl.StringVar(&f.approve, "approve", "", "`MODE`: auto runs code in the sandbox without asking, ask asks here, never runs none (default ask)")
	fl.StringVar(&f.chat, "chat", "", "go on with the chat `ID`")
	fl.DurationVar(&f.timeout, "timeout", 0, "stop after `D`, for example 90s or 5m")
	fl.StringVar(&f.save, "save", "", "copy the files and figures that the run made to `DIR`")
	fl.BoolVar(&f.json, "json", false, "print one event per line as JSON")
	return c
}

// asking is one run of the ask command.
type asking struct {
	Program
	askFlags

	host   *client.Client
	chatID string
	turn   string
	ended  error        // why following stopped early
	unkept *fault.Fault // why the turn ended, when the chat could not keep it
}

var errEnded = errors.New("turn ended")

func (a *asking) run(ctx context.Context, prompt string) (err error) {
	paths, err := absolute(a.files)
	if err != nil {
		return err
	}
	if a.host, err = a.connect(ctx); err != nil {
		return err
	}
	since, files, err := a.open(ctx, paths)
	if err != nil {
		return err
	}
	a.event("chat", map[string]any{"chat": a.chatID})
	follow := ctx
	if a.timeout > 0 {
		var cancel context.CancelFunc
		follow, cancel = context.WithTimeout(ctx, a.timeout)
		defer cancel()
	}
	send := func() error {
		var sent chats.Sent
		err := a.host.Call(ctx, "chats.send", chats.Send{ID: a.chatID, Text: prompt, Files: files}, &sent)
		a.turn = sent.Turn
		return err
	}
	err = a.follow(follow, since, send)
	if a.turn == "" && !errors.Is(err, errEnded) { // the prompt was not taken; another turn may run in this chat
		return errors.Join(err, a.drop(context.WithoutCancel(ctx)))
	}
	if !errors.Is(err, errEnded) {
		// Stopped, timed out, or nobody there to approve: what runs must end too.
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		if serr := a.host.Call(stop, "chats.stop", chats.ID{ID: a.chatID}, nil); serr != nil && ctx.Err() == nil && follow.Err() == nil {
			err = errors.Join(err, serr)
		}
		a.ended = err
	}
	done, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	return a.finish(done)
}

// follow shows the turn that send starts until it ends. A stream that breaks
// while the host is well is taken up again.
func (a *asking) follow(ctx context.Context, since uint64, send func() error) error {
	for {
		err := a.host.Follow(ctx, since, send, func(e event.Event) error {
			since = max(since, e.Seq)
			return a.show(ctx, e)
		})
		if !errors.Is(err, fault.ErrHostGone) || a.turn == "" {
			return err
		}
		send = nil
		var v chats.View
		if gone := a.host.Call(ctx, "chats.get", chats.ID{ID: a.chatID}, &v); gone != nil {
			return err
		}
		if v.Turn == nil || v.Turn.Turn != a.turn {
			return errEnded
		}
	}
}

// drop deletes the chat that this command has made for nothing.
func (a *asking) drop(ctx context.Context) error {
	if a.chat != "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	// An empty chat is removed after a week anyway; this is only tidiness.
	_ = a.host.Call(ctx, "chats.delete", chats.ID{ID: a.chatID}, nil)
	return nil
}

// absolute resolves paths here: the host has another working folder. Missing
// files are told before anything starts.
func absolute(files []string) ([]string, error) {
	var out []string
	for _, f := range files {
		if f == "" {
			return nil, usageError{errors.New("--file has no name")}
		}
		p, err := filepath.Abs(f)
		if err != nil {
			return nil, err
		}
		if _, err := os.Stat(p); errors.Is(err, os.ErrNotExist) {
			return nil, usageError{fmt.Errorf("there is no file %s; check the name and the folder", f)}
		}
		out = append(out, p)
	}
	return out, nil
}

// modelRef makes a path absolute; a name stays as it is.
func modelRef(m string) string {
	if strings.HasSuffix(strings.ToLower(m), ".gguf") || strings.ContainsRune(m, os.PathSeparator) && fileExists(m) {
		if p, err := filepath.Abs(m); err == nil {
			return p
		}
	}
	return m
}

func fileExists(p string) bool {
	st, err := os.Stat(p)
	return err == nil && st.Mode().IsRegular()
}

// open finds or creates the chat and attaches the files.
func (a *asking) open(ctx context.Context, paths []string) (since uint64, files []storage.File, err error) {
	model := modelRef(a.model)
	if a.chat == "" {
		var c storage.Chat
		if err := a.host.Call(ctx, "chats.create", chats.Create{Model: model, Approve: a.approve}, &c); err != nil {
			return 0, nil, err
		}
		a.chatID = c.ID
		defer func() {
			if err != nil {
				err = errors.Join(err, a.drop(context.WithoutCancel(ctx)))
			}
		}()
	} else {
		a.chatID = a.chat
		set := chats.Set{ID: a.chat}
		if a.model != "" {
			set.Model = &model
		}
		if a.approve != "" {
			set.Approve = &a.approve
		}
		if set.Model != nil || set.Approve != nil {
			if err := a.host.Call(ctx, "chats.set", set, nil); err != nil {
				return 0, nil, err
			}
		}
	}
	var v chats.View
	if err := a.host.Call(ctx, "chats.get", chats.ID{ID: a.chatID}, &v); err != nil {
		return 0, nil, err
	}
	if len(paths) > 0 {
		var att chats.Attached
		if err := a.host.Call(ctx, "chats.attach", chats.Attach{ID: a.chatID, Paths: paths}, &att); err != nil {
			return 0, nil, err
		}
		for i, f := range att.Files {
			if f.Problem != "" {
				return 0, nil, usageError{fmt.Errorf("%s: %s", a.files[i], f.Problem)}
			}
			files = append(files, f.File)
		}
	}
	return v.Seq, files, nil
}

// show prints one event of the chat.
func (a *asking) show(ctx context.Context, e event.Event) error {
	switch {
	case e.Delta != nil && e.Delta.Chat == a.chatID:
		a.delta(*e.Delta)
	case e.Turn != nil && e.Turn.Chat == a.chatID && (a.turn == "" || e.Turn.Turn == a.turn):
		a.event("phase", map[string]any{"phase": e.Turn.Phase, "done": e.Turn.Done})
		if e.Turn.Phase == event.Ended {
			if e.Turn.Fault != nil {
				b, _ := json.Marshal(e.Turn.Fault) // strings always marshal
				a.unkept, _ = fault.Read(b)
			}
			return errEnded
		}
	case e.Ask != nil && e.Ask.Chat == a.chatID && e.Ask.Open:
		return a.decide(ctx, *e.Ask)
	case e.Entry != nil && e.Entry.Chat == a.chatID:
		a.event("entry", map[string]any{"kind": e.Entry.Kind, "body": e.Entry.Body})
		var r storage.Result
		if e.Entry.Kind == storage.CallEnded && json.Unmarshal(e.Entry.Body, &r) == nil && !a.json {
			if r.Error != nil {
				fmt.Fprintln(a.Err, printable(strings.TrimSpace(r.Error.Trace)))
			}
			if r.Note != "" {
				fmt.Fprintln(a.Err, printable(r.Note))
			}
		}
	}
	return nil
}

func (a *asking) delta(d event.Delta) {
	if a.json {
		fields := map[string]any{"text": d.Text}
		if d.Output != nil {
			fields = map[string]any{"text": d.Output.Plain, "mime": d.Output.MIME}
		}
		a.event(d.Kind, fields)
		return
	}
	switch d.Kind {
	case "code", "stdout", "stderr":
		fmt.Fprint(a.Err, printable(d.Text))
	case "display":
		if d.Output != nil && d.Output.Plain != "" {
			fmt.Fprintln(a.Err, printable(d.Output.Plain))
		}
	}
}

func (a *asking) event(kind string, fields map[string]any) {
	if !a.json {
		return
	}
	fields["type"] = kind
	_ = json.NewEncoder(a.Out).Encode(fields) // a closed pipe ends the program by itself
}
