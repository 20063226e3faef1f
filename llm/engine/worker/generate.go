package worker

import (
	"errors"
	"fmt"
	"time"

	"atoll/llm"
	"atoll/llm/engine/wire"
	"atoll/llm/harness"

	"github.com/hybridgroup/yzma/pkg/llama"
)

// complete continues p, sending text as it comes.
func (m *model) complete(p harness.Prompt, stopped func() bool, send func(wire.Event) error) (llm.Done, error) {
	tokens, err := m.tokens(p)
	if err != nil {
		return llm.Done{}, err
	}
	// One place is needed for an answer to begin at all.
	if len(tokens) == 0 || len(tokens) >= m.size {
		return llm.Done{}, fail(wire.KindContext, "the request has %d tokens and the context holds %d: shorten the conversation, or choose a larger context or another model", len(tokens), m.size)
	}
	limit := m.size - len(tokens)
	if p.Max > 0 {
		limit = min(limit, p.Max)
	}
	pick, err := m.picker(p)
	if err != nil {
		return llm.Done{}, err
	}
	defer pick.free()

	start := time.Now()
	cached, err := m.read(tokens, stopped, send)
	if err != nil {
		return llm.Done{}, err
	}
	done := llm.Done{Usage: llm.Usage{Prompt: len(tokens), Cached: cached, PromptNS: time.Since(start).Nanoseconds()}}
	start = time.Now()
	err = m.generate(pick, limit, newCutter(p), stopped, send, &done)
	done.Usage.OutputNS = time.Since(start).Nanoseconds()
	return done, err
}

// generate samples up to limit tokens, sends their text, and sets in done how
// many there were and why they ended.
func (m *model) generate(pick *picker, limit int, cut *cutter, stopped func() bool, send func(wire.Event) error, done *llm.Done) error {
	say := func(text string) error {
		if text == "" {
			return nil
		}
		return send(wire.Event{Text: text})
	}
	for {
		if stopped() {
			return errCancelled
		}
		t := llama.SamplerSample(pick.chain, m.context, -1)
		if llama.VocabIsEOG(m.vocab, t) || t == llama.TokenNull {
			done.Stop = llm.StopEnd
			return say(cut.flush())
		}
		piece, tokens, err := pick.lock(m, t)
		if err != nil {
			return err
		}
		done.Usage.Output++
		text, met := cut.push(piece)
		if err := say(text); err != nil {
			return err
		}
		if met != "" {
			done.Stop, done.StopAt = llm.StopEnd, met
			return nil
		}
		if done.Usage.Output == limit {
			done.Stop = llm.StopLength
			return say(cut.flush())
		}
		if err := m.decode(tokens); err != nil {
			return err
		}
	}
}

// piece returns the bytes of t, which may be part of a character. Control
// tokens are spelled out: some dialects speak with them.
func (m *model) piece(t llama.Token) []byte {
	buf := make([]byte, 64)
	n := llama.TokenToPiece(m.vocab, t, buf, 0, true)
	if n < 0 { // minus the size needed
		buf = make([]byte, -n)
		n = llama.TokenToPiece(m.vocab, t, buf, 0, true)
	}
	return buf[:max(0, n)]
}

// read makes the cache hold exactly tokens and their last one computed, and
// returns how many of them were there already.
func (m *model) read(tokens []llama.Token, stopped func() bool, send func(wire.Event) error) (int, error) {
	keep := 0
	for keep < len(tokens) && keep < len(m.past) && tokens[keep] == m.past[keep] {
		keep++
	}
	// Sampling needs the output of the last token, so it is computed again.
	keep = min(keep, len(tokens)-1)
	if err := m.rewind(keep); err != nil {
		return 0, err
	}
	keep = len(m.past)
	for next := keep; next < len(tokens); next = len(m.past) {
		if err := send(progress("prompt", float64(next)/float64(len(tokens)))); err != nil {
			return 0, err
		}
		if stopped() {
			return 0, errCancelled
		}
		if err := m.decode(tokens[next:min(next+chunk, len(tokens))]); err != nil {
			return 0, err
		}
	}
	return keep, send(progress("prompt", 1))
}

// rewind drops what the cache holds after the first keep tokens, or all of it
// where the model's memory cannot be cut.
func (m *model) rewind(keep int) error {
	if keep >= len(m.past) {
		return nil
	}
	ok := false
	if keep > 0 {
		var err error
		if ok, err = llama.MemorySeqRm(m.memory, 0, llama.Pos(keep), -1); err != nil {
			return err
		}
		// A sliding window may have lost the beginning that is to be kept.
		if first, err := llama.MemorySeqPosMin(m.memory, 0); err != nil || first > 0 {
			ok = false
		}
	}
	if !ok {
		keep = 0
		if err := llama.MemoryClear(m.memory, false); err != nil {
			return err
		}
	}
	m.past = m.past[:keep]
	return nil
}

// decode computes tokens after those in the cache, with output for the last.
func (m *model) decode(tokens []llama.Token) error {
	if err := m.batch.Clear(); err != nil {
		return err
	}
	for i, t := range tokens {
		if err := m.batch.Add(t, llama.Pos(len(m.past)+i), []llama.SeqId{0}, i == len(tokens)-1); err != nil {
			return err
		}
	}
	wall, cpu := time.Now(), cpuTime()
	code, err := llama.Decode(m.context, m.batch)
	m.crew.worked(time.Since(wall), cpuTime()-cpu)
	if code == 0 && err == nil {
		m.past = append(m.past, tokens...)
		return nil
	}
	// A batch that ended early leaves its beginning behind.
	if ok, rerr := llama.MemorySeqRm(m.memory, 0, llama.Pos(len(m.past)), -1); rerr != nil || !ok {
		m.past = m.past[:0]
		err = errors.Join(err, llama.MemoryClear(m.memory, false))
	}
	switch {
	case err != nil:
		return err
	case code == 2: // the abort flag
		return errCancelled
	case code == 1:
		return fail(wire.KindContext, "the context of %d tokens is full: shorten the conversation or choose a larger context", m.size)
	}
	return fmt.Errorf("the inference engine could not compute (code %d)", code)
}
