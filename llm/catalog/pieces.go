package catalog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// piecesSource lets pip fetch one package per part, from whatever package index
// this machine is set up for, and keeps one package at a time on the disk.
type piecesSource struct{ source *Source }

func (s piecesSource) name() string { return s.source.Name }

// extra is room for the largest wheel twice: pip has a copy of its own before
// it puts the wheel where we asked.
func (s piecesSource) extra() int64 {
	var most int64
	for _, p := range s.source.Packages {
		most = max(most, p.Bytes)
	}
	return 2 * most
}

func (s piecesSource) deliver(ctx context.Context, f *fetch) error {
	python, err := findPython(f.options.Python)
	if err != nil {
		return err
	}
	tmp := filepath.Join(f.dir, "."+f.entry.File+".pip")
	defer os.RemoveAll(tmp)
	if err := f.part.from(origin{Source: s.name()}); err != nil {
		return err
	}
	for f.part.index < len(s.source.Packages) {
		// What a killed run left behind goes too.
		if err := os.RemoveAll(tmp); err != nil {
			return err
		}
		if err := os.Mkdir(tmp, 0o700); err != nil {
			return err
		}
		pkg := s.source.Packages[f.part.index]
		f.note(fmt.Sprintf("%s: package %s %s", s.name(), pkg.Name, pkg.Version))
		if err := pip(ctx, python, tmp, pkg, f); err != nil {
			return err
		}
		path, err := findWheel(tmp, pkg)
		if err != nil {
			return err
		}
		if path == "" {
			return fmt.Errorf("pip did not leave a wheel of %s %s", pkg.Name, pkg.Version)
		}
		if err := appendWheel(ctx, f.part, path, pkg); err != nil {
			return err
		}
	}
	return nil
}

// findPython returns the program to run pip with.
func findPython(name string) (string, error) {
	names := []string{name}
	if name == "" {
		names = []string{"python3", "python"}
	}
	for _, n := range names {
		if path, err := exec.LookPath(n); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("there is no %s to run pip with; install Python 3 with pip (Debian, Ubuntu: apt install python3-pip), or use another source", strings.Join(names, " and no "))
}

// pip downloads one wheel into dir. Only wheels with the pinned hash are
// accepted, and a wheel runs no code while it is downloaded.
func pip(ctx context.Context, python, dir string, pkg Package, f *fetch) error {
	list := filepath.Join(dir, "requirements.txt")
	line := fmt.Sprintf("%s==%s --hash=sha256:%s\n", pkg.Name, pkg.Version, pkg.SHA256)
	if err := os.WriteFile(list, []byte(line), 0o600); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	cmd := exec.CommandContext(ctx, python, "-m", "pip", "download", "--quiet", "--no-input", "--disable-pip-version-check",
		"--no-deps", "--only-binary=:all:", "--require-hashes", "--no-cache-dir", "--dest", dir, "--requirement", list)
	var out bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &out
	cmd.Env = append(os.Environ(), "TMPDIR="+dir, "TEMP="+dir, "TMP="+dir, "PIP_NO_COLOR=1", "PYTHONIOENCODING=utf-8")
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start pip: %w", err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err != nil {
				return pipError(out.String(), err, pkg, f.part)
			}
			return nil
		case <-tick.C:
			// Packed bytes stand in for the part until it is unpacked.
			f.report(f.part.offset+min(folderSize(dir), f.entry.parts()[f.part.index].Bytes), "")
		}
	}
}

// folderSize returns the bytes of the largest file below dir.
func folderSize(dir string) (most int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // pip removes files while we look
		}
		if st, err := d.Info(); err == nil && st.Mode().IsRegular() {
			most = max(most, st.Size())
		}
		return nil
	})
	return most
}

var gotHashRE = regexp.MustCompile(`Got\s+([0-9a-f]{64})`)

// pipError turns what pip said into one sentence.
func pipError(out string, err error, pkg Package, p *partFile) error {
	what := fmt.Sprintf("%s (package %s %s)", p.name(p.index), pkg.Name, pkg.Version)
	if m := gotHashRE.FindStringSubmatch(out); m != nil {
		return &WrongBytes{What: what, From: "the package index", Got: m[1], Want: pkg.SHA256, Action: "it was deleted, run again to fetch it"}
	}
	switch {
	case strings.Contains(out, "No module named pip"):
		return errors.New("this Python has no pip; install it (Debian, Ubuntu: apt install python3-pip; else: python3 -m ensurepip), or use another source")
	case strings.Contains(out, "No matching distribution"):
		return fmt.Errorf("the package index of this machine does not have %s", what)
	case strings.Contains(out, "No space left on device"):
		return fmt.Errorf("%w: the disk became full while pip fetched %s", ErrNoSpace, what)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return fmt.Errorf("pip could not fetch %s: %w: %s", what, err, lines[len(lines)-1])
}
