package sandbox

import "fmt"

// A trial is one thing that a program did or tried to do, twice: freely, to see
// that the program can do it at all, and inside the boundary. A failure inside
// proves nothing where the program fails outside as well.
type trial struct {
	Name    string // of the guarantee
	Want    bool   // whether it must succeed inside
	Outside bool   // it succeeded without the boundary
	Inside  bool   // it succeeded inside; seen in its effect, not in what it said
	Note    string // what was seen, a sentence or nothing
}

func (t trial) holds() bool { return t.Outside && t.Inside == t.Want }

func (t trial) detail() string {
	switch {
	case t.holds():
		return t.Note
	case !t.Outside:
		return "The trial proves nothing, because its program fails without the boundary as well. " + t.Note
	case t.Want:
		return "What is allowed was refused. " + t.Note
	}
	return "What must be refused was possible. " + t.Note
}

// trialNames are the guarantees without which nothing is started. A self-check
// that leaves one out has not succeeded.
var trialNames = []string{"runs programs", "reads what it may", "writes where it may", "hides files", "protects files", "no network"}

// levelOf works out the level from the trials. One that went wrong is enough for
// "none": an implementation that errs in one place is not trusted in another.
// weak are guarantees that are known not to hold on this system.
func levelOf(trials []trial, weak []Guarantee) Level {
	l := Level{Name: LevelFull}
	if len(weak) > 0 {
		l.Name = LevelReduced
	}
	done := map[string]bool{}
	for _, t := range trials {
		done[t.Name] = true
		g := Guarantee{Name: t.Name, Holds: t.holds(), Detail: t.detail()}
		if !g.Holds {
			l.Name = LevelNone
			g.Fix = "Run the sandbox test and report what it says; until then no code is run here."
		}
		l.Guarantees = append(l.Guarantees, g)
	}
	for _, name := range trialNames {
		if !done[name] {
			l.Name = LevelNone
			l.Guarantees = append(l.Guarantees, Guarantee{Name: name, Detail: fmt.Sprintf("The trial %q could not be carried out.", name)})
		}
	}
	l.Guarantees = append(l.Guarantees, weak...)
	return l
}
