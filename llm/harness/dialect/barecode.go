package dialect

import (
	"regexp"
	"strings"

	"atoll/llm/harness/block"
)

// Lines of Python that no sentence looks like: those that do something, and
// those that only begin a block or end a bracket.
var (
	acting   = regexp.MustCompile(`^(?:import\s+\w[\w., ]*|from\s+[\w.]+\s+import\s.*|[A-Za-z_]\w*(?:\.\w+|\[[^\]]*\])*\s*[-+*/|&]?=[^=].*)$`)
	framing  = regexp.MustCompile(`^(?:(?:for\s+\w[\w, ]*\s+in\s.*|(?:if|while|elif|with|except|def|class)\s.*|try|else|except|finally):\s*(?:#.*)?$|@\w|#|"""|'''|[)\]}])`)
	calling  = regexp.MustCompile(`^[A-Za-z_]\w*(?:\.\w+|\[[^\]]*\])*\(`)
	chaining = regexp.MustCompile(`^(?:\.\w+|\[[^\]]*\])*\(`)
	picking  = regexp.MustCompile(`^(?:\.\w+|\[[^\]]*\])*\s*(?:[#;].*)?$`)
)

// looksLikePython reports whether every line of s that stands at its margin
// can be nothing else, and one of them does something.
func looksLikePython(s string) bool {
	p := block.NewProgram("python", block.Mark{})
	acts := false
	for i, line := range strings.Split(strings.TrimSpace(s), "\n") {
		inside := p.InString()
		p.Add(line, "\n")
		bare := strings.TrimRight(line, " \t\r")
		if inside || bare == "" || i > 0 && (bare[0] == ' ' || bare[0] == '\t') {
			continue
		}
		does := acting.MatchString(bare) || calls(bare)
		if !does && !framing.MatchString(bare) {
			return false
		}
		acts = acts || does
	}
	return acts && !p.InString()
}

// calls reports whether a line is a call, or a chain of them, and nothing
// else; or begins one that goes on in the next line.
func calls(line string) bool {
	at := calling.FindString(line)
	for at != "" {
		line = line[len(at):]
		n := closing(line)
		if n < 0 {
			return line == "" || strings.ContainsAny(line[len(line)-1:], "(,[{\"'\\")
		}
		line = line[n+1:]
		if picking.MatchString(line) {
			return true
		}
		at = chaining.FindString(line)
	}
	return false
}

// closing returns where the bracket that was opened before s is closed, -1 if
// it is not.
func closing(s string) int {
	depth, quote := 1, byte(0)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}
