package sandbox

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
)

// seatbeltOrder is what a profile for macOS is made of. All paths are absolute
// and free of symbolic links (/private/var, not /var), because Seatbelt
// compares what the kernel has resolved.
type seatbeltOrder struct {
	Program   string
	Read      []string
	Write     []string
	Temp      string   // the program's own folder for temporary files
	Protected []string // stay read-only inside Write, see [Protected]
	Links     []string // other names of what is allowed, which lead there
	Network   Network
	GPU       bool
}

// seatbeltProfile is a profile and its parameters. A path is never part of the
// text: a quote in the name of a folder would become a rule.
type seatbeltProfile struct {
	Text   string
	Params []string // KEY=VALUE, each an argument of -D
}

// arguments returns the command line of sandbox-exec before the program's own.
// The text is an argument and no file, so that nothing is left lying about and
// nobody can change it on the way.
func (p seatbeltProfile) arguments() []string {
	args := []string{"-p", p.Text}
	for _, d := range p.Params {
		args = append(args, "-D", d)
	}
	return args
}

// Names that a program of the host runs or obeys later, wherever they are made
// in a writable tree. They are spelled in lower case; the rules match any case,
// because the disks of a Mac usually do.
var (
	runsLaterNames = []string{
		".bash_profile", ".bashrc", ".envrc", ".gitattributes", ".gitconfig", ".gitmodules", ".idea", ".profile",
		".vscode", ".zprofile", ".zshenv", ".zshrc", "sitecustomize.py", "usercustomize.py",
	}
	runsLaterInGit = []string{"config", "config.worktree", "hooks"}
)

// seatbelt writes the profile of an order. It returns a refusal where Seatbelt
// cannot express the policy.
func seatbelt(o seatbeltOrder) (seatbeltProfile, error) {
	if err := seatbeltNetwork(o.Network.Mode); err != nil {
		return seatbeltProfile{}, err
	}
	w := seatbeltWriter{}
	for _, p := range slices.Concat([]string{o.Program, o.Temp}, o.Read, o.Write, o.Protected, o.Links) {
		if !path.IsAbs(p) || path.Clean(p) != p || strings.ContainsRune(p, 0) {
			return seatbeltProfile{}, fmt.Errorf("%w: %q is not an absolute, clean path", ErrPolicy, p)
		}
	}
	w.text.WriteString(seatbeltBase)
	w.rule("(allow file-read* file-map-executable process-exec* (subpath %s))", w.param("PROGRAM", o.Program))
	for _, a := range ancestors(o) {
		w.rule("(allow file-read-metadata (literal %s))", w.param("ANCESTOR", a))
	}
	for _, l := range o.Links {
		w.rule("(allow file-read-metadata (literal %s))", w.param("LINK", l))
	}
	w.trees(o)
	for _, p := range o.Protected {
		w.rule("(deny file-write* (subpath %s))", w.param("PROTECTED", p))
	}
	for _, p := range pinned(o) {
		w.rule("(deny file-write-unlink (literal %s))", w.param("PINNED", p))
	}
	w.rule("(deny file-write-setugid)")
	if o.GPU {
		w.text.WriteString(seatbeltGPU)
	}
	return seatbeltProfile{Text: w.text.String(), Params: w.params}, nil
}

type seatbeltWriter struct {
	text   strings.Builder
	params []string
	count  map[string]int
}

func (w *seatbeltWriter) rule(format string, args ...any) { fmt.Fprintf(&w.text, format+"\n", args...) }

// param adds a parameter and returns the expression for its value.
func (w *seatbeltWriter) param(kind, value string) string {
	if w.count == nil {
		w.count = map[string]int{}
	}
	key := fmt.Sprintf("%s_%d", kind, w.count[kind])
	w.count[kind]++
	w.params = append(w.params, key+"="+value)
	return fmt.Sprintf("(param %q)", key)
}

// trees writes the rules of the trees from the outside in, as the last rule
// that matches counts: a readable tree inside a writable one is read-only.
func (w *seatbeltWriter) trees(o seatbeltOrder) {
	type tree struct {
		path  string
		write bool
	}
	var all []tree
	for _, p := range o.Read {
		if !slices.Contains(o.Write, p) {
			all = append(all, tree{p, false})
		}
	}
	for _, p := range append([]string{o.Temp}, o.Write...) {
		all = append(all, tree{p, true})
	}
	slices.SortStableFunc(all, func(a, b tree) int { return len(a.path) - len(b.path) })
	for _, t := range all {
		if !t.write {
			p := w.param("READ", t.path)
			w.rule("(allow file-read* file-map-executable process-exec* (subpath %s))", p)
			w.rule("(deny file-write* (subpath %s))", p)
			continue
		}
		p := w.param("WRITE", t.path)
		w.rule("(allow file-read* file-write* file-map-executable process-exec* (subpath %s))", p)
	}
	// After all of them, so that no tree takes a rule back.
	for i := range w.count["WRITE"] {
		p := fmt.Sprintf(`(param "WRITE_%d")`, i)
		w.rule("(deny file-write* (require-all (subpath %s) (regex %s)))", p, namesRegex("", runsLaterNames))
		w.rule("(deny file-write* (require-all (subpath %s) (regex %s)))", p, namesRegex(".git", runsLaterInGit))
		// A repository that is moved away or into place would bring its hooks along.
		w.rule("(deny file-write-create file-write-unlink (require-all (subpath %s) (regex #\"/%s$\")))", p, anyCase(".git"))
	}
}

// seatbeltNetwork refuses every network: the profile then opens no socket at all.
func seatbeltNetwork(mode NetworkMode) error {
	switch mode {
	case NetworkOff:
		return nil
	case NetworkLoopback:
		return refusal{"macOS cannot tell the servers that a program has started from those of this machine, so connections to this machine are refused altogether. Switch the network off."}
	case NetworkHosts, NetworkOn:
		return refusal{"macOS gives a program no network of its own, so that the proxy would have to listen where every program of this machine does, and the promise that this machine's own servers are out of reach could not be kept. Switch the network off."}
	}
	return fmt.Errorf("%w: there is no network mode %q", ErrPolicy, mode)
}

// ancestors are the folders on the way to what is allowed: their names may be
// looked at, their lists not.
func ancestors(o seatbeltOrder) []string {
	var out []string
	for _, p := range slices.Concat([]string{o.Program, o.Temp}, o.Read, o.Write, o.Links) {
		for p = path.Dir(p); p != "/"; p = path.Dir(p) {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// pinned are the folders that must keep their names: the rules go by path, so
// that a folder moved away would take what is read-only in it out of their reach.
func pinned(o seatbeltOrder) []string {
	out := append([]string{o.Temp}, o.Write...)
	for _, p := range slices.Concat(o.Protected, o.Read) {
		for dir := path.Dir(p); slices.ContainsFunc(o.Write, func(w string) bool { return within(dir, w) }); dir = path.Dir(dir) {
			out = append(out, dir)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// namesRegex matches the names, and what lies below them, in a folder called
// dir or in any.
func namesRegex(dir string, names []string) string {
	alternatives := make([]string, len(names))
	for i, n := range names {
		alternatives[i] = anyCase(n)
	}
	if dir != "" {
		dir = "/" + anyCase(dir)
	}
	return `#"` + dir + "/(" + strings.Join(alternatives, "|") + `)(/|$)"`
}

// anyCase is a regular expression for name in capitals or not.
func anyCase(name string) string {
	var b strings.Builder
	for _, r := range name {
		switch {
		case unicode.IsLower(r):
			fmt.Fprintf(&b, "[%c%c]", r, unicode.ToUpper(r))
		case r == '.':
			b.WriteString("[.]")
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
