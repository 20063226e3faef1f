package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"atoll/app"
	"atoll/app/cells"
	"atoll/app/client"
	"atoll/app/config"
	"atoll/app/fault"
	"atoll/sandbox"
	"atoll/sandbox/kernel"
	"atoll/sandbox/workspace"
	"atoll/storage"
)

func (p Program) exec() *cobra.Command {
	var s script
	var lang string
	c := &cobra.Command{
		Use:   "exec [flags] FILE|-",
		Short: "Run code in the sandbox, without a model",
		Long: `Exec runs a program in the same sandbox and with the same libraries as the
code of a chat: it sees the attached files by their names and a folder of its
own, and has no network. The exit status is that of the code.`,
		Example: "  atoll exec --file sales.csv report.py\n  echo 'print(6*7)' | atoll exec -",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if lang != "python" {
				return usageError{fmt.Errorf("--lang %q: Atoll runs python", lang)}
			}
			if s.timeout < 0 {
				return usageError{fmt.Errorf("--timeout %v: it must be more than nothing", s.timeout)}
			}
			b, err := readCode(p.In, args[0])
			if err != nil {
				return err
			}
			s.source = string(b)
			ctx := c.Context()
			if s.timeout > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, s.timeout)
				defer cancel()
			}
			code, err := p.runScript(ctx, s)
			switch {
			case errors.Is(ctx.Err(), context.DeadlineExceeded):
				return ctx.Err()
			case ctx.Err() != nil:
				return context.Canceled
			case err != nil:
				return err
			case code != 0:
				return exitStatus(code)
			}
			return nil
		},
	}
	f := c.Flags()
	f.StringVar(&lang, "lang", "python", "`LANGUAGE` of the code")
	f.StringArrayVarP(&s.files, "file", "f", nil, "make `FILE` readable under its name; may be given many times")
	f.StringVar(&s.save, "save", "", "copy the files that the code made to `DIR`")
	f.StringVar(&s.receipt, "receipt", "", "write what held the run, what it was refused and what it used to `FILE`, as JSON")
	f.DurationVar(&s.timeout, "timeout", 0, "stop after `D`, for example 90s")
	return c
}

// codeMax bounds a program, in bytes.
const codeMax = 16 << 20

func readCode(in io.Reader, name string) ([]byte, error) {
	if name == "-" {
		b, err := io.ReadAll(io.LimitReader(in, codeMax+1))
		if err != nil {
			return nil, fmt.Errorf("read the code: %w", err)
		}
		if len(b) > codeMax {
			return nil, usageError{fmt.Errorf("read the code: it is longer than %s", size(codeMax))}
		}
		return b, nil
	}
	st, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, usageError{fmt.Errorf("read the code: %w", err)}
	case !st.Mode().IsRegular(): // a pipe would be waited for without end
		return nil, usageError{fmt.Errorf("read the code: %s is not a regular file", name)}
	case st.Size() > codeMax:
		return nil, usageError{fmt.Errorf("read the code: %s has %s; code may have %s", name, size(st.Size()), size(codeMax))}
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, usageError{fmt.Errorf("read the code: %w", err)}
	}
	return b, nil
}

// script is a program that runs once.
type script struct {
	source  string
	files   []string
	save    string
	timeout time.Duration
	receipt string // file for the receipt, "" for none
	quiet   bool
}

// runScript runs s in a workspace of its own that is removed afterwards.
func (p Program) runScript(ctx context.Context, s script) (code int, err error) {
	home, err := config.FindHome()
	if err != nil {
		return 0, err
	}
	if err := home.Make(); err != nil {
		return 0, err
	}
	self, err := client.Program()
	if err != nil {
		return 0, err
	}
	py, env, err := cells.FindPython(home)(ctx)
	if err != nil {
		return 0, err
	}
	sweep(home.Run())
	dir, err := os.MkdirTemp(home.Run(), fmt.Sprintf("exec-%d-", os.Getpid()))
	if err != nil {
		return 0, fmt.Errorf("%w: %w", config.ErrHome, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	ws, err := workspace.Open(dir)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, ws.Close()) }()
	paths, err := absolute(s.files)
	if err != nil {
		return 0, err
	}
	for _, f := range paths {
		if _, err := ws.Attach(f); err != nil {
			return 0, usageError{err}
		}
	}
	program := filepath.Join(dir, "main.py") // beside the workspace: the code can read it, not change it
	if err := os.WriteFile(program, []byte(s.source), 0o600); err != nil {
		return 0, fmt.Errorf("%w: %w", config.ErrHome, err)
	}
	before, err := ws.Snapshot()
	if err != nil {
		return 0, err
	}
	options := kernel.Options{Interpreter: cells.Kernel(py, env), Dir: ws.Work(), Read: []string{ws.Files(), program}}
	policy := options.Policy()
	policy.Env = append(policy.Env, "PYTHONUNBUFFERED=1", "MPLBACKEND=Agg")
	tried, err := addHook(&policy, dir, options.Read)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", config.ErrHome, err)
	}
	proc, err := app.Runner(self).Start(ctx, policy, sandbox.Command{
		Path: py.Path, Args: []string{"-s", program}, Dir: ws.Work(), Files: []*os.File{tried.inside},
	})
	if err != nil {
		tried.outside.Close()
		return 0, err
	}
	if err := proc.Stdin().Close(); err != nil {
		return 0, err
	}
	exit, perr := p.pass(proc, s.quiet)
	if perr != nil {
		return 0, fmt.Errorf("print the output: %w", perr)
	}
	attempts := kernel.ReadAttempts(tried.outside)
	tried.outside.Close()
	if !s.quiet {
		r := p.sayRefusals(proc, sandbox.NetworkOff, exit, attempts)
		r.Level = app.Runner(self).Level(context.WithoutCancel(ctx)).Name
		if err := keepReceipt(s.receipt, r, ws, before); err != nil {
			return 0, err
		}
	}
	if exit.Cause != sandbox.Exited && ctx.Err() == nil {
		fmt.Fprintf(p.Err, "atoll: the code was stopped: %s\n", exit.Detail)
	}
	if s.save != "" {
		if err := p.copyOut(ws, before, s.save); err != nil {
			fmt.Fprintf(p.Err, "atoll: %v\n", err)
			if exit.Code == 0 {
				exit.Code = fault.ExitPartly
			}
		}
	}
	return exit.Code, nil
}

// hook is the pipe on which the code's Python says what it looked for.
type hook struct{ inside, outside *os.File }

// addHook lets the Python of a policy say what its code looks for outside.
func addHook(p *sandbox.Policy, dir string, roots []string) (hook, error) {
	text, err := kernel.AttemptsHook(roots)
	if err != nil {
		return hook{}, err
	}
	at := filepath.Join(dir, "hook")
	if err := os.Mkdir(at, 0o700); err != nil {
		return hook{}, err
	}
	if err := os.WriteFile(filepath.Join(at, "sitecustomize.py"), []byte(text), 0o600); err != nil {
		return hook{}, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return hook{}, err
	}
	p.Read = append(p.Read, at)
	path := "PYTHONPATH=" + at
	for i, e := range p.Env {
		if old, ok := strings.CutPrefix(e, "PYTHONPATH="); ok {
			path += string(filepath.ListSeparator) + old
			p.Env = slices.Delete(p.Env, i, i+1)
			break
		}
	}
	p.Env = append(p.Env, path, kernel.AttemptsVariable+"=3") // the first of Command.Files
	return hook{w, r}, nil
}

// keepReceipt completes a receipt and writes it to a file, if one is named.
func keepReceipt(file string, r *storage.Receipt, ws *workspace.Workspace, before workspace.Snapshot) error {
	if file == "" {
		return nil
	}
	for _, name := range ws.Attached() {
		if f, err := ws.OpenOriginal(name); err == nil {
			r.Inputs = append(r.Inputs, cells.Hash(name, f))
			f.Close()
		}
	}
	made, err := ws.Changed(before)
	if err != nil {
		return err
	}
	for _, m := range made.Files {
		if f, err := ws.Open(m.Name); err == nil {
			r.Outputs = append(r.Outputs, cells.Hash(m.Name, f))
			f.Close()
		}
	}
	b, err := json.MarshalIndent(r, "", "\t")
	if err == nil {
		err = os.WriteFile(file, append(b, '\n'), 0o666)
	}
	if err != nil {
		return fmt.Errorf("write the receipt: %w", err)
	}
	return nil
}

// pass copies the program's output to ours until it ends. The error is that
// of our own output, which nobody takes any more.
func (p Program) pass(proc sandbox.Process, quiet bool) (sandbox.Exit, error) {
	out, errs := safely(p.Out), safely(p.Err)
	if quiet {
		out, errs = io.Discard, io.Discard
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(errs, proc.Stderr()) // ends with the program; a closed terminal ends us
	}()
	_, err := io.Copy(out, proc.Stdout())
	if err != nil {
		_ = proc.Kill()
	}
	<-done
	return proc.Wait(), err
}

// copyOut saves what the code made. What is left out is an error too.
func (p Program) copyOut(ws *workspace.Workspace, before workspace.Snapshot, dir string) error {
	made, err := ws.Changed(before)
	if err != nil {
		return err
	}
	var errs []error
	if made.Note != "" {
		errs = append(errs, errors.New(made.Note))
	}
	if len(made.Files) == 0 {
		return errors.Join(errs...)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, f := range made.Files {
		name, err := copyOne(ws, root, f.Name)
		if err != nil {
			errs = append(errs, fmt.Errorf("save %s: %w", oneName(f.Name), err))
			continue
		}
		fmt.Fprintf(p.Err, "saved %s\n", oneName(filepath.Join(dir, name)))
	}
	return errors.Join(errs...)
}

func copyOne(ws *workspace.Workspace, root *os.Root, name string) (string, error) {
	src, err := ws.Open(name)
	if err != nil {
		return "", err
	}
	defer src.Close()
	return save(root, name, src)
}
