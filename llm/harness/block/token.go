package block

import "strings"

// Tokens are the spellings that [Trim] knows.
func Tokens() []string { return tokens[:] }

// tokens are marks of chat templates that a model writes as text when its
// turn is over: of ChatML, Llama, Phi, Zephyr, Gemma, Mistral, DeepSeek,
// Granite and GPT. Calls are wrapped by the last two.
var tokens = [...]string{
	"<|im_end|>", "<|im_start|>", "<|im_start|>assistant", "<|im_start|>user", "<|endoftext|>", "<|end_of_text|>", "<|begin_of_text|>",
	"<|eot_id|>", "<|eom_id|>", "<|start_header_id|>", "<|start_header_id|>assistant", "<|start_header_id|>user", "<|end_header_id|>", "<|python_tag|>",
	"<|end|>", "<|start|>", "<|return|>", "<|call|>", "<|assistant|>", "<|user|>", "<|system|>", "<|eos|>",
	"<|eot|>", "<|end_of_role|>", "<|start_of_role|>", "<|endofturn|>", "<|end_of_turn|>", "<|EOT|>",
	"<end_of_turn>", "<start_of_turn>", "<start_of_turn>model", "<start_of_turn>user", "<eos>", "<bos>", "<s>", "</s>", "[/INST]",
	"<｜end▁of▁sentence｜>", "<｜User｜>", "<｜Assistant｜>",
	"<tool_call>", "</tool_call>",
}

// Trim returns line without the tokens at its end. A line that ends in none
// is returned as it is, space included.
func Trim(line string) string {
	return line[:Debris(line, false, false)]
}

// Debris returns where the tokens, and one or two back-ticks if ticks is set, at the
// end of line begin; len(line) if there are none. With partial set, the start
// of one counts too.
func Debris(line string, ticks, partial bool) int {
	at, rest := len(line), line
	if partial {
		for _, t := range tokens {
			for n := min(len(t)-1, len(line)); n > len(line)-at; n-- {
				if strings.HasSuffix(line, t[:n]) {
					at = len(line) - n
				}
			}
		}
		rest = line[:at]
	}
	for {
		rest = strings.TrimRight(rest, " \t\r")
		cut := rest
		for _, t := range tokens {
			cut = strings.TrimSuffix(cut, t)
		}
		if bare := strings.TrimRight(cut, "`"); ticks && len(cut)-len(bare) < 3 {
			cut = bare
		}
		if cut == rest {
			return at
		}
		rest, at = cut, len(cut)
	}
}
