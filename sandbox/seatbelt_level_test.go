//go:build linux || darwin

package sandbox

import (
	"errors"
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
	if l := seatbeltLevelOf(allGood(), nil); l.Name != LevelReduced {
		t.Errorf("level %s", l.Name)
	}
	if l := seatbeltLevelOf(allGood(), errNotSwept); l.Name != LevelNone || !strings.Contains(whyNone(l), errNotSwept.Error()) {
		t.Errorf("unfinished: %+v", l)
	}
}

func TestWhyNone(t *testing.T) {
	bad := allGood()
	bad[3].Inside, bad[3].Note = true, "cat: status 0."
	why := whyNone(seatbeltLevelOf(bad, nil))
	for _, part := range []string{bad[3].Name, "must be refused was possible", "status 0", "sandbox test"} {
		if !strings.Contains(why, part) {
			t.Errorf("%q lacks %q", why, part)
		}
	}
	if why := whyNone(seatbeltLevelOf(nil, errors.New("no home"))); !strings.Contains(why, "no home") || !strings.Contains(why, whatToDo) {
		t.Errorf("%q", why)
	}
}
