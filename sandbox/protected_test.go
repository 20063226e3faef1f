package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRunsLater(t *testing.T) {
	for path, want := range map[string]string{
		"main.py": "", "Makefile": "", "package.json": "", "conftest.py": "", "notes/git.txt": "", "gitignore": "",
		".gitignore": "", "model.pth": "", "weights/best.pth": "", "workflows/a.yml": "", "hooks/pre-commit": "", "README.md": "",
		"": "", "/": "", ".": "", "..": "", "config": "", "conf.d/a": "",
		".git/hooks/pre-commit": whyGit, "a/b/.git/config": whyGit, ".git": whyGit, ".GIT/config": whyGit, ".git./config": whyGit,
		".git::$INDEX_ALLOCATION/config": whyGit, ".g\u200cit/config": whyGit, "GIT~1/config": whyGit, "sub/.husky/pre-push": whyGit,
		"/home/me/.bashrc": whyShell, "x/.zshrc": whyShell, ".config/fish/config.fish": whyShell, "Microsoft.PowerShell_profile.ps1": whyShell,
		".vscode/tasks.json": whyEditor, ".idea/workspace.xml": whyEditor, ".devcontainer/devcontainer.json": whyEditor,
		".mcp.json": whyAgent, ".claude/settings.json": whyAgent, ".agents/skills/x": whyAgent,
		".npmrc": whyPackage, ".yarnrc.yml": whyPackage, "pip.conf": whyPackage,
		"venv/lib/python3.11/site-packages/evil.pth": whyPython, "sitecustomize.py": whyPython, "env/pyvenv.cfg": whyPython,
		"Report.LNK": whyLauncher, "start.desktop": whyLauncher,
		".hg/hgrc": "Mercurial obeys it: its hooks run programs.", ".hg/store/data": "",
		".github/workflows/ci.yml": "GitHub runs it after the next push.", ".github/README.md": "",
		".config/autostart/x.desktop": whyLauncher, ".ssh/authorized_keys": "SSH obeys it: keys and settings in it let others in and run programs.",
	} {
		if got := RunsLater(path); got != want {
			t.Errorf("RunsLater(%q) = %q, want %q", path, got, want)
		}
		if got := RunsLater(filepath.FromSlash(path)); got != want {
			t.Errorf("RunsLater(%q), separators of this system: %q, want %q", path, got, want)
		}
	}
	for _, r := range laterRules {
		if r.pattern != strings.ToLower(r.pattern) || !strings.HasSuffix(r.why, ".") {
			t.Errorf("rule %q: a pattern in lower case and a sentence are needed: %q", r.pattern, r.why)
		}
	}
}

func TestProtectedListsWhatExists(t *testing.T) {
	root := t.TempDir()
	for _, f := range []string{
		"main.py", "Makefile", ".git/config", ".git/hooks/x", "deep/er/nested/.git/HEAD", "worktree/.git", ".vscode/tasks.json",
		".envrc", "node_modules/x/.git/config", "env/pyvenv.cfg", "env/bin/python", "bare/HEAD", "bare/objects/x", "bare/refs/x",
		".hg/hgrc", ".hg/store", "weights/model.pth", ".Claude/settings.json", ".github/workflows/ci.yml", ".github/other",
	} {
		p := filepath.Join(root, f)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	_ = os.Symlink(root, filepath.Join(root, ".idea")) // where links can be made
	got, err := Protected(root)
	if err != nil {
		t.Fatal(err)
	}
	for i := range got {
		got[i] = strings.TrimPrefix(filepath.ToSlash(got[i]), filepath.ToSlash(root)+"/")
	}
	want := []string{
		".Claude", ".envrc", ".git", ".github/workflows", ".hg/hgrc", ".vscode", "bare", "deep/er/nested/.git", "env", "worktree/.git",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if got, err := Protected(filepath.Join(root, "main.py")); len(got) != 0 || err != nil {
		t.Errorf("a file: %v, %v", got, err)
	}
	if _, err := Protected(filepath.Join(root, "missing")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
}

func TestProtectedSaysWhenItIsTooMuch(t *testing.T) {
	deep := t.TempDir()
	if err := os.MkdirAll(filepath.Join(deep, strings.Repeat("d"+string(filepath.Separator), laterDepth+2)), 0o755); err != nil {
		t.Fatal(err)
	}
	if got, err := Protected(deep); !errors.Is(err, ErrPolicy) {
		t.Errorf("too deep: %v, %v", got, err)
	}
	many := t.TempDir()
	for i := range laterPlaces + 1 {
		if err := os.WriteFile(filepath.Join(many, fmt.Sprintf("%d.desktop", i)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := Protected(many); !errors.Is(err, ErrPolicy) {
		t.Errorf("too many: %d, %v", len(got), err)
	}
}
