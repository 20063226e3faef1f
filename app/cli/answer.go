package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"atoll/app/chats"
	"atoll/app/fault"
	"atoll/storage"
)

// Answer is the last line of ask --json.
type Answer struct {
	Type      string       `json:"type"` // "answer"
	Text      string       `json:"text"`
	Chat      string       `json:"chat"`
	Model     string       `json:"model"`
	Steps     []Step       `json:"steps"`
	Artifacts []Artifact   `json:"artifacts"`
	Usage     Usage        `json:"usage"`
	Fault     *fault.Fault `json:"fault,omitempty"` // why there is no answer
}

// Step is one program that the model wrote, and what became of it.
type Step struct {
	Lang   string `json:"lang"`
	Code   string `json:"code"`
	Status string `json:"status"`
	Stdout string `json:"stdout"`
	Error  string `json:"error,omitempty"`
}

// Artifact is a file or a figure that a step made.
type Artifact struct {
	Name string `json:"name"`
	MIME string `json:"mime,omitempty"`
	Size int64  `json:"size,omitempty"` // bytes
	Blob string `json:"blob"`           // SHA-256 of the content
	Path string `json:"path,omitempty"` // where --save put it
}

// Usage sums the model calls of the answer.
type Usage struct {
	PromptTokens     int     `json:"prompt_tokens"`
	CompletionTokens int     `json:"completion_tokens"`
	Seconds          float64 `json:"seconds"`
}

// finish reads the turn back from the store, which is what counts, and prints it.
func (a *asking) finish(ctx context.Context) error {
	var v chats.View
	err := a.host.Call(ctx, "chats.get", chats.ID{ID: a.chatID}, &v)
	if errors.Is(err, fault.ErrHostGone) { // a new one reads what the old one kept
		if a.host, err = a.connect(ctx); err == nil {
			err = a.host.Call(ctx, "chats.get", chats.ID{ID: a.chatID}, &v)
		}
	}
	if err != nil {
		return err
	}
	ans := answer(v)
	end := a.ended
	if ans.Fault != nil && (end == nil || errors.Is(end, fault.ErrHostGone)) {
		end = ans.Fault
	}
	if end == nil && ans.Text == "" && a.unkept != nil {
		end = a.unkept
	}
	f := fault.Of(end)
	if f != nil {
		ans.Fault = f
	}
	var partly error
	if a.save != "" {
		partly = a.saveAll(ctx, ans.Artifacts)
	}
	if a.json {
		if err := json.NewEncoder(a.Out).Encode(ans); err != nil {
			return fmt.Errorf("print the answer: %w", err)
		}
	} else {
		if ans.Text != "" {
			fmt.Fprintf(a.Err, "\n")
			if _, err := fmt.Fprintln(safely(a.Out), ans.Text); err != nil {
				return fmt.Errorf("print the answer (it is kept in chat %s): %w", a.chatID, err)
			}
		}
		for _, art := range ans.Artifacts {
			if art.Path != "" {
				fmt.Fprintf(a.Err, "saved %s\n", oneName(art.Path))
			} else {
				fmt.Fprintf(a.Err, "made %s (use --save DIR to copy it)\n", oneName(art.Name))
			}
		}
		fmt.Fprintf(a.Err, "chat %s\n", a.chatID)
	}
	switch {
	case f != nil:
		a.say(f)
		return exitStatus(f.Exit())
	case ans.Text == "":
		fmt.Fprintln(a.Err, "atoll: there is no answer, because the code was not run")
		return exitStatus(fault.ExitFailed)
	case partly != nil:
		fmt.Fprintf(a.Err, "atoll: answered, but not all files could be saved: %v\n", partly)
		return exitStatus(fault.ExitPartly)
	}
	return nil
}

// answer collects what the last question of a chat led to.
func answer(v chats.View) Answer {
	ans := Answer{Type: "answer", Chat: v.Chat.ID, Steps: []Step{}, Artifacts: []Artifact{}}
	start := 0
	for i, e := range v.Entries {
		if e.Kind == storage.UserSaid {
			start = i
		}
	}
	steps := map[string]int{}
	figures := 0
	for _, e := range v.Entries[min(start, len(v.Entries)):] {
		var said storage.Assistant
		var res storage.Result
		var f storage.Fault
		switch {
		case e.Kind == storage.AssistantSaid && json.Unmarshal(e.Body, &said) == nil:
			ans.Model = said.Model
			ans.Usage.PromptTokens += said.Usage.Prompt
			ans.Usage.CompletionTokens += said.Usage.Output
			ans.Usage.Seconds += said.Usage.Seconds
			for _, c := range said.Calls {
				steps[c.ID] = len(ans.Steps)
				ans.Steps = append(ans.Steps, Step{Lang: c.Language, Code: c.Code})
			}
			if len(said.Calls) == 0 && said.Rejected == "" && !said.Interrupted {
				ans.Text = said.Text
			}
		case e.Kind == storage.CallEnded && json.Unmarshal(e.Body, &res) == nil:
			if i, ok := steps[res.Call]; ok {
				fill(&ans.Steps[i], res)
			}
			for _, o := range res.Outputs {
				if strings.HasPrefix(o.MIME, "image/") {
					figures++
					ans.Artifacts = append(ans.Artifacts, Artifact{Name: fmt.Sprintf("figure-%d.png", figures), MIME: o.MIME, Blob: o.Blob})
				}
			}
			for _, f := range res.Files {
				ans.Artifacts = append(ans.Artifacts, Artifact{Name: f.Name, MIME: f.MIME, Size: f.Size, Blob: f.Blob})
			}
		case e.Kind == storage.Failed && json.Unmarshal(e.Body, &f) == nil:
			b, _ := json.Marshal(f)
			ans.Fault, _ = fault.Read(b)
		}
	}
	return ans
}

func fill(s *Step, res storage.Result) {
	s.Status = res.Status
	var out strings.Builder
	for _, o := range res.Outputs {
		switch {
		case o.Stream == "stderr":
		case o.Text != "":
			out.WriteString(o.Text)
		case o.Plain != "":
			out.WriteString(strings.TrimRight(o.Plain, "\n") + "\n")
		}
	}
	s.Stdout = out.String()
	switch {
	case res.Error != nil:
		s.Error = res.Error.Name + ": " + res.Error.Message
	case res.Status != "ok":
		s.Error = res.Note
	}
}

// saveAll copies the artifacts to the folder that --save names.
func (a *asking) saveAll(ctx context.Context, arts []Artifact) error {
	if err := os.MkdirAll(a.save, 0o777); err != nil {
		return err
	}
	root, err := os.OpenRoot(a.save) // names come from the model's code
	if err != nil {
		return err
	}
	defer root.Close()
	var errs []error
	for i := range arts {
		art := &arts[i]
		name, err := a.saveOne(ctx, root, *art)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", oneName(art.Name), err))
			continue
		}
		art.Path = filepath.Join(a.save, name)
	}
	return errors.Join(errs...)
}

func (a *asking) saveOne(ctx context.Context, root *os.Root, art Artifact) (string, error) {
	if art.Blob == "" {
		return "", errors.New("it was too large to be kept")
	}
	src, err := a.host.Blob(ctx, art.Blob)
	if err != nil {
		return "", err
	}
	defer src.Close()
	return save(root, art.Name, src)
}
