package harness_test

import (
	"testing"

	"atoll/llm/harness"
)

func TestTrigger(t *testing.T) {
	for name, tt := range map[string]struct {
		out      string
		thinking bool
		rest     string // behind the trigger
		met      bool
	}{
		"none":                      {out: "a <tool> b"},
		"at once":                   {out: "<call>x", rest: "x", met: true},
		"behind prose":              {out: "ab<call>\nx", rest: "\nx", met: true},
		"the first to be complete":  {out: "[call<call>", rest: "<call>", met: true},
		"in a thought":              {out: "<think>a <call> b", met: false},
		"behind a thought":          {out: "<think>a <call> b</think>c<call>d", rest: "d", met: true},
		"thinking from the start":   {out: "a <call> b</think><call>d", thinking: true, rest: "d", met: true},
		"in an analysis":            {out: "<|channel|>analysis<|message|><call><|end|><call>z", rest: "z", met: true},
		"a thought behind it":       {out: "<call><think>", rest: "<think>", met: true},
		"the second of two":         {out: "<call><call>", rest: "<call>", met: true},
		"the beginning of one only": {out: "<cal"},
	} {
		t.Run(name, func(t *testing.T) {
			p := harness.Prompt{Grammar: "root ::= \"x\"\n", Lazy: []string{"<call>", "[call"}, Thinking: tt.thinking}
			for size := 1; size <= len(tt.out); size++ {
				trigger := p.Trigger()
				rest, met := "", false
				for at := 0; at < len(tt.out); at += size {
					piece := tt.out[at:min(at+size, len(tt.out))]
					over, now := trigger.Push(piece)
					if now {
						rest, met = piece[len(piece)-over:]+tt.out[min(at+size, len(tt.out)):], true
						break
					}
				}
				if rest != tt.rest || met != tt.met {
					t.Errorf("in pieces of %d: %q, %v", size, rest, met)
				}
			}
		})
	}
	if (harness.Prompt{Lazy: []string{"x"}}).Trigger() != nil || (harness.Prompt{Grammar: "g"}).Trigger() != nil {
		t.Error("a prompt without a lazy grammar has a trigger")
	}
}
