package toolchain

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

var (
	// ErrNoPip means that the interpreter has no pip to install with.
	ErrNoPip = errors.New("this Python has no pip")
	// ErrNoNetwork means that the package index could not be reached.
	ErrNoNetwork = errors.New("the package index cannot be reached")
	// ErrNoSpace means that the disk is too full.
	ErrNoSpace = errors.New("the disk is too full")
	// ErrHash means that a package is not the one the lock names.
	ErrHash = errors.New("a package is not the one that was expected")
)

// need is the free space that an installation asks for, in bytes: 580 MB of
// libraries, their compiled form, and pip's own unpacking.
const need = 1600 << 20

// Install makes <dir>/<tag>/site with the libraries of the lock, using the
// interpreter's own pip, byte-compiled because it is read-only later, together
// with matplotlib's font list. It does nothing when that is there already. It
// builds in a folder beside it and renames that when complete, so a broken
// attempt leaves nothing half made, and what pip has fetched stays in pip's
// own cache for the next attempt. progress, if not nil, gets the name of a
// step and how much of it is done.
//
// Errors: [ErrNoPip], [ErrNoNetwork], [ErrNoSpace], [ErrHash], or those of the
// file system; their texts say what to do.
func Install(ctx context.Context, py Interpreter, dir string, progress func(step string, done, total int)) error {
	if !py.OK() {
		return fmt.Errorf("install libraries: %s %s", py.Problem, py.Fix)
	}
	if _, err := Find(dir, py); err == nil {
		return nil
	}
	if progress == nil {
		progress = func(string, int, int) {}
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("install libraries: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("install libraries: %w", err)
	}
	sweep(dir, py.Tag)
	if free, ok := freeSpace(dir); ok && free < need {
		return fmt.Errorf("install libraries in %s: %w: %d MB are free, %d MB are needed", dir, ErrNoSpace, free>>20, int64(need)>>20)
	}
	tmp, err := os.MkdirTemp(dir, "."+py.Tag+"-")
	if err != nil {
		return fmt.Errorf("install libraries: %w", err)
	}
	defer os.RemoveAll(tmp)
	if err := os.Chmod(tmp, 0o755); err != nil { // MkdirTemp makes it private
		return fmt.Errorf("install libraries: %w", err)
	}
	home := filepath.Join(dir, py.Tag)
	j := job{py: py, tmp: tmp, home: home, progress: progress}
	for _, step := range []func(context.Context) error{j.fetch, j.compile, j.fonts, j.mark} {
		if err := step(ctx); err != nil {
			return fmt.Errorf("install libraries: %w", err)
		}
	}
	if _, err := Find(dir, py); err == nil {
		return nil // another process was faster
	}
	if err := os.RemoveAll(home); err != nil {
		return fmt.Errorf("install libraries: %w", err)
	}
	if err := os.Rename(tmp, home); err != nil {
		return fmt.Errorf("install libraries: %w", err)
	}
	return nil
}

// sweep removes what attempts left that were cut off long ago.
func sweep(dir, tag string) {
	old, _ := filepath.Glob(filepath.Join(dir, "."+tag+"-*"))
	for _, p := range old {
		if st, err := os.Stat(p); err == nil && time.Since(st.ModTime()) > 24*time.Hour {
			os.RemoveAll(p)
		}
	}
}

type job struct {
	py        Interpreter
	tmp, home string
	progress  func(string, int, int)
}

func (j job) site() string { return filepath.Join(j.tmp, "site") }

// fetch has pip download, check and unpack the packages.
func (j job) fetch(ctx context.Context) error {
	list := filepath.Join(j.tmp, "python.lock")
	if err := os.WriteFile(list, lock, 0o644); err != nil {
		return err
	}
	total, done := len(names()), 0
	j.progress("download", 0, total)
	text, err := j.python(ctx, func(line string) {
		if strings.HasPrefix(strings.TrimSpace(line), "Collecting ") && done < total {
			done++
			j.progress("download", done, total)
		}
		if strings.HasPrefix(line, "Installing collected packages") {
			j.progress("unpack", 0, 1)
		}
	}, nil, "-m", "pip", "install", "--target", j.site(), "--require-hashes", "--only-binary", ":all:",
		"--no-deps", "--no-compile", "--progress-bar", "off", "--retries", "2", "-r", list)
	if err != nil {
		return explain(text, err)
	}
	j.progress("unpack", 1, 1)
	return nil
}

// compile writes the bytecode with the final path in it. The libraries' own
// test suites are left out: nobody imports them and they are a third of it.
func (j job) compile(ctx context.Context) error {
	j.progress("compile", 0, 1)
	args := []string{"-m", "compileall", "-q", "-j", "0", "-x", `[/\\]tests?[/\\]`, "-s", j.tmp, "-p", j.home, j.site()}
	// The exit status is 1 when a single template file of some package is not
	// valid Python, which harms nothing.
	if text, err := j.python(ctx, nil, nil, args...); err != nil && ctx.Err() != nil {
		return explain(text, err)
	}
	j.progress("compile", 1, 1)
	return nil
}

// fonts lets matplotlib write its list of fonts, which takes seconds, and the
// settings that go with it, and proves that the libraries can be imported.
func (j job) fonts(ctx context.Context) error {
	j.progress("prepare", 0, 1)
	conf := filepath.Join(j.tmp, "matplotlib")
	if err := os.MkdirAll(conf, 0o755); err != nil {
		return err
	}
	env := []string{"MPLCONFIGDIR=" + conf, "MPLBACKEND=agg", "PYTHONPATH=" + j.site(), "PYTHONDONTWRITEBYTECODE=1"}
	text, err := j.python(ctx, nil, env, "-c", fontProgram+writeSettings+"import matplotlib.pyplot, numpy, pandas, pyarrow, openpyxl, scipy, sklearn, duckdb")
	if err != nil {
		return fmt.Errorf("import the libraries: %w", explain(text, err))
	}
	j.progress("prepare", 1, 1)
	return nil
}

func (j job) mark(context.Context) error {
	pkgs, err := packages(j.site())
	if err != nil {
		return err
	}
	b, err := json.MarshalIndent(marker{Lock: LockHash(), Python: j.py.Version, Packages: pkgs}, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(j.tmp, markerName), b, 0o644)
}

// python runs the interpreter and returns the end of what it said.
func (j job) python(ctx context.Context, line func(string), env []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, j.py.Path, args...)
	cmd.Dir = j.tmp // not the caller's folder: a pip.py there would be run
	cmd.WaitDelay = 2 * time.Second
	for _, kv := range os.Environ() {
		switch k, _, _ := strings.Cut(kv, "="); k {
		case "PYTHONPATH", "PYTHONHOME", "PIP_TARGET", "PIP_USER", "PIP_PREFIX", "PIP_REQUIRE_VIRTUALENV":
		default:
			cmd.Env = append(cmd.Env, kv)
		}
	}
	cmd.Env = append(cmd.Env, "PIP_NO_INPUT=1", "PIP_DISABLE_PIP_VERSION_CHECK=1", "PYTHONUNBUFFERED=1", "LC_ALL=C.UTF-8")
	cmd.Env = append(cmd.Env, env...)
	r, w := io.Pipe()
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Start(); err != nil {
		return "", err
	}
	done := make(chan error, 1)
	go func() {
		err := cmd.Wait()
		w.Close()
		done <- err
	}()
	var tail []string
	sc := bufio.NewScanner(r)
	sc.Buffer(make([]byte, 64<<10), 1<<20)
	for sc.Scan() {
		if line != nil {
			line(sc.Text())
		}
		if tail = append(tail, sc.Text()); len(tail) > 60 {
			tail = tail[1:]
		}
	}
	io.Copy(io.Discard, r) // a line too long ends the scanner, not the program
	err := <-done
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return strings.Join(tail, "\n"), err
}
