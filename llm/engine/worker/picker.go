package worker

import (
	"atoll/llm/harness"

	"github.com/hybridgroup/yzma/pkg/llama"
)

// A picker samples tokens, under a grammar from where that begins.
//
// The library has lazy grammars of its own, which are fed with the text that
// triggered them: where its last token holds more than the grammar allows they
// abort the process. Here a grammar only ever sees tokens that it let through
// itself.
type picker struct {
	chain   llama.Sampler
	prompt  harness.Prompt
	trigger *harness.Trigger // nil: the grammar, if any, counts from here on
}

// picker returns a picker for p; the caller frees it.
func (m *model) picker(p harness.Prompt) (*picker, error) {
	k := &picker{prompt: p, trigger: p.Trigger()}
	if k.trigger != nil { // an invalid grammar is an error at once, not in the middle of an answer
		chain, err := m.sampler(p, true)
		if err != nil {
			return nil, err
		}
		llama.SamplerFree(chain)
	}
	var err error
	k.chain, err = m.sampler(p, k.trigger == nil)
	return k, err
}

func (k *picker) free() { llama.SamplerFree(k.chain) }

// lock begins the grammar if t completes the text it waits for. It returns the
// bytes of the answer that t stands for and the tokens to compute for them:
// what t says behind that text is left out, for the grammar is to say it.
func (k *picker) lock(m *model, t llama.Token) (piece []byte, tokens []llama.Token, err error) {
	piece = m.piece(t)
	tokens = []llama.Token{t}
	if k.trigger == nil {
		return piece, tokens, nil
	}
	over, met := k.trigger.Push(string(piece))
	if !met {
		return piece, tokens, nil
	}
	k.trigger = nil
	chain, err := m.sampler(k.prompt, true)
	if err != nil {
		return nil, nil, err
	}
	llama.SamplerFree(k.chain)
	k.chain = chain
	if over == 0 {
		return piece, tokens, nil
	}
	piece = piece[:len(piece)-over]
	return piece, llama.Tokenize(m.vocab, string(piece), false, true), nil
}
