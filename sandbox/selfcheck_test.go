package sandbox

import "testing"

// allGood are trials of a machine on which everything behaves.
func allGood() []trial {
	var out []trial
	for i, n := range trialNames {
		want := i < 3
		out = append(out, trial{Name: n, Want: want, Outside: true, Inside: want})
	}
	return out
}

func TestLevelOf(t *testing.T) {
	weak := []Guarantee{{Name: "tree kill"}}
	for name, tt := range map[string]struct {
		change func([]trial) []trial
		weak   []Guarantee
		want   string
	}{
		"all holds":           {func(x []trial) []trial { return x }, nil, LevelFull},
		"known weakness":      {func(x []trial) []trial { return x }, weak, LevelReduced},
		"allowed was refused": {func(x []trial) []trial { x[1].Inside = false; return x }, nil, LevelNone},
		"decoy was read":      {func(x []trial) []trial { x[3].Inside = true; return x }, nil, LevelNone},
		"written outside":     {func(x []trial) []trial { x[4].Inside = true; return x }, weak, LevelNone},
		"connected":           {func(x []trial) []trial { x[5].Inside = true; return x }, nil, LevelNone},
		"control failed":      {func(x []trial) []trial { x[5].Outside = false; return x }, nil, LevelNone},
		"one left out":        {func(x []trial) []trial { return x[:5] }, nil, LevelNone},
		"none carried out":    {func([]trial) []trial { return nil }, weak, LevelNone},
	} {
		t.Run(name, func(t *testing.T) {
			l := levelOf(tt.change(allGood()), tt.weak)
			if l.Name != tt.want {
				t.Errorf("level %s, want %s: %+v", l.Name, tt.want, l.Guarantees)
			}
			if l.Name == LevelNone {
				missing := false
				for _, g := range l.Guarantees {
					missing = missing || !g.Holds && g.Detail != ""
				}
				if !missing {
					t.Error("no guarantee says why")
				}
			}
		})
	}
}
