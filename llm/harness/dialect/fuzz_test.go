package dialect_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"atoll/llm/harness"
	"atoll/llm/harness/dialect"
)

// However an answer is cut into pieces, what is read is the same, and nothing
// makes the parser fail.
func FuzzDialects(f *testing.F) {
	for i, d := range dialect.All {
		f.Add(dialect.Write(d, []harness.CodeCall{{Language: "python", Code: "print('é')\n"}, {Language: "shell", Code: "ls\n"}}), i+1, i, byte(0))
	}
	for i, out := range []string{
		"a\n```python\nx=1\n```\nb `c` ```py\ny\n```<|im_end|>", "<think>\n```py\n</think>\n{\"name\": 1", "<tool_call>{'name': 'python', 'arguments': {'code': \"\"\"x\"\"\",}}</tool_call>",
		"<|channel|>analysis<|message|>x<|end|><|start|>assistant<|channel|>final<|message|>y<|return|>", "[TOOL_CALLS]python[ARGS]{\"code\": \"C:\\Users\\n\"}</s>", "```json\n{\"name\":\n```\n```console\n$ ls\n```",
		"  \t```sh\ncat <<'E'\n```\nE\n```\n~~~js\n/*\n~~~\n*/\n~~~", "{}", "[{}", "</think>", "<function=python>\n<parameter=code>\nx</parameter>\n", "<function=run_code><parameter=a>x</parameter><parameter=b></parameter></function>", "{\"commands\": [{\"keystrokes\": \"ls\\n\"}], \"analysis\": \"a\"}",
	} {
		f.Add(out, i+1, i, byte(i))
	}
	f.Fuzz(func(t *testing.T, out string, n, which int, flags byte) {
		s := settings(dialect.All[max(0, which)%len(dialect.All)])
		s.One, s.Locked, s.Thinking, s.Require = flags&1 != 0, flags&2 != 0, flags&4 != 0, flags&8 != 0
		cut := flags&16 != 0
		var cuts []string
		for rest, k := out, max(1, n%9); rest != ""; {
			k = min(k, len(rest))
			cuts = append(cuts, rest[:k])
			rest = rest[k:]
		}
		if d := cmp.Diff(parse(t, s, []string{out}, cut), parse(t, s, cuts, cut)); d != "" {
			t.Errorf("result depends on the cutting:\n%s", d)
		}
	})
}

// What is written in a dialect is read as it was.
func TestWriteRead(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := rapid.SampledFrom(dialect.All).Draw(rt, "dialect")
		s := settings(d)
		lines := []string{"x = 1", "s = \"a\\\\n'b'\"", "print(f\"{x}\")", "# </tool_call> it's", "</parameter> - a", "é = '😀\\t'", "{\"name\": 1}", "    y", "$ ls", "a < b > c"}
		n := 2
		if d == dialect.MiniSWE || d == dialect.Gemini {
			n = 1
		}
		var want []harness.CodeCall
		for range rapid.IntRange(1, n).Draw(rt, "calls") {
			c := harness.CodeCall{Language: rapid.SampledFrom(s.Languages).Draw(rt, "language")}
			if d == dialect.Gemini {
				c.Language = "python"
			}
			c.Code = strings.Join(append([]string{"z = 0"}, rapid.SliceOfN(rapid.SampledFrom(lines), 0, 4).Draw(rt, "code")...), "\n") + "\n"
			if c.Language == "shell" || c.Language == "sql" { // quotes and comments of others
				c.Code = "echo 1\n"
			}
			want = append(want, c)
		}
		var calls []string
		for _, c := range want {
			calls = append(calls, c.Language+": "+c.Code)
		}
		got := parse(t, s, []string{dialect.Write(d, want)}, false)
		if !slices.Equal(got.Calls, calls) || got.Why != "" || strings.Trim(got.Text, " \n") != "" {
			rt.Fatalf("%s: wrote %q\nread %q, text %q, why %q", d, dialect.Write(d, want), got.Calls, got.Text, got.Why)
		}
	})
}

// Valid JSON is read as the standard library reads it.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{`a"b\c`, "é😀\n\t", `C:\Users\new \d`, "'''", `"""`} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, key, code string) {
		code = strings.ToValidUTF8(code, "?")
		if strings.TrimSpace(code) == "" {
			return
		}
		b, err := json.Marshal(map[string]any{"name": "python", "arguments": map[string]string{"code": code}, "id": key})
		if err != nil {
			t.Fatal(err)
		}
		got := parse(t, settings(dialect.Hermes), []string{"<tool_call>" + string(b) + "</tool_call>"}, false)
		if !slices.Equal(got.Calls, []string{"python: " + code}) {
			t.Errorf("%s: %+v", b, got)
		}
	})
}

// Answers made of the parts of all dialects are read alike in every cutting.
func TestCutting(t *testing.T) {
	parts := []string{"```", "python\n", "```python\n", "```json\n", "```\n", "~~~", "```bash\n", "`", "\n", " ", "x = 1\n", "'''", "\"", "\\", "{", "}", "[", "]", ";", ",", ":",
		`{"name": "python", "arguments": {"code": "x"}}`, `{"name"`, `"arguments": {"code": "`, "{}", "<tool_call>", "</tool_call>", "<function=python>", "<parameter=code>", "</parameter>", "</function>",
		"<function_calls>", `<invoke name="bash">`, `<parameter name="command">`, "</invoke>", "</function_calls>", "[TOOL_CALLS]", "python[ARGS]", "<|python_tag|>", "<|eom_id|>", "<|im_end|>", "<|im_start|>", "assistant", "</s>",
		"<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>", "python<｜tool▁sep｜>", "<｜tool▁call▁end｜>", "<｜tool▁calls▁end｜>", "<|tool_call_begin|>", "functions.python:0", "<|tool_call_argument_begin|>", "<|tool_call_end|>",
		"<|channel|>", "analysis", "final", " to=python", "<|message|>", "<|end|>", "<|call|>", "<|return|>", "<|start|>", "<think>", "</think>", "[THINK]", "[/THINK]", "◁think▷", "é", "<", "word ",
		"cat <<E\n", "E\n", "```console\n", "$ ls\n", "```tool_code\n", "run_code(code='x')\n", `{"commands": [{"keystrokes": "ls\n"}]}`, "<tool_response>", "\r\n", "-"}
	rapid.Check(t, func(rt *rapid.T) {
		out := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 1, 14).Draw(rt, "parts"), "")
		s := settings(rapid.SampledFrom(dialect.All).Draw(rt, "dialect"))
		s.One, s.Locked, s.Thinking = rapid.Bool().Draw(rt, "one"), rapid.Bool().Draw(rt, "locked"), rapid.Bool().Draw(rt, "thinking")
		cut := rapid.Bool().Draw(rt, "cut")
		var cuts []string
		for rest := out; rest != ""; {
			k := min(rapid.IntRange(1, 9).Draw(rt, "n"), len(rest))
			cuts = append(cuts, rest[:k])
			rest = rest[k:]
		}
		if d := cmp.Diff(parse(t, s, []string{out}, cut), parse(t, s, cuts, cut)); d != "" {
			rt.Fatalf("%q in %q:\n%s", out, cuts, d)
		}
	})
}
