package kernel

import (
	"slices"
	"strings"
	"unicode"
)

// facts is what the interpreter had when a run failed, as far as it helps to
// say what would have been right.
type facts struct {
	Frames  []frame  `json:"frames"` // data frames
	Dicts   []dict   `json:"dicts"`  // with a KeyError
	Names   []string `json:"names"`  // variables
	Files   []string `json:"files"`  // of the working folder, with an OSError
	File    string   `json:"file"`   // the one that was asked for
	Errno   int      `json:"errno"`
	Name    string   `json:"name"`    // of the attribute, variable or module that is missing
	Attrs   []string `json:"attrs"`   // attributes of the object that lacks one
	Modules []string `json:"modules"` // common libraries that can be imported
	Memory  int64    `json:"-"`       // the limit in bytes, as the host knows it; 0: none
}

type frame struct {
	Name    string   `json:"name"`
	Columns []column `json:"columns"`
	Shape   [2]int   `json:"shape"`
}

type column struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Example string `json:"example"`
	Text    bool   `json:"text"` // the name is a string
}

type dict struct {
	Name string   `json:"name"`
	Keys []string `json:"keys"`
}

// bound cuts what a hostile process may have sent.
func (f *facts) bound() {
	f.Frames = f.Frames[:min(len(f.Frames), 6)]
	for i := range f.Frames {
		fr := &f.Frames[i]
		fr.Name = clip(fr.Name, 80)
		fr.Columns = fr.Columns[:min(len(fr.Columns), 60)]
		for j := range fr.Columns {
			c := &fr.Columns[j]
			c.Name, c.Type, c.Example = clip(c.Name, 200), clip(c.Type, 60), clip(c.Example, 60)
		}
	}
	f.Dicts = f.Dicts[:min(len(f.Dicts), 6)]
	for i := range f.Dicts {
		f.Dicts[i].Name = clip(f.Dicts[i].Name, 80)
		f.Dicts[i].Keys = short(f.Dicts[i].Keys, 60)
	}
	f.Names, f.Files = short(f.Names, 200), short(f.Files, 60)
	f.Attrs, f.Modules = short(f.Attrs, 600), short(f.Modules, 60)
	f.File, f.Name = clip(f.File, 300), clip(f.Name, 200)
}

func short(list []string, n int) []string {
	list = slices.Clone(list[:min(len(list), n)])
	for i := range list {
		list[i] = clip(list[i], 200)
	}
	return list
}

// textual reports whether values of the column are text to the library.
func (c column) textual() bool {
	t := strings.ToLower(c.Type)
	return t == "object" || t == "str" || strings.HasPrefix(t, "string") || t == "utf8"
}

func (f frame) names() []string {
	var out []string
	for _, c := range f.Columns {
		out = append(out, c.Name)
	}
	return out
}

// list says the columns the way Python would.
func (f frame) list() string {
	return "Columns of " + f.Name + ": " + quoteList(f.names(), 40, func(i int) bool { return f.Columns[i].Text })
}

// quoteList writes names as a Python list; those that are no strings stay bare.
func quoteList(names []string, most int, isText func(int) bool) string {
	var b strings.Builder
	b.WriteByte('[')
	for i, n := range names {
		if i == most {
			b.WriteString(", ...")
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		if isText == nil || isText(i) {
			b.WriteString(quote(n))
		} else {
			b.WriteString(n)
		}
	}
	b.WriteByte(']')
	return b.String()
}

func quote(s string) string {
	s = strings.NewReplacer("\\", `\\`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(s)
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		return `"` + s + `"`
	}
	return "'" + strings.ReplaceAll(s, "'", `\'`) + "'"
}

// fold makes names comparable: case, spaces and punctuation do not count.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// nearest returns the name in names that is most like want, or "".
func nearest(want string, names []string) string {
	best, most := "", 0.62
	w := fold(want)
	if w == "" {
		return ""
	}
	for _, n := range names {
		f := fold(n)
		if n == want || f == "" {
			continue
		}
		s := similarity(w, f)
		// "price" for "Unit Price": a whole word of the name.
		if s < 0.8 && len([]rune(w)) >= 3 && (hasWord(n, w) || hasWord(want, f)) {
			s = 0.8
		}
		if s > most {
			best, most = n, s
		}
	}
	return best
}

func hasWord(name, word string) bool {
	return slices.Contains(strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}), word)
}

// similarity is 1 for equal strings and 0 for strings that share nothing: one
// less the edit distance (with swaps of neighbours) over the longer length.
func similarity(a, b string) float64 {
	x, y := []rune(a), []rune(b)
	x, y = x[:min(len(x), 60)], y[:min(len(y), 60)]
	if len(x) == 0 && len(y) == 0 {
		return 1
	}
	before, prev, cur := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(x); i++ {
		cur[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				cur[j] = min(cur[j], before[j-2]+1)
			}
		}
		before, prev, cur = prev, cur, before
	}
	return 1 - float64(prev[len(y)])/float64(max(len(x), len(y)))
}
