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

// messages builds what a model sees from what happened. Earlier turns are
// shown as they were, so that the engine finds them in its cache.
func messages(branch []storage.Entry, p plan) []llm.Message {
	var ms []llm.Message
	calls := map[string]*llm.ToolCall{}
	forgotten := forgotten(branch, p)
	for _, e := range branch {
		switch e.Kind {
		case storage.UserSaid:
			var b storage.User
			if json.Unmarshal(e.Body, &b) == nil {
				ms = append(ms, llm.Message{Role: llm.User, Text: userText(b)})
			}
		case storage.AssistantSaid:
			var b storage.Assistant
			if json.Unmarshal(e.Body, &b) != nil || forgotten[e.ID] {
				continue
			}
			m := llm.Message{Role: llm.Assistant, Text: b.Text}
			for _, c := range b.Calls {
				m.Calls = append(m.Calls, *harness.NewCodeCall(c.ID, c.Language, c.Code))
			}
			if m.Text == "" && len(m.Calls) == 0 {
				continue
			}
			ms = append(ms, m)
			for i := range m.Calls {
				calls[m.Calls[i].ID] = &ms[len(ms)-1].Calls[i]
			}
		case storage.CallDecided:
			var b storage.Decision
			if json.Unmarshal(e.Body, &b) == nil && b.Code != "" && calls[b.Call] != nil {
				*calls[b.Call] = *harness.NewCodeCall(b.Call, "python", b.Code) // what really ran
			}
		case storage.CallEnded:
			var b storage.Result
			if json.Unmarshal(e.Body, &b) == nil && !forgotten[b.Call] {
				ms = append(ms, llm.Message{Role: llm.ToolRole, CallID: b.Call, Text: resultText(b)})
			}
		}
	}
	if p.reprompt != "" {
		ms = append(ms, llm.Message{Role: llm.User, Text: p.reprompt})
	}
	return ms
}

// forgotten returns the ids of this turn's answers and calls that failed,
// except the last one, when the plan wants a fresh start.
func forgotten(branch []storage.Entry, p plan) map[string]bool {
	ids := map[string]bool{}
	if !p.forget {
		return ids
	}
	var prev []string
	in := false
	for _, e := range branch {
		in = in || e.ID == p.turnStart
		var b storage.Assistant
		if !in || e.Kind != storage.AssistantSaid || json.Unmarshal(e.Body, &b) != nil || len(b.Calls) == 0 {
			continue
		}
		for _, id := range prev {
			ids[id] = true
		}
		prev = []string{e.ID}
		for _, c := range b.Calls {
			if p.codes[strings.TrimSpace(c.Code)] == "ok" {
				prev = nil
				break
			}
			prev = append(prev, c.ID)
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
	b.WriteString(u.Text)
	return b.String()
}

// resultText is what the model is told about a run: the output, or the error
// with what would help, and what to do next.
func resultText(res storage.Result) string {
	out := outputText(res)
	switch res.Status {
	case "ok":
		if !showed(res) {
			return "The code ran but printed nothing. Write the complete block again and print the result."
		}
		return out + "\nAnswer the question in one or two sentences with these values. If something is still missing, write another ```python block."
	case "denied":
		if res.Note != "" {
			return "The code was not run: " + res.Note
		}
		return "The user did not allow this code to run."
	case "error":
		if res.Error != nil {
			return strings.TrimSpace(out+"\n"+errorText(*res.Error)) + "\nFix the error and write the complete corrected block."
		}
	}
	note := res.Note
	if note == "" {
		note = "the run ended: " + res.Status
	}
	return strings.TrimSpace(out+"\n"+note) + "\nWrite a corrected block that avoids this."
}

func errorText(e storage.Error) string {
	s := e.Name + ": " + clip(e.Message, 400)
	if e.Line > 0 {
		s += fmt.Sprintf(" (line %d)", e.Line)
	}
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
