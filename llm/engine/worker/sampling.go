package worker

import (
	"crypto/rand"
	"encoding/binary"
	"strconv"

	"atoll/llm"
	"atoll/llm/engine/wire"
	"atoll/llm/harness"

	"github.com/hybridgroup/yzma/pkg/llama"
)

// sampling holds every decoding parameter, with llama.cpp's meanings.
type sampling struct {
	temperature, topP, minP float32
	topK                    int32
}

// usual are llama.cpp's defaults, for models whose file gives none.
var usual = sampling{temperature: 0.8, topP: 0.95, minP: 0.05, topK: 40}

// defaultsOf reads the parameters that the model's makers recommend, where
// its file holds them (keys general.sampling.* of the GGUF format).
func defaultsOf(h llama.Model) sampling {
	s := usual
	number := func(key string, to *float32) {
		if v, ok := llama.ModelMetaValStr(h, "general.sampling."+key); ok {
			if f, err := strconv.ParseFloat(v, 32); err == nil {
				*to = float32(f)
			}
		}
	}
	topK := float32(s.topK)
	number("temp", &s.temperature)
	number("top_p", &s.topP)
	number("min_p", &s.minP)
	number("top_k", &topK)
	s.topK = int32(topK)
	return s
}

// with returns s with what the request sets.
func (s sampling) with(r llm.Sampling) sampling {
	if r.Temperature != nil {
		s.temperature = float32(*r.Temperature)
	}
	if r.TopP != nil {
		s.topP = float32(*r.TopP)
	}
	if r.TopK != nil {
		s.topK = int32(*r.TopK)
	}
	if r.MinP != nil {
		s.minP = float32(*r.MinP)
	}
	return s
}

// sampler returns the chain for p, with its grammar or without; the caller
// frees it.
func (m *model) sampler(p harness.Prompt, locked bool) (llama.Sampler, error) {
	s := m.defaults.with(p.Sampling)
	chain := llama.SamplerChainInit(llama.SamplerChainDefaultParams())
	if p.Grammar != "" && locked {
		// First, so that no other step can throw away all that it allows.
		g := llama.SamplerInitGrammar(m.vocab, clean(p.Grammar), "root")
		if g == 0 {
			llama.SamplerFree(chain)
			return 0, fail(wire.KindRequest, "the grammar for the answer is not valid")
		}
		llama.SamplerChainAdd(chain, g)
	}
	if s.temperature <= 0 {
		llama.SamplerChainAdd(chain, llama.SamplerInitGreedy())
		return chain, nil
	}
	if s.topK > 0 {
		llama.SamplerChainAdd(chain, llama.SamplerInitTopK(s.topK))
	}
	if s.topP < 1 {
		llama.SamplerChainAdd(chain, llama.SamplerInitTopP(s.topP, 1))
	}
	if s.minP > 0 {
		llama.SamplerChainAdd(chain, llama.SamplerInitMinP(s.minP, 1))
	}
	llama.SamplerChainAdd(chain, llama.SamplerInitTemp(s.temperature))
	llama.SamplerChainAdd(chain, llama.SamplerInitDist(seed(p.Sampling.Seed)))
	return chain, nil
}

// seed returns the seed asked for, or a random one.
func seed(asked *uint32) uint32 {
	if asked != nil {
		return *asked
	}
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails, by its documentation
	return binary.LittleEndian.Uint32(b[:])
}
