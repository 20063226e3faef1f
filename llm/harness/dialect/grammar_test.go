package dialect_test

import (
	"math/rand/v2"
	"testing"

	"atoll/llm/harness/dialect"
)

// A locked model cannot write a call that is malformed: 10,000 answers of each
// dialect's grammar, made at random, are all read as calls.
func TestLockedCallsAreNeverMalformed(t *testing.T) {
	answers := 10_000
	if testing.Short() {
		answers = 500
	}
	total := 0
	for _, d := range dialect.All {
		rnd := rand.New(rand.NewPCG(5, 17))
		for _, mode := range []string{"free", "free, one", "forced", "forced, thinking"} {
			s := settings(d)
			s.Locked, s.One = true, mode == "free, one"
			s.Require = true
			force := mode == "forced" || mode == "forced, thinking"
			s.Thinking = mode == "forced, thinking" && d != dialect.Harmony && d != dialect.Terminus
			grammar, lazy := s.Grammar(force)
			g, err := newGenerator(grammar, rnd)
			if err != nil {
				t.Fatalf("%s, %s: %v\n%s", d, mode, err, grammar)
			}
			if !force && d != dialect.Terminus && len(lazy) == 0 {
				t.Fatalf("%s: nothing opens a call", d)
			}
			for range answers / 4 {
				out := g.text()
				if len(lazy) > 0 {
					before := []string{"", "I look at it first.\n", "<think>\nhm\n</think>\n\n"}[rnd.IntN(3)]
					word := lazy[rnd.IntN(len(lazy))]
					if d == dialect.Harmony {
						before, word = "", "<|channel|>commentary "+word
					}
					out = before + word + out
				}
				total++
				got := parse(t, s, []string{out}, false)
				if got.Why != "" || len(got.Calls) == 0 {
					t.Fatalf("%s, %s: %q\nread %+v", d, mode, out, got)
				}
			}
		}
	}
	t.Logf("0 malformed of %d", total)
}
