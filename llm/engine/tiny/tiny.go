// Package tiny writes a model of half a megabyte with random weights, so that
// tests can drive the real inference engine within a second and without a
// download. It talks nonsense, and always the same.
package tiny

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
)

// Template is the chat template of the model: ChatML.
const Template = "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\\n' + m['content'] + '<|im_end|>' + '\\n' }}{% endfor %}" +
	"{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"

// Context is the number of tokens the model says it was trained for.
const Context = 2048

// Sizes of the model: two layers of the llama architecture, four heads of
// which two share keys and values, one token per byte.
const (
	embed   = 64
	hidden  = 192
	layers  = 2
	heads   = 4
	kvHeads = 2
)

// Types of values in the metadata of a GGUF file, of tokens, and the only type
// of tensor used here; see ggml's docs/gguf.md.
const (
	typeUint32  = 4
	typeInt32   = 5
	typeFloat32 = 6
	typeBool    = 7
	typeString  = 8
	typeArray   = 9

	tokenNormal  = 1
	tokenUnknown = 2
	tokenControl = 3
	tokenByte    = 6

	tensorF32 = 0
	alignment = 32
)

// Write writes the model to path.
func Write(path string) error {
	return os.WriteFile(path, Bytes(), 0o644)
}

// Bytes returns the model file. Tests may damage it: the first four bytes are
// the magic, the key general.architecture holds "llama".
func Bytes() []byte { return WithTemplate(Template) }

// WithTemplate returns the model file with another chat template.
func WithTemplate(template string) []byte {
	tokens, types := vocabulary()
	w := &file{}
	w.text("general.architecture", "llama")
	w.text("general.name", "tiny test model")
	w.number("llama.context_length", Context)
	w.number("llama.embedding_length", embed)
	w.number("llama.block_count", layers)
	w.number("llama.feed_forward_length", hidden)
	w.number("llama.attention.head_count", heads)
	w.number("llama.attention.head_count_kv", kvHeads)
	w.number("llama.rope.dimension_count", embed/heads)
	w.number("llama.vocab_size", uint32(len(tokens)))
	w.key("llama.attention.layer_norm_rms_epsilon", typeFloat32)
	w.put(float32(1e-5))
	w.text("tokenizer.ggml.model", "llama")
	w.text("tokenizer.ggml.pre", "default")
	w.array("tokenizer.ggml.tokens", typeString, len(tokens))
	for _, t := range tokens {
		w.str(t)
	}
	w.array("tokenizer.ggml.scores", typeFloat32, len(tokens))
	w.put(make([]float32, len(tokens)))
	w.array("tokenizer.ggml.token_type", typeInt32, len(tokens))
	w.put(types)
	w.number("tokenizer.ggml.unknown_token_id", 0)
	w.number("tokenizer.ggml.bos_token_id", 1)
	w.number("tokenizer.ggml.eos_token_id", uint32(indexOf(tokens, "<|im_end|>")))
	w.flag("tokenizer.ggml.add_bos_token", false)
	w.flag("tokenizer.ggml.add_space_prefix", false)
	w.text("tokenizer.chat_template", template)
	weights(w, len(tokens))
	return w.bytes()
}

// vocabulary returns a token for each byte, and the control tokens.
func vocabulary() (tokens []string, types []int32) {
	add := func(s string, t int32) { tokens, types = append(tokens, s), append(types, t) }
	add("<unk>", tokenUnknown)
	add("<s>", tokenControl)
	add("</s>", tokenControl)
	for b := range 256 {
		add(fmt.Sprintf("<0x%02X>", b), tokenByte)
	}
	add("<|im_start|>", tokenControl)
	add("<|im_end|>", tokenControl)
	add("▁", tokenNormal)
	return tokens, types
}

func indexOf(list []string, s string) int {
	for i, v := range list {
		if v == s {
			return i
		}
	}
	return -1
}

// firstByte is the token of byte 0.
const firstByte = 3

func weights(w *file, vocab int) {
	r := rand.New(rand.NewPCG(1, 2))
	random := func(n int, scale float64) []float32 {
		out := make([]float32, n)
		for i := range out {
			out[i] = float32(r.NormFloat64() * scale)
		}
		return out
	}
	ones := func(n int) []float32 {
		out := make([]float32, n)
		for i := range out {
			out[i] = 1
		}
		return out
	}
	// Only printable characters get output weights, so that the nonsense is
	// text: the rest stays at an output of zero, which the best ones exceed. The
	// space has two tokens and is left out too, so that text which is tokenized
	// again gives the tokens it was made of.
	out := random(vocab*embed, 0.6)
	for t := range vocab {
		if t < firstByte+'!' || t > firstByte+'~' {
			clear(out[t*embed : (t+1)*embed])
		}
	}
	w.tensor("token_embd.weight", random(vocab*embed, 0.5), embed, vocab)
	w.tensor("output_norm.weight", ones(embed), embed)
	w.tensor("output.weight", out, embed, vocab)
	const kv = kvHeads * embed / heads
	for i := range layers {
		name := func(s string) string { return fmt.Sprintf("blk.%d.%s.weight", i, s) }
		w.tensor(name("attn_norm"), ones(embed), embed)
		w.tensor(name("ffn_norm"), ones(embed), embed)
		w.tensor(name("attn_q"), random(embed*embed, 0.2), embed, embed)
		w.tensor(name("attn_k"), random(embed*kv, 0.2), embed, kv)
		w.tensor(name("attn_v"), random(embed*kv, 0.2), embed, kv)
		w.tensor(name("attn_output"), random(embed*embed, 0.2), embed, embed)
		w.tensor(name("ffn_gate"), random(embed*hidden, 0.2), embed, hidden)
		w.tensor(name("ffn_up"), random(embed*hidden, 0.2), embed, hidden)
		w.tensor(name("ffn_down"), random(embed*hidden, 0.2), hidden, embed)
	}
}

// A file collects the three sections of a GGUF file.
type file struct {
	meta, infos, data bytes.Buffer
	keys, tensors     uint64
}

func (f *file) put(v any) {
	// A bytes.Buffer and fixed-size values: this cannot fail.
	_ = binary.Write(&f.meta, binary.LittleEndian, v)
}

func (f *file) str(s string) {
	f.put(uint64(len(s)))
	f.meta.WriteString(s)
}

func (f *file) key(name string, kind uint32) {
	f.keys++
	f.str(name)
	f.put(kind)
}

func (f *file) text(name, v string) {
	f.key(name, typeString)
	f.str(v)
}

func (f *file) number(name string, v uint32) {
	f.key(name, typeUint32)
	f.put(v)
}

func (f *file) flag(name string, v bool) {
	f.key(name, typeBool)
	f.put(v)
}

func (f *file) array(name string, kind uint32, n int) {
	f.key(name, typeArray)
	f.put(kind)
	f.put(uint64(n))
}

// tensor adds values with the shape dims, innermost first.
func (f *file) tensor(name string, values []float32, dims ...int) {
	f.tensors++
	write := func(v any) { _ = binary.Write(&f.infos, binary.LittleEndian, v) }
	write(uint64(len(name)))
	f.infos.WriteString(name)
	write(uint32(len(dims)))
	for _, d := range dims {
		write(uint64(d))
	}
	write(uint32(tensorF32))
	write(uint64(f.data.Len()))
	_ = binary.Write(&f.data, binary.LittleEndian, values)
	pad(&f.data)
}

func (f *file) bytes() []byte {
	var out bytes.Buffer
	out.WriteString("GGUF")
	for _, v := range []any{uint32(3), f.tensors, f.keys} {
		_ = binary.Write(&out, binary.LittleEndian, v)
	}
	out.Write(f.meta.Bytes())
	out.Write(f.infos.Bytes())
	pad(&out)
	out.Write(f.data.Bytes())
	return out.Bytes()
}

func pad(b *bytes.Buffer) {
	if n := b.Len() % alignment; n > 0 {
		b.Write(make([]byte, alignment-n))
	}
}
