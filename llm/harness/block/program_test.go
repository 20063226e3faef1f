package block_test

import (
	"strings"
	"testing"

	"atoll/llm/harness/block"
)

const f = "```"

// A fence in a string, comment or here-document belongs to the program.
func TestProgramEndsAtItsFence(t *testing.T) {
	for name, tt := range map[string]struct{ language, src string }{
		"python, triple quotes":          {"python", "s = '''\n" + f + "\n'''\n"},
		"python, escaped quote":          {"python", "s = 'it\\'s' # it's\n"},
		"sql, string over lines":         {"sql", "SELECT 'it''s\n" + f + "\n'\n"},
		"sql, comments":                  {"sql", "-- it's\nSELECT 1 /* '\n" + f + "\n*/\n"},
		"sql, dollar quotes":             {"sql", "SELECT $$\n" + f + "\n$$\n"},
		"javascript, comment":            {"javascript", "/*\n" + f + "\n*/ x // it's /*\n"},
		"javascript, apostrophe":         {"javascript", "const a = /'/;\n"},
		"javascript, template":           {"javascript", "const a = `\nx\n`;\n"},
		"javascript, template at end":    {"javascript", "f(`\nx\n`\n"},
		"shell, quotes over lines":       {"shell", "echo 'a\n" + f + "\nb' \"c\n" + f + "\nd\"\n"},
		"shell, here-document":           {"shell", "cat <<END\nit's\n" + f + "\nEND\nls\n"},
		"shell, quoted here-document":    {"shell", "cat <<-'E F'\n" + f + "\n\tE F\nls\n"},
		"shell, two here-documents":      {"shell", "cat <<A <<\"B\"\n" + f + "\nA\n" + f + "\nB\nls\n"},
		"shell, here-string is one word": {"shell", "cat <<< word\nls\n"},
		"shell, comment":                 {"shell", "ls # don't\necho a#'b'\n"},
		"shell, escaped quote":           {"shell", "echo don\\'t\n"},
		"shell, back-ticks":              {"shell", "x=`ls`\n"},
	} {
		t.Run(name, func(t *testing.T) {
			open, _ := block.MarkIn(f + tt.language)
			p := block.NewProgram(tt.language, open)
			over := false
			for line := range strings.SplitSeq(tt.src+f, "\n") {
				if over {
					t.Fatalf("ended before %q", line)
				}
				_, over = p.Line(line, "\n")
			}
			if text, _ := p.End(); !over || text != tt.src {
				t.Errorf("ended %v with %q", over, text)
			}
		})
	}
}

func TestLanguage(t *testing.T) {
	for label, want := range map[string]string{
		"py": "python", "Python3": "python", "js": "javascript", "bash": "shell", "SQL": "sql", "": "", "pycon": "", "ruby": "", "c": "",
	} {
		if got := block.Language(label); got != want {
			t.Errorf("%q is %q, want %q", label, got, want)
		}
	}
}
