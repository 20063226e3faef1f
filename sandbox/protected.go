package sandbox

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A laterRule is a place that a program of the host runs or obeys later,
// without anybody opening it on purpose. Build files (Makefile, package.json,
// conftest.py) are not here: they are the project's own content, which a person
// runs by name and looks at like any other source.
type laterRule struct {
	// pattern is matched against the last elements of a path, in lower case,
	// element by element as in [path.Match]. What lies below it counts too.
	pattern string
	why     string // a sentence
}

const (
	whyGit      = "Git obeys it: hooks and settings in it run programs at the next git command."
	whyEditor   = "An editor obeys it when the folder is opened: its tasks and settings run programs."
	whyAgent    = "A coding assistant obeys it: its settings start programs and servers."
	whyShell    = "A shell runs it when it starts."
	whyPackage  = "A package manager obeys it: it can name other servers and programs."
	whyPython   = "Python runs it whenever it starts there."
	whyLauncher = "A desktop runs what it names when somebody opens it."
)

// laterRules are ordered as people would look them up.
var laterRules = []laterRule{
	{".git", whyGit}, {"git~1", whyGit}, {".gitmodules", "Git obeys it: it names other repositories to fetch."},
	{".gitconfig", whyGit}, {".githooks", whyGit}, {".husky", whyGit}, {".lefthook.yml", whyGit}, {"lefthook.yml", whyGit},
	{".pre-commit-config.yaml", "pre-commit runs what it names at the next commit."},
	{".hg/hgrc", "Mercurial obeys it: its hooks run programs."}, {".svn/hooks", "Subversion runs its hooks."},
	{".github/workflows", "GitHub runs it after the next push."}, {".gitlab-ci.yml", "GitLab runs it after the next push."},

	{".vscode", whyEditor}, {".idea", whyEditor}, {".devcontainer", whyEditor}, {".devcontainer.json", whyEditor},
	{".fleet", whyEditor}, {".zed", whyEditor}, {".nvim.lua", whyEditor}, {".nvimrc", whyEditor}, {".exrc", whyEditor},
	{".vimrc", whyEditor}, {".vim", whyEditor}, {".emacs", whyEditor}, {".emacs.d", whyEditor}, {".vs", whyEditor},
	{"*.sublime-project", whyEditor}, {".jupyter", whyEditor}, {"jupyter_*_config.py", whyEditor}, {".dir-locals.el", whyEditor}, {"*.code-workspace", whyEditor},

	{".mcp.json", whyAgent}, {".claude", whyAgent}, {".codex", whyAgent}, {".cursor", whyAgent}, {".cursorrules", whyAgent},
	{".agents", whyAgent}, {".gemini", whyAgent}, {".windsurf", whyAgent}, {".windsurfrules", whyAgent}, {".clinerules", whyAgent},
	{".continue", whyAgent}, {".roo", whyAgent}, {".kiro", whyAgent}, {".opencode", whyAgent}, {".amazonq", whyAgent},
	{".junie", whyAgent}, {".aider.conf.yml", whyAgent},

	{".envrc", "direnv runs it when a shell enters the folder."}, {".direnv", "direnv runs it when a shell enters the folder."},
	{"mise.toml", "mise obeys it when a shell enters the folder."},
	{".mise.toml", "mise obeys it when a shell enters the folder."},
	{".bashrc", whyShell}, {".bash_profile", whyShell}, {".bash_login", whyShell}, {".bash_logout", whyShell}, {".bash_aliases", whyShell},
	{".profile", whyShell}, {".zshrc", whyShell}, {".zprofile", whyShell}, {".zshenv", whyShell}, {".zlogin", whyShell},
	{".kshrc", whyShell}, {".cshrc", whyShell}, {".tcshrc", whyShell}, {".login", whyShell}, {"config.fish", whyShell},
	{"fish/conf.d", whyShell}, {".inputrc", "Every line editor obeys it: it can make keys type commands."},
	{"profile.ps1", whyShell}, {"*_profile.ps1", whyShell}, {".xprofile", whyShell}, {".xinitrc", whyShell}, {".pam_environment", whyShell},

	{".npmrc", whyPackage}, {".yarnrc*", whyPackage}, {".pypirc", whyPackage}, {"pip.conf", whyPackage}, {"pip.ini", whyPackage},
	{".condarc", whyPackage}, {".bunfig.toml", whyPackage}, {"bunfig.toml", whyPackage}, {".cargo/config", whyPackage},
	{".cargo/config.toml", whyPackage}, {".pnpmfile.cjs", whyPackage},

	// Only where Python looks for them: elsewhere *.pth are weights of models.
	{"site-packages/*.pth", whyPython}, {"dist-packages/*.pth", whyPython},
	{"sitecustomize.py", whyPython}, {"usercustomize.py", whyPython}, {"pyvenv.cfg", whyPython}, {".pythonrc", whyPython}, {".pdbrc", whyPython},
	{".pdbrc.py", whyPython}, {".ipython", whyPython},

	{".rprofile", "R runs it when it starts there."}, {".gdbinit", "GDB runs it when it starts there."}, {".lldbinit", "LLDB runs it when it starts there."},
	{".tmux.conf", "tmux runs what it names when it starts."}, {".netrc", "Programs that fetch files obey it: it decides as whom they sign in."},
	{".ssh", "SSH obeys it: keys and settings in it let others in and run programs."},
	{".gnupg", "GnuPG obeys it: it decides which signatures are believed."},
	{".config/autostart", "The desktop starts it at the next login."}, {".config/systemd", "The system starts it at the next login."},
	{".config/environment.d", "The desktop obeys it at the next login."}, {"library/launchagents", "macOS starts it at the next login."},
	{"*.desktop", whyLauncher}, {"*.lnk", whyLauncher}, {"*.url", whyLauncher}, {"*.scf", whyLauncher},
	{"autorun.inf", "Windows obeys it when the disk is opened."}, {"desktop.ini", "Windows obeys it when the folder is opened."},
}

// Bounds of the walk of [Protected].
const (
	laterEntries = 200_000 // files and folders that are looked at
	laterDepth   = 40      // folders in folders
	laterPlaces  = 400     // each is a mount
)

// notLooked are folders in which nobody works: nothing in them is opened as a
// project, and they hold very many files.
var notLooked = map[string]bool{
	"node_modules": true, "__pycache__": true, ".tox": true, ".nox": true, ".mypy_cache": true, ".pytest_cache": true, ".ruff_cache": true,
}

// Protected returns what must stay read-only inside the writable tree root
// because a program of the host runs or obeys it later: version control,
// settings of editors, coding assistants, shells, package managers and
// launchers, and Python environments; nested ones too. Only what exists is
// listed, as absolute paths, sorted, none inside another. A symbolic link is not
// listed, nor what it leads to.
//
// An error means that root is too large to look through, that a folder of it
// could not be read, or that there are too many such places; it wraps
// [ErrPolicy], since the tree cannot be protected.
func Protected(root string) ([]string, error) {
	st, err := os.Lstat(root)
	if err != nil || !st.IsDir() {
		return nil, err
	}
	w := laterWalk{root: root}
	if err := w.folder(root, 0); err != nil {
		return nil, err
	}
	slices.Sort(w.found)
	return w.found, nil
}

type laterWalk struct {
	root  string
	seen  int
	found []string
}

func (w *laterWalk) folder(dir string, depth int) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		if os.IsNotExist(err) || os.IsPermission(err) && !ours(dir) {
			return nil // gone meanwhile, or as closed to the program as to us
		}
		return fmt.Errorf("%w: look for what other programs run in %s: %w", ErrPolicy, w.root, err)
	}
	if w.seen += len(entries); w.seen > laterEntries || depth > laterDepth {
		return fmt.Errorf("%w: %s has more than %d files or %d levels, too many to look for what other programs run later; choose a smaller folder", ErrPolicy, w.root, laterEntries, laterDepth)
	}
	if depth > 0 && holdsAll(entries) {
		return w.add(dir)
	}
	for _, e := range entries {
		at := filepath.Join(dir, e.Name())
		switch rel, err := filepath.Rel(w.root, at); {
		case e.Type()&fs.ModeSymlink != 0:
		case err == nil && runsLater(rel, true) != "":
			if err := w.add(at); err != nil {
				return err
			}
		case e.IsDir() && !notLooked[fold(e.Name())]:
			if err := w.folder(at, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// ours reports whether the user may open a folder that is closed now. It tries,
// and changes nothing.
func ours(dir string) bool {
	st, err := os.Lstat(dir)
	return err != nil || os.Chmod(dir, st.Mode().Perm()) == nil
}

func (w *laterWalk) add(at string) error {
	if len(w.found) == laterPlaces {
		return fmt.Errorf("%w: %s has more than %d places that other programs run or obey later; choose a smaller folder", ErrPolicy, w.root, laterPlaces)
	}
	w.found = append(w.found, at)
	return nil
}

// holdsAll reports whether a folder is protected as a whole for what it holds:
// a Python environment, or a Git repository without files, whatever their names.
func holdsAll(entries []os.DirEntry) bool {
	has := map[string]bool{}
	for _, e := range entries {
		has[fold(e.Name())] = true
	}
	return has["pyvenv.cfg"] || has["head"] && has["objects"] && has["refs"]
}

// RunsLater says, as a sentence, which program of the host would run or obey
// the file at path later, although nobody opens it on purpose; "" for nearly
// all. It looks at the name only, in any case of letters; path may be relative.
func RunsLater(path string) string { return runsLater(path, false) }

// runsLater looks at every part of the path, or at its end only.
func runsLater(name string, end bool) string {
	parts := strings.Split(filepath.ToSlash(name), "/")
	for i := range parts {
		parts[i] = fold(parts[i])
	}
	for n := len(parts); n > 0; n-- {
		for _, r := range laterRules {
			if hasEnd(parts[:n], r.pattern) {
				return r.why
			}
		}
		if end {
			break
		}
	}
	return ""
}

// leadsLater is runsLater for a link: one in the place of a folder that rules are
// about leads to what would be obeyed there.
func leadsLater(name string) string {
	base := fold(filepath.Base(filepath.ToSlash(name)))
	for _, r := range laterRules {
		for _, part := range strings.Split(r.pattern, "/") {
			if ok, _ := path.Match(part, base); ok && !strings.HasPrefix(part, "*.") {
				return r.why
			}
		}
	}
	return ""
}

// hasEnd matches a pattern with the last parts of a path.
func hasEnd(parts []string, pattern string) bool {
	n := strings.Count(pattern, "/") + 1
	if n > len(parts) {
		return false
	}
	// The patterns are well-formed, so there is no error.
	ok, _ := path.Match(pattern, strings.Join(parts[len(parts)-n:], "/"))
	return ok
}

// fold writes a name as file systems compare it that ignore the case of
// letters, dots and spaces at the end (Windows), data streams (NTFS) and
// characters without width (HFS+).
func fold(name string) string {
	name, _, _ = strings.Cut(strings.ToLower(name), ":")
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
			return -1
		}
		return r
	}, name)
	if cut := strings.TrimRight(name, ". "); cut != "" {
		return cut
	}
	return name
}
