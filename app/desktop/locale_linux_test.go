package desktop

import (
	"os"
	"testing"
)

func TestFixLocale(t *testing.T) {
	for _, row := range []struct{ all, messages, lang, want string }{
		{"", "", "", "en_US.UTF-8"},
		{"", "", "C", "en_US.UTF-8"},
		{"", "", "C.UTF-8", "en_US.UTF-8"},
		{"POSIX", "", "de_DE.UTF-8", "en_US.UTF-8"},
		{"", "C", "de_DE.UTF-8", "en_US.UTF-8"},
		{"", "", "de_DE.UTF-8", "de_DE.UTF-8"},
		{"", "fr_FR", "C", "C"},
		{"pt_BR.UTF-8", "C", "C", "C"},
	} {
		t.Setenv("LC_ALL", row.all)
		t.Setenv("LC_MESSAGES", row.messages)
		t.Setenv("LANG", row.lang)
		if err := fixLocale(); err != nil {
			t.Fatal(err)
		}
		if got := os.Getenv("LANG"); got != row.want {
			t.Errorf("LC_ALL=%q LC_MESSAGES=%q LANG=%q: LANG became %q", row.all, row.messages, row.lang, got)
		}
		if all := os.Getenv("LC_ALL"); row.want == "en_US.UTF-8" && all != "" {
			t.Errorf("LC_ALL=%q still decides", all)
		}
	}
}
