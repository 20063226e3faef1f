package engine_test

import (
	"os"
	"strings"
	"testing"

	"atoll/llm"
)

// realModel returns the model of ATOLL_TEST_MODEL, or skips the test.
func realModel(t testing.TB) string {
	t.Helper()
	path := os.Getenv("ATOLL_TEST_MODEL")
	if path == "" {
		t.Skip("SKIPPED, NO REAL MODEL IS TESTED: set ATOLL_TEST_MODEL to an instruct model's .gguf")
	}
	return path
}

func TestRealModelAnswers(t *testing.T) {
	e := newEngine(t, realModel(t))
	p := ask("Write Python that prints the sum of 1 to 10. Answer with one fenced code block and nothing else.", 120)
	text, done := complete(t, e, p)
	t.Logf("%s\n%+v\n%+v", text, done, e.Info())
	if !strings.Contains(text, "```") || !strings.Contains(text, "print") || done.Stop != llm.StopEnd {
		t.Errorf("got %q, %+v", text, done)
	}
	if done.Usage.PromptNS == 0 || done.Usage.OutputNS == 0 {
		t.Error("no times were taken")
	}
}
