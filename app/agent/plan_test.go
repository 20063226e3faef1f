package agent

import (
	"fmt"
	"strings"
	"testing"

	"atoll/llm"
	"atoll/llm/harness"
)

func TestMalformedIsAskedAgainTwice(t *testing.T) {
	var p plan
	if !p.malformed(llm.ErrMalformed) || !strings.Contains(p.reprompt, "```python") {
		t.Errorf("no reason known: %q", p.reprompt)
	}
	err := fmt.Errorf("generate: %w", &harness.Malformed{Dialect: "hermes", Why: "the call has no code", Want: "<tool_call>...</tool_call>"})
	if !p.malformed(err) || !strings.Contains(p.reprompt, "the call has no code") || !strings.Contains(p.reprompt, "\n<tool_call>...</tool_call>") {
		t.Errorf("a known reason: %q", p.reprompt)
	}
	if p.malformed(err) {
		t.Error("a third time it was asked")
	}
}
