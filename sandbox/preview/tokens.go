package preview

import (
	"unicode"
	"unicode/utf8"
)

// Tokens estimates how many tokens a language model makes of s. It counts
// rather too many: the tokenizers differ.
func Tokens(s string) int {
	n, letters := 0, 0
	for _, r := range s {
		if r < utf8.RuneSelf && unicode.IsLetter(r) {
			if letters%6 == 0 { // a word is a token, a long one is several
				n++
			}
			letters++
			continue
		}
		letters = 0
		if r != ' ' { // a single space belongs to the word behind it
			n++
		}
	}
	return n
}
