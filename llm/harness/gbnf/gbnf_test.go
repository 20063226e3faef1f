package gbnf_test

import (
	"testing"

	"atoll/llm/harness/gbnf"
)

func TestUntil(t *testing.T) {
	var g gbnf.Grammar
	g.Until("u", "aab")
	want := `u ::= [^ab] u | "a" u-1 | "b" u
u-1 ::= [^ab] u | "a" u-2 | "b" u
u-2 ::= [^ab] u | "a" u-2 | "b"
`
	if got := g.String(); got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestText(t *testing.T) {
	for s, want := range map[string]string{"a\"b\\\n": `"a\"b\\\n"`, "[^-]": `"[^-]"`, "｜": `"｜"`} {
		if got := gbnf.Text(s); got != want {
			t.Errorf("%q is %s, want %s", s, got, want)
		}
	}
	if got := gbnf.Any("a", "b"); got != `( "a" | "b" )` {
		t.Error(got)
	}
}
