package sandbox

import (
	"slices"
	"strings"
	"testing"
)

// What does not hold on macOS is said in sentences, under names that no trial has.
func TestSeatbeltWeak(t *testing.T) {
	seen := slices.Clone(trialNames)
	for _, g := range seatbeltWeak {
		if g.Holds || !strings.HasSuffix(g.Detail, ".") || slices.Contains(seen, g.Name) {
			t.Errorf("%+v", g)
		}
		seen = append(seen, g.Name)
	}
	if l := levelOf(allGood(), seatbeltWeak); l.Name != LevelReduced {
		t.Errorf("level %s", l.Name)
	}
}

func TestWhyNone(t *testing.T) {
	bad := allGood()
	bad[3].Inside, bad[3].Note = true, "cat: status 0."
	why := whyNone(levelOf(bad, seatbeltWeak))
	for _, part := range []string{bad[3].Name, "must be refused was possible", "status 0", "sandbox test"} {
		if !strings.Contains(why, part) {
			t.Errorf("%q lacks %q", why, part)
		}
	}
	if why := whyNone(Level{Guarantees: []Guarantee{{Name: "sandbox", Detail: "It came to no end.", Fix: whatToDo}}}); !strings.Contains(why, whatToDo) {
		t.Errorf("%q", why)
	}
}
