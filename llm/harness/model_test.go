package harness_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atoll/llm"
	"atoll/llm/harness"
	"atoll/llm/harness/fenced"
)

// tape is an engine that would write all of its text, three bytes at a time,
// and honours what a prompt says about stopping.
type tape struct {
	text    string
	full    int // completion at which the context is full; 0: none
	prompts []harness.Prompt
}

func (*tape) Info() llm.Info                                     { return llm.Info{} }
func (*tape) Count(context.Context, harness.Prompt) (int, error) { return 0, nil }

func (e *tape) Complete(_ context.Context, p harness.Prompt) iter.Seq2[harness.Piece, error] {
	return func(yield func(harness.Piece, error) bool) {
		e.prompts = append(e.prompts, p)
		if len(e.prompts) == e.full {
			yield(harness.Piece{}, llm.ErrContextFull)
			return
		}
		if !yield(harness.Piece{Load: &llm.Load{Phase: "prompt", Done: 1}}, nil) {
			return
		}
		rest := strings.TrimPrefix(e.text, strings.TrimPrefix(p.Prefill, e.prompts[0].Prefill))
		done := llm.Done{Stop: llm.StopEnd, Usage: llm.Usage{Prompt: 100, Cached: 10 * len(e.prompts), PromptNS: 5, OutputNS: 7}}
		rest, done.StopAt = p.Cut(rest)
		done.Usage.Output = len(rest) + len(done.StopAt)
		if p.Max > 0 && len(rest) >= p.Max {
			rest, done.Stop, done.StopAt, done.Usage.Output = rest[:p.Max], llm.StopLength, "", p.Max
		}
		for rest != "" {
			n := min(3, len(rest))
			if !yield(harness.Piece{Text: rest[:n]}, nil) {
				return
			}
			rest = rest[n:]
		}
		yield(harness.Piece{Done: &done}, nil)
	}
}

const f = "```"

func TestModelStops(t *testing.T) {
	inner := "s = '''\n" + f + "\na\n" + f + "\n'''\n"
	table := "So:\n" + f + "\na | b\n" + f + "\nThe sum is 3.\n"
	for name, tt := range map[string]struct {
		text  string
		req   llm.Request
		full  int
		said  string
		codes []string
		parts int // completions it takes
		err   error
	}{
		"a quoted table does not end an answer": {text: table, said: table, parts: 1},
		"a program does":                        {text: table + f + "python\nx\n" + f + "\nOutput:\n5", said: table, codes: []string{"x\n"}, parts: 1},
		"forced":                                {req: llm.Request{RequireCall: true}, text: "x\n" + f + "\nOutput:\n5", codes: []string{"x\n"}, parts: 1},
		"forced, end of text at the fence":      {req: llm.Request{RequireCall: true}, text: "x\n" + f, codes: []string{"x\n"}, parts: 1},
		"fences in a string":                    {text: f + "python\n" + inner + f + "\nOutput:", codes: []string{inner}, parts: 3},
		"fences in a string, forced":            {req: llm.Request{RequireCall: true}, text: inner + f + "\nOutput:", codes: []string{inner}, parts: 3},
		"labelled fence in a string":            {req: llm.Request{RequireCall: true}, text: "s = '''\n" + f + "js\n'''\n" + f + "\nOutput:", codes: []string{"s = '''\n" + f + "js\n'''\n"}, parts: 1},
		"longer fence":                          {text: f + "`py\nx\n" + f + "\n" + f + "`\nOutput:", codes: []string{"x\n" + f + "\n"}, parts: 2},
		"armed in prose about fences":           {text: "Not " + f + "python blocks.\n" + table, said: "Not " + f + "python blocks.\n" + table, parts: 3},
		"indented block":                        {text: "1. so\n   " + f + "python\n   x\n   " + f + "\n   Output:", said: "1. so\n", codes: []string{"x\n"}, parts: 1},
		"limit reached in a later part":         {req: llm.Request{RequireCall: true, MaxTokens: 20}, text: inner + f + "\n", parts: 3, err: llm.ErrMalformed},
		"limit reached at the stop":             {req: llm.Request{RequireCall: true, MaxTokens: len("s = '''\n" + f + "\n")}, text: inner + f + "\n", parts: 1, err: llm.ErrMalformed},
		"context full in the second part":       {req: llm.Request{RequireCall: true}, full: 2, text: inner + f + "\n", parts: 2, err: llm.ErrMalformed},
		"context full at once":                  {full: 1, text: inner, parts: 1, err: llm.ErrContextFull},
		"a person's stop cuts a program":        {req: llm.Request{RequireCall: true, Sampling: llm.Sampling{Stop: []string{"rm"}}}, text: "x\nrm()\n", parts: 1, err: llm.ErrMalformed},
		"a person's stop cuts prose":            {req: llm.Request{Sampling: llm.Sampling{Stop: []string{"sum"}}}, text: table, said: table[:strings.Index(table, "sum")], parts: 1},
	} {
		t.Run(name, func(t *testing.T) {
			e := &tape{text: tt.text, full: tt.full}
			m, done, err := harness.Model(e, fenced.Harness{}).Generate(t.Context(), &tt.req).Collect()
			if !errors.Is(err, tt.err) {
				t.Fatalf("error %v, want %v", err, tt.err)
			}
			if len(e.prompts) != tt.parts {
				t.Errorf("%d completions, want %d", len(e.prompts), tt.parts)
			}
			if tt.err != nil {
				if len(m.Calls) > 0 {
					t.Errorf("calls %v", m.Calls)
				}
				return
			}
			var codes []string
			for _, c := range m.Calls {
				code, err := harness.ReadCodeCall(c)
				if err != nil {
					t.Fatal(err)
				}
				codes = append(codes, code.Code)
			}
			if m.Text != tt.said || !cmp.Equal(codes, tt.codes) {
				t.Errorf("said %q with %q, want %q with %q", m.Text, codes, tt.said, tt.codes)
			}
			// The prompt counts once, time counts for all parts; for the output see
			// TestModelContinues.
			u := done.Usage
			if want := (llm.Usage{Prompt: 100, Cached: 10, Output: u.Output, PromptNS: int64(5 * tt.parts), OutputNS: int64(7 * tt.parts)}); u != want {
				t.Errorf("usage %+v, want %+v", u, want)
			}
		})
	}
}

func TestModelContinues(t *testing.T) {
	e := &tape{text: "s = '''\n" + f + "\n'''\n" + f + "\nOutput:"}
	loads := 0
	var done *llm.Done
	for d, err := range harness.Model(e, fenced.Harness{}).Generate(t.Context(), &llm.Request{RequireCall: true, MaxTokens: 100}) {
		if err != nil {
			t.Fatal(err)
		}
		if d.Load != nil {
			loads++
		}
		if d.Done != nil {
			done = d.Done
		}
	}
	if loads != 1 {
		t.Errorf("%d times it was said that the prompt is read, want 1", loads)
	}
	first, second := e.prompts[0], e.prompts[1]
	cut := "s = '''\n" + f + "\n"
	if want := first.Prefill + cut; second.Prefill != want || second.Max != 100-len(cut) || second.Arm != nil {
		t.Errorf("went on with %q, at most %d, arm %q; want %q, %d", second.Prefill, second.Max, second.Arm, want, 100-len(cut))
	}
	if want := len(e.text) - len("Output:"); done.Usage.Output != want || done.Stop != llm.StopCalls {
		t.Errorf("%+v, want %d tokens and calls", done, want)
	}
}

func TestCut(t *testing.T) {
	for name, tt := range map[string]struct {
		p             harness.Prompt
		out, text, at string
	}{
		"no stop":                     {harness.Prompt{}, "abc", "abc", ""},
		"empty stop":                  {harness.Prompt{Stop: []string{""}}, "abc", "abc", ""},
		"first complete":              {harness.Prompt{Stop: []string{"cd", "abcde"}}, "abcdef", "ab", "cd"},
		"longer of two":               {harness.Prompt{Stop: []string{"c", "bc"}}, "abc", "a", "bc"},
		"not armed":                   {harness.Prompt{Stop: []string{"b"}, Arm: []string{"x"}}, "abc", "abc", ""},
		"armed":                       {harness.Prompt{Stop: []string{"b"}, Arm: []string{"x", "a"}}, "bxab", "bxa", "b"},
		"begins before the arm's end": {harness.Prompt{Stop: []string{"ab"}, Arm: []string{"xa"}}, "xabab", "xab", "ab"},
		"a person's counts at once":   {harness.Prompt{Stop: []string{"b"}, Arm: []string{"x"}, Sampling: llm.Sampling{Stop: []string{"c"}}}, "abcx", "ab", "c"},
	} {
		if text, at := tt.p.Cut(tt.out); text != tt.text || at != tt.at {
			t.Errorf("%s: %q to %q, want %q to %q", name, text, at, tt.text, tt.at)
		}
	}
}
