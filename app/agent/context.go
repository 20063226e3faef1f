package agent

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"atoll/llm"
	"atoll/llm/harness"
	"atoll/storage"
)

// Prefix is the beginning of the prompt that a question with these files will
// have: reading it before the question is there saves that time later, because
// the engine keeps what it has read.
func Prefix(branch []storage.Entry, files []storage.File) *llm.Request {
	ms := messages(branch, plan{})
	if len(files) > 0 {
		ms = append(ms, llm.Message{Role: llm.User, Text: userText(storage.User{Files: files})})
	}
	return &llm.Request{Messages: ms, MaxTokens: 1}
}

// messages builds what a model sees from what happened. A program that failed
// is not shown again, because a small model copies what it sees: in its place
// stands what went wrong, and where. The view only ever grows, so that the
// engine finds all of it in its cache but the end.
func messages(branch []storage.Entry, p plan) []llm.Message {
	failed := failures(branch)
	var ms []llm.Message
	codes := map[string]string{} // what ran, by call
	speech := ""
	for _, e := range branch {
		switch e.Kind {
		case storage.UserSaid:
			var b storage.User
			if json.Unmarshal(e.Body, &b) == nil {
				if n := len(ms); n > 0 && ms[n-1].Role != llm.Assistant { // else the model would answer both
					ms = append(ms, llm.Message{Role: llm.Assistant, Text: "I was stopped before I had an answer."})
				}
				ms = append(ms, llm.Message{Role: llm.User, Text: userText(b)})
				speech = language(b.Text)
			}
		case storage.AssistantSaid:
			var b storage.Assistant
			if json.Unmarshal(e.Body, &b) != nil {
				continue
			}
			m := llm.Message{Role: llm.Assistant, Text: b.Text}
			for _, c := range b.Calls {
				codes[c.ID] = c.Code
				if !failed[c.ID] {
					m.Calls = append(m.Calls, *harness.NewCodeCall(c.ID, c.Language, c.Code))
				}
			}
			if len(m.Calls) == 0 && (m.Text == "" || len(b.Calls) > 0) {
				continue
			}
			ms = append(ms, m)
		case storage.CallDecided:
			var b storage.Decision
			if json.Unmarshal(e.Body, &b) == nil && b.Code != "" {
				codes[b.Call] = b.Code // what really ran
				replace(ms, b)
			}
		case storage.CallEnded:
			var b storage.Result
			switch {
			case json.Unmarshal(e.Body, &b) != nil || b.Status == "interrupted":
			case failed[b.Call]:
				ms = append(ms, llm.Message{Role: llm.User, Text: failureText(b, codes[b.Call])})
			default:
				ms = append(ms, llm.Message{Role: llm.ToolRole, CallID: b.Call, Text: resultText(b, speech)})
			}
		}
	}
	if p.reprompt != "" {
		ms = append(ms, llm.Message{Role: llm.User, Text: p.reprompt})
	}
	return ms
}

// replace puts a person's version of a program where the model's was.
func replace(ms []llm.Message, d storage.Decision) {
	for i := range ms {
		for j := range ms[i].Calls {
			if c := &ms[i].Calls[j]; c.ID == d.Call {
				*c = *harness.NewCodeCall(c.ID, "python", d.Code)
			}
		}
	}
}

// failures returns the calls that ran and gave nothing to answer from.
func failures(branch []storage.Entry) map[string]bool {
	ids := map[string]bool{}
	for _, e := range branch {
		var b storage.Result
		if e.Kind == storage.CallEnded && json.Unmarshal(e.Body, &b) == nil && b.Status != "denied" {
			ids[b.Call] = b.Status != "ok" || !showed(b)
		}
	}
	return ids
}

func userText(u storage.User) string {
	var b strings.Builder
	for _, f := range u.Files {
		card := f.Card
		if card == "" {
			card = fmt.Sprintf("File '%s', %d bytes.", f.Name, f.Size)
		}
		b.WriteString(strings.TrimSpace(card))
		b.WriteString("\n\n")
	}
	if u.Place != "" {
		b.WriteString(u.Place)
		b.WriteString("\n\n")
	}
	b.WriteString(u.Text)
	return b.String()
}

// resultText is what the model is told about a run that went well, or that a
// person did not allow, and in which language to answer; "" is English.
func resultText(res storage.Result, language string) string {
	if language != "" {
		language = " in " + language
	}
	switch {
	case res.Status == "ok":
		return outputText(res) + "\nAnswer the question" + language + " in one or two sentences with these values. If something is still missing, write another ```python block."
	case res.Receipt != nil: // it ran in a layer
		return strings.TrimSpace("The code ran, but the user did not accept what it would do to their files, and nothing was changed. " + res.Note)
	case res.Note != "":
		return "The code was not run: " + res.Note
	}
	return "The user did not allow this code to run."
}

// failureText is what the model is told about a program that failed, without
// the program.
func failureText(res storage.Result, code string) string {
	what := res.Note
	switch {
	case res.Status == "ok":
		return "An attempt printed nothing. Print the result."
	case res.Error != nil:
		what = errorText(*res.Error)
		if line := lineOf(code, res.Error.Line); line != "" {
			what += "\nThe line was: " + line
		}
	case what == "":
		what = "it ended: " + res.Status
	}
	return "An attempt failed. " + what + "\nDo not make this mistake again."
}

// lineOf returns line n of a program, counted from 1.
func lineOf(code string, n int) string {
	lines := strings.Split(code, "\n")
	if n < 1 || n > len(lines) {
		return ""
	}
	return clip(strings.TrimSpace(lines[n-1]), 200)
}

func errorText(e storage.Error) string {
	s := e.Name + ": " + clip(e.Message, 400)
	if e.Hint != "" {
		s += "\n" + clip(e.Hint, 600)
	}
	return s
}

// outputText is what the model is told of what a run showed.
func outputText(res storage.Result) string {
	s := res.Digest
	for _, f := range res.Files {
		s += fmt.Sprintf("\n[saved file '%s', %d bytes]", f.Name, f.Size)
	}
	return "Output:\n" + strings.TrimSpace(s)
}

// clip keeps the head and the tail of s when it is longer than n bytes.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	head, tail := s[:n*3/5], s[len(s)-n*2/5:]
	for !utf8.ValidString(head) && head != "" {
		head = head[:len(head)-1]
	}
	for !utf8.ValidString(tail) && tail != "" {
		tail = tail[1:]
	}
	return fmt.Sprintf("%s\n... [%d bytes left out] ...\n%s", head, len(s)-len(head)-len(tail), tail)
}
