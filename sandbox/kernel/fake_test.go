//go:build unix

package kernel

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"atoll/sandbox"
	"atoll/sandbox/toolchain"
)

// bare starts programs without a boundary, for tests of what does not depend
// on one. The limit of memory is kept by prlimit's means so that no test can
// fill the machine.
type bare struct{}

func (bare) Level(context.Context) sandbox.Level { return sandbox.Level{Name: "none"} }

func (bare) Start(ctx context.Context, p sandbox.Policy, c sandbox.Command) (sandbox.Process, error) {
	cmd := exec.CommandContext(ctx, c.Path, c.Args...)
	if p.Limits.Memory > 0 {
		cmd = exec.CommandContext(ctx, "/bin/sh", append([]string{"-c", `ulimit -v "$0"; exec "$@"`, itoa(p.Limits.Memory >> 10), c.Path}, c.Args...)...)
	}
	cmd.Dir, cmd.Env, cmd.ExtraFiles = c.Dir, p.Env, c.Files
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	var ends [2]*os.File
	pr := &bareProcess{cmd: cmd, in: in}
	for i, to := range []*io.Writer{&cmd.Stdout, &cmd.Stderr} {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		*to, ends[i] = w, w
		pr.out[i] = r
	}
	err = cmd.Start()
	for _, f := range append(c.Files, ends[:]...) {
		f.Close()
	}
	if err != nil {
		return nil, err
	}
	pr.wait = sync.OnceValue(func() sandbox.Exit {
		cmd.Wait()
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // the tree ends with its first process
		ws := cmd.ProcessState.Sys().(syscall.WaitStatus)
		if ws.Signaled() {
			cause := sandbox.Exited
			if pr.killed() {
				cause = sandbox.Killed
			}
			return sandbox.Exit{Code: 128 + int(ws.Signal()), Signal: int(ws.Signal()), Cause: cause}
		}
		return sandbox.Exit{Code: ws.ExitStatus(), Cause: sandbox.Exited}
	})
	return pr, nil
}

type bareProcess struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  [2]*os.File
	wait func() sandbox.Exit
	mu   sync.Mutex
	dead bool
}

func (p *bareProcess) Stdin() io.WriteCloser { return p.in }
func (p *bareProcess) Stdout() io.Reader     { return p.out[0] }
func (p *bareProcess) Stderr() io.Reader     { return p.out[1] }
func (p *bareProcess) Wait() sandbox.Exit    { return p.wait() }
func (p *bareProcess) Interrupt() error      { return syscall.Kill(-p.cmd.Process.Pid, syscall.SIGINT) }
func (p *bareProcess) killed() bool          { p.mu.Lock(); defer p.mu.Unlock(); return p.dead }
func (p *bareProcess) Kill() error {
	p.mu.Lock()
	p.dead = true
	p.mu.Unlock()
	return syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
}

func itoa(n int64) string {
	b := []byte{}
	for ; n > 0; n /= 10 {
		b = append([]byte{byte('0' + n%10)}, b...)
	}
	return string(b)
}

// python is found once for all tests; libraries only where they are installed.
var python = sync.OnceValue(func() Interpreter {
	py := toolchain.Python(context.Background(), "")
	i := Interpreter{Path: py.Path, Read: py.Prefixes}
	if env, err := toolchain.Find(libraries(), py); err == nil {
		i.Site, i.Config = env.Site, env.Config
	}
	return i
})

func libraries() string {
	if d := os.Getenv("ATOLL_TEST_PYTHON_DIR"); d != "" {
		return d
	}
	return filepath.Join(os.TempDir(), "atoll-python")
}

func needLibraries(t testing.TB) {
	t.Helper()
	if python().Site == "" {
		t.Skip("SKIPPED: the Python libraries are not installed; set ATOLL_TEST_PYTHON_DIR and run the test of package toolchain")
	}
}

func options(t testing.TB) Options {
	t.Helper()
	py := python()
	if py.Path == "" {
		t.Skip("SKIPPED: there is no Python on this machine")
	}
	return Options{Runner: runner(t), Interpreter: py, Dir: t.TempDir(), LogDir: t.TempDir(), Timeout: 30 * time.Second}
}

// helperArg makes the test binary the sandbox helper.
const helperArg = "sandbox-helper"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == helperArg {
		os.Exit(sandbox.JailMain())
	}
	os.Exit(m.Run())
}

// jail is the real runner, or nil where the machine has no sandbox.
var jail = sync.OnceValue(func() sandbox.Runner {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	r := sandbox.New(sandbox.Options{Helper: []string{self, helperArg}})
	if r.Level(context.Background()).Name == "none" {
		return nil
	}
	return r
})

// runner is the real one where there is one, unless ATOLL_TEST_SANDBOX=off.
func runner(t testing.TB) sandbox.Runner {
	if os.Getenv("ATOLL_TEST_SANDBOX") == "off" {
		return bare{}
	}
	if r := jail(); r != nil {
		return r
	}
	t.Log("NO SANDBOX on this machine: the kernel is tested without one")
	return bare{}
}

func open(t testing.TB, o Options) *Python {
	t.Helper()
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// shown is what a run showed, in one string: text as it is, objects in ⟨⟩.
type shown struct {
	Result
	text string
	objs []map[string][]byte
}

func exec1(t testing.TB, s *Python, code string) shown {
	t.Helper()
	return execCtx(t, t.Context(), s, code)
}

func execCtx(t testing.TB, ctx context.Context, s *Python, code string) shown {
	t.Helper()
	var b strings.Builder
	var got shown
	res, err := s.Run(ctx, code, func(o Output) {
		if o.Data == nil {
			b.WriteString(o.Text)
			return
		}
		got.objs = append(got.objs, o.Data)
		kind := ""
		for _, k := range []string{"image/png", TableMIME} {
			if o.Data[k] != nil {
				kind = k + " "
			}
		}
		b.WriteString("⟨" + kind + string(o.Data["text/plain"]) + "⟩")
	})
	if err != nil {
		t.Fatalf("Run(%.60q): %v", code, err)
	}
	got.Result, got.text = res, b.String()
	return got
}
