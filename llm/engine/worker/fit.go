package worker

import (
	"fmt"

	"atoll/llm/engine/wire"
)

const (
	mib = 1 << 20
	gib = 1 << 30

	// defaultContext is the most tokens that are chosen without being asked
	// for: more is seldom used and its cache costs memory from the start.
	defaultContext = 16384
	// smallestContext is the least with which a conversation is possible.
	smallestContext = 2048
	// computeReserve is what the library takes for a computation beside
	// weights and cache, rounded up from what was seen with models to 7 B.
	computeReserve = 320 * mib
)

// shape holds the numbers of a model that its memory depends on.
type shape struct {
	weights int64 // bytes of all tensors
	trained int   // tokens of context it was trained for
	layers  int
	kvHeads int // heads of the key-value cache per layer
	headDim int // numbers per head
}

// cachePerToken is the key-value cache in bytes that one token of context
// takes: a key and a value per layer and head, as 16-bit numbers.
func (s shape) cachePerToken() int64 {
	return 2 * int64(s.layers) * int64(s.kvHeads) * int64(s.headDim) * 2
}

// chooseContext returns how many tokens of context to use when asked for
// asked tokens (0: as many as are useful) with available bytes free for
// weights, cache and computation together (0: unknown, nothing is refused).
// It never returns more than the model was trained for. The error is of kind
// memory and holds the numbers.
func chooseContext(s shape, asked int, available int64) (int, error) {
	top := s.trained
	if top <= 0 {
		top = defaultContext
	}
	need := func(n int) int64 { return s.weights + computeReserve + int64(n)*s.cachePerToken() }
	fits := func(n int) bool { return available <= 0 || need(n) <= available }
	if asked > 0 {
		n := min(asked, top)
		if fits(n) {
			return n, nil
		}
		if best := largest(top, n, fits); best > 0 {
			return 0, fail(wire.KindMemory, "a context of %d tokens takes %s beside the model, %s in all, and %s is free: choose a context of %d or less, or close other programs",
				n, size(int64(n)*s.cachePerToken()), size(need(n)), size(available), best)
		}
		return 0, noRoom(s, need(min(smallestContext, top)), available)
	}
	if n := largest(top, min(top, defaultContext), fits); n > 0 {
		return n, nil
	}
	return 0, noRoom(s, need(min(smallestContext, top)), available)
}

// largest returns the largest step of the ladder that is at most limit and
// fits, 0 if none does. Steps are the powers of two from smallestContext on,
// and top itself.
func largest(top, limit int, fits func(int) bool) int {
	best := 0
	for n := smallestContext; n <= limit; n *= 2 {
		if fits(n) {
			best = n
		}
	}
	if top <= limit && top > best && fits(top) {
		best = top
	}
	return best
}

func noRoom(s shape, need, available int64) error {
	return fail(wire.KindMemory, "the model needs %s of memory (%s for its weights) and %s is free: close other programs or choose a smaller model",
		size(need), size(s.weights), size(available))
}

// size writes bytes for people.
func size(n int64) string {
	if n >= gib {
		return fmt.Sprintf("%.1f GiB", float64(n)/gib)
	}
	return fmt.Sprintf("%d MiB", (n+mib-1)/mib)
}
