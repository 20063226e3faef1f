package worker

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"atoll/llm/engine/wire"
	"atoll/llm/harness"

	"github.com/hybridgroup/yzma/pkg/llama"
)

// chunk is how many prompt tokens are computed between two looks at progress
// and cancellation. Larger chunks were not faster on processors.
const chunk = 256

// A model is the loaded model with its context and everything read from it.
type model struct {
	handle   llama.Model
	vocab    llama.Vocab
	context  llama.Context
	memory   llama.Memory
	batch    llama.Batch
	writer   *writer
	defaults sampling
	bos      llama.Token // put before every prompt that lacks it; TokenNull: none
	size     int         // tokens of context
	abort    *abortFlag
	crew     *crew

	// past holds the tokens whose keys and values are in the cache, so that a
	// prompt which begins alike is computed only from where it differs.
	past []llama.Token

	about wire.Loaded
}

// load opens the library and the model that l names.
func load(l wire.Load, s *server, send func(wire.Event) error) (*model, error) {
	bytes, err := checkFile(l.Path)
	if err != nil {
		return nil, err
	}
	if l.Memory > 0 && bytes > l.Memory {
		return nil, fail(wire.KindMemory, "%s takes %s of memory and %s is free: close other programs or choose a smaller model",
			filepath.Base(l.Path), size(bytes), size(l.Memory))
	}
	log := &libraryLog{}
	if err := openLibrary(l.LibDir, log); err != nil {
		return nil, err
	}
	m := &model{abort: &s.abort}
	if m.handle, err = loadFile(l, s.stopped, send); err != nil {
		if s.stopped() {
			return nil, errCancelled
		}
		return nil, explain(l.Path, log.complaints())
	}
	m.vocab = llama.ModelGetVocab(m.handle)
	if err := m.check(filepath.Base(l.Path)); err != nil {
		return nil, err
	}
	shape := shapeOf(m.handle)
	if m.size, err = chooseContext(shape, l.Context, l.Memory); err != nil {
		return nil, err
	}
	if err := m.open(max(1, l.Threads), log); err != nil {
		return nil, err
	}
	m.about = wire.Loaded{
		Context: m.size, ContextTrain: shape.trained,
		Device: device(l.GPULayers, log), Description: llama.ModelDesc(m.handle),
		ChatTemplate: cutTemplate(llama.ModelChatTemplate(m.handle, "")), Parameters: int64(llama.ModelNParams(m.handle)),
	}
	return m, nil
}

// cutTemplate bounds what a model file can have sent to the host.
func cutTemplate(source string) string { return clean(source[:min(len(source), 1<<20)]) }

func loadFile(l wire.Load, stopped func() bool, send func(wire.Event) error) (llama.Model, error) {
	if err := send(progress("load", 0)); err != nil {
		return 0, err
	}
	p := llama.ModelDefaultParams()
	p.NGpuLayers = int32(l.GPULayers)
	var last time.Time
	p.SetProgressCallback(func(done float32, _ uintptr) uint8 {
		if stopped() {
			return 0 // ends loading
		}
		if now := time.Now(); now.Sub(last) > 50*time.Millisecond {
			last = now
			if send(progress("load", float64(done))) != nil {
				return 0
			}
		}
		return 1
	})
	return llama.ModelLoadFromFile(l.Path, p)
}

// check refuses models that load but cannot chat, and reads the template.
func (m *model) check(name string) error {
	if llama.VocabNTokens(m.vocab) == 0 || llama.ModelHasEncoder(m.handle) || !llama.ModelHasDecoder(m.handle) || llama.ModelIsDiffusion(m.handle) {
		return fail(wire.KindModel, "%s is not a model that writes text step by step; choose a chat model", name)
	}
	source := llama.ModelChatTemplate(m.handle, "")
	if source == "" {
		return fail(wire.KindModel, "%s has no chat template, so it was not made for conversations; choose a variant called \"instruct\" or \"chat\"", name)
	}
	text := func(t llama.Token) string {
		if t == llama.TokenNull {
			return ""
		}
		return llama.VocabGetText(m.vocab, t)
	}
	bos := llama.VocabBOS(m.vocab)
	t, err := newTemplate(source, text(bos), text(llama.VocabEOS(m.vocab)))
	if err != nil {
		return fail(wire.KindModel, "%s has a chat template that cannot be used: %v; choose another file of the model", name, err)
	}
	m.bos = llama.TokenNull
	if llama.VocabGetAddBOS(m.vocab) {
		m.bos = bos
	}
	m.writer = newWriter(t, source, m.control())
	m.defaults = defaultsOf(m.handle)
	return nil
}

// control returns the spellings of all tokens that are no text.
func (m *model) control() []string {
	var out []string
	for t := range llama.Token(llama.VocabNTokens(m.vocab)) {
		a := llama.VocabGetAttr(m.vocab, t)
		if a&(llama.TokenAttrControl|llama.TokenAttrUnknown) != 0 || llama.VocabIsEOG(m.vocab, t) {
			out = append(out, llama.VocabGetText(m.vocab, t))
		}
	}
	return out
}

// shapeOf reads what memory depends on. Models with fewer heads in some
// layers, or with a sliding window, need less than these numbers say.
func shapeOf(h llama.Model) shape {
	s := shape{
		weights: int64(llama.ModelSize(h)),
		trained: int(llama.ModelNCtxTrain(h)),
		layers:  int(llama.ModelNLayer(h)),
		kvHeads: int(llama.ModelNHeadKV(h)),
		headDim: int(llama.ModelNEmbd(h)) / max(1, int(llama.ModelNHead(h))),
	}
	arch, _ := llama.ModelMetaValStr(h, "general.architecture")
	if v, ok := llama.ModelMetaValStr(h, arch+".attention.key_length"); ok {
		if n, err := strconv.Atoi(v); err == nil && n > 0 {
			s.headDim = n
		}
	}
	return s
}

// open makes the context.
func (m *model) open(threads int, log *libraryLog) error {
	p := llama.ContextDefaultParams()
	p.NCtx = uint32(m.size)
	p.NBatch, p.NUbatch = chunk, chunk
	p.NThreads, p.NThreadsBatch = int32(threads), int32(threads)
	p.FlashAttentionType = llama.FlashAttentionTypeAuto
	p.NoPerf = 1
	asked := m.abort.install(&p)
	c, err := llama.InitFromModel(m.handle, p)
	if err != nil {
		for _, line := range log.complaints() {
			fmt.Fprintln(os.Stderr, line)
		}
		return fail(wire.KindMemory, "a context of %d tokens cannot be made, most likely for want of memory: choose a smaller context or close other programs", m.size)
	}
	m.context = c
	m.crew = newCrew(threads, func(n int) { llama.SetNThreads(c, int32(n), int32(n)) })
	if m.memory, err = llama.GetMemory(c); err != nil {
		return err
	}
	if n := int(llama.NCtx(c)); n < m.size {
		m.size = n
	}
	m.batch = llama.BatchInit(chunk, 0, 1)
	if !asked {
		llama.SetAbortCallback(c, m.abort.isSet) // once: callbacks are never freed
	}
	return nil
}

func (m *model) loaded() *wire.Loaded { return &m.about }

// tokens writes p and tokenizes it.
func (m *model) tokens(p harness.Prompt) ([]llama.Token, error) {
	pieces, err := m.writer.write(p)
	if err != nil {
		return nil, err
	}
	var out []llama.Token
	for _, piece := range pieces {
		if len(piece) > math.MaxInt32/4 {
			return nil, fail(wire.KindContext, "the request of %s is longer than any context", size(int64(len(piece))))
		}
		out = append(out, llama.Tokenize(m.vocab, piece, false, true)...)
	}
	if m.bos != llama.TokenNull && (len(out) == 0 || out[0] != m.bos) {
		out = append([]llama.Token{m.bos}, out...)
	}
	return out, nil
}
