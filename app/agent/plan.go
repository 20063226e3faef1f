package agent

import (
	"encoding/json"
	"errors"
	"regexp"
	"strings"

	"atoll/app/approval"
	"atoll/llm"
	"atoll/llm/harness"
	"atoll/storage"
)

// plan decides what the next model call must do, from what happened so far in
// the turn. Small models need to be held: first code, then an answer; never
// the same failing program twice; no number that nothing printed.
type plan struct {
	needCode bool // the next answer must be code
	ran      int  // programs that ran without an error and showed something
	failed   int
	same     map[string]int    // times an error was met
	codes    map[string]string // program → how it ended
	reprompt string            // said to the model instead of waiting for it to notice
	malforms int
	mayRun   bool // the chat's mode lets code run
	rejected int
	warm     bool // sample with some heat: greedy decoding repeats itself
	// lastOutput is what the last successful program showed, as the model saw it.
	lastOutput string
}

func newPlan(branch []storage.Entry, mode string) plan {
	p := plan{same: map[string]int{}, codes: map[string]string{}}
	if len(branch) == 0 {
		return p
	}
	last := branch[len(branch)-1]
	var user storage.User
	_ = json.Unmarshal(last.Body, &user) // an unreadable request asks for nothing
	files := false
	for _, e := range branch {
		var u storage.User
		if e.Kind == storage.UserSaid && json.Unmarshal(e.Body, &u) == nil {
			files = files || len(u.Files) > 0
		}
	}
	p.mayRun = mode != approval.ModeNever
	p.needCode = p.mayRun && wantsCode(user.Text, files, len(user.Files) > 0)
	return p
}

var (
	// talk: what people say that needs no computing. English, Russian, Chinese.
	talk = regexp.MustCompile(`(?i)^\s*(hi|hello|hey|thanks|thank you|ok|okay|great|explain|why|what does|what do you mean|who are you|what can you|привет|здравствуй|спасибо|объясни|почему|что значит|кто ты|что ты умеешь|你好|谢谢|解释|为什么|什么意思|你是谁|你能)`)
	// work: what asks for computing even without a file.
	work = regexp.MustCompile(`(?i)\d|\b(calculate|compute|plot|draw|chart|graph|count|sum|average|mean|median|solve|simulate|convert|generate|sort|random|prime|factorial|fibonacci|how many|how much|python|code|csv|table)\b|посчитай|вычисли|сколько|построй|нарисуй|график|реши|сумм|средн|计算|多少|画|图|求|平均|总和|统计|排序|代码`)
)

// wantsCode reports whether a request is to be answered by running code. With
// a new file it always is; later in such a chat unless it is plainly talk;
// without files only when it asks for computing.
func wantsCode(text string, files, newFiles bool) bool {
	switch {
	case newFiles:
		return true
	case talk.MatchString(text):
		return false
	case files:
		return true
	default:
		return work.MatchString(text)
	}
}

// sampling is greedy until the model repeats itself.
func (p *plan) sampling() llm.Sampling {
	temp := 0.0
	if p.warm {
		temp = 0.7
	}
	seed := uint32(1 + p.failed + p.rejected)
	return llm.Sampling{Temperature: &temp, Seed: &seed}
}

// malformed notes an answer that could not be read; false: give up. The model
// is told what was wrong where its dialect knows that.
func (p *plan) malformed(err error) bool {
	p.malforms++
	p.warm = true
	p.reprompt = "Write one short, complete ```python block."
	if m := (*harness.Malformed)(nil); errors.As(err, &m) {
		p.reprompt = m.Ask()
	}
	return p.malforms <= 2
}

// ranAlready reports whether a program ended well before in this turn.
func (p *plan) ranAlready(code string) bool { return p.codes[strings.TrimSpace(code)] == "ok" }

// repeated notes that the model wrote a program again instead of answering.
func (p *plan) repeated() {
	p.rejected++
	p.needCode, p.warm = false, p.rejected > 1
	p.reprompt = "The code was run already. Answer the question now in one or two sentences, without code, with the values of the output above."
}

func (p *plan) denied(note string) {
	p.needCode = false
	p.reprompt = "The user did not allow this code to run."
	if note != "" {
		p.reprompt += " They said: " + note
		p.needCode = true
	}
}

// result notes how a program ended; gaveUp: the same error came too often.
func (p *plan) result(c storage.Call, res storage.Result) (gaveUp bool) {
	code := strings.TrimSpace(c.Code)
	seen := p.codes[code]
	p.reprompt = ""
	if res.Status == "ok" && showed(res) {
		p.codes[code] = "ok"
		p.ran++
		p.needCode, p.warm = false, false
		p.lastOutput = outputText(res)
		return false
	}
	p.codes[code] = "failed"
	p.failed++
	p.needCode = true
	key := errorKey(res)
	p.same[key]++
	if seen != "" || p.same[key] > 1 { // greedy decoding would write it a third time
		p.warm = true
	}
	return p.same[key] >= maxSame
}

// accept decides whether prose can stand as the answer: rejected says why not,
// and the plan then says so to the model. After two tries it stands, with the
// numbers marked that nothing shows.
func (p *plan) accept(text string, branch []storage.Entry) (rejected string, unshown []string) {
	if strings.TrimSpace(text) == "" {
		p.rejected++
		p.reprompt = "Answer the question in one or two sentences."
		return "empty", nil
	}
	if repeats(text, branch) && p.rejected < 2 {
		p.rejected++
		p.reprompt = "That repeats the question. Give the answer: the values of the output, in one sentence."
		return "it repeats the question", nil
	}
	bad := unsupported(text, sources(branch))
	if len(bad) == 0 {
		return "", nil
	}
	p.rejected++
	if p.rejected > 2 {
		return "", bad
	}
	if p.ran == 0 && p.mayRun && !p.needCode {
		p.needCode = true
		p.reprompt = "Compute this with code."
		return "numbers that nothing computed: " + strings.Join(bad, ", "), bad
	}
	p.reprompt = "These numbers are not in the output: " + strings.Join(bad, ", ") + ". Answer again with the exact values of the output."
	return "numbers that are not in the output: " + strings.Join(bad, ", "), bad
}

// repeats reports whether an answer only says the question again.
func repeats(text string, branch []storage.Entry) bool {
	letters := func(s string) string {
		return strings.Join(word.FindAllString(strings.ToLower(s), -1), " ")
	}
	for _, e := range branch {
		var u storage.User
		if e.Kind == storage.UserSaid && json.Unmarshal(e.Body, &u) == nil && letters(u.Text) == letters(text) {
			return true
		}
	}
	return false
}

// showed reports whether a program gave anything to answer from.
func showed(res storage.Result) bool {
	if len(res.Files) > 0 {
		return true
	}
	for _, o := range res.Outputs {
		if o.Stream != "stderr" && strings.TrimSpace(o.Text+o.Plain+o.Blob) != "" {
			return true
		}
	}
	return false
}

// errorKey names an error so that the same one is known again: without the
// numbers and positions that change from run to run.
func errorKey(res storage.Result) string {
	if res.Error == nil {
		return res.Status
	}
	return res.Error.Name + ": " + digits.ReplaceAllString(res.Error.Message, "#")
}

var digits = regexp.MustCompile(`\d+`)

func oneLine(res storage.Result) string {
	if res.Error != nil {
		return res.Error.Name + ": " + strings.Join(strings.Fields(res.Error.Message), " ")
	}
	if res.Note != "" {
		return res.Note
	}
	return "the code printed nothing"
}
