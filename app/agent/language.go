package agent

import (
	"regexp"
	"strings"
	"unicode"
)

// language returns the English name of a question's language, so that the
// model can be asked to answer in it: small models fall back to English after
// an English output. It is empty for English and for what is not recognised.
func language(question string) string {
	scripts := map[*unicode.RangeTable]int{}
	for _, r := range question {
		for _, s := range []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Cyrillic, unicode.Latin} {
			if unicode.Is(s, r) {
				scripts[s]++
			}
		}
	}
	latin := scripts[unicode.Latin]
	switch {
	case scripts[unicode.Hiragana]+scripts[unicode.Katakana] > 0:
		return "Japanese"
	case scripts[unicode.Hangul] > 0:
		return "Korean"
	case 3*scripts[unicode.Han] > latin: // a sign says as much as some letters
		return "Chinese"
	case scripts[unicode.Cyrillic] > latin/2:
		if strings.ContainsAny(strings.ToLower(question), "іїєґ") {
			return "Ukrainian"
		}
		return "Russian"
	}
	best, most := "", 1 // one word in common is chance
	words := word.FindAllString(strings.ToLower(question), -1)
	for _, l := range latinLanguages {
		n := 0
		for _, w := range words {
			if strings.Contains(l.words, " "+w+" ") {
				n++
			}
		}
		if n > most {
			best, most = l.name, n
		}
	}
	return best
}

var word = regexp.MustCompile(`\p{L}+`)

// latinLanguages are told apart by their commonest words. English is among
// them so that it can win.
var latinLanguages = []struct{ name, words string }{
	{"", " the of and in is are what which how many much for to a by with show me each per from has have total "},
	{"German", " der die das und ist sind in welche welcher welches wie viel viele für von mit pro zeige mir jede jeder den dem hat haben ein eine nach "},
	{"French", " le la les et est sont dans quel quelle quels quelles combien pour de des du avec par montre moi chaque un une a ont "},
	{"Spanish", " el la los las y es son en qué cuál cuáles cuánto cuántos cuánta cuántas para de del con por muestra cada un una tiene tienen "},
	{"Portuguese", " o a os as e é são em qual quais quanto quantos quanta quantas para de do da com por mostra cada um uma tem têm "},
	{"Italian", " il lo la i gli le e è sono in quale quali quanto quanti quanta quante per di del della con mostra ogni un una ha hanno "},
}
