package engine

import (
	"context"
	"io"
	"os"
	"os/exec"
	"runtime"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/mem"
)

// A Worker is the process that an engine needs: this program with Args.
type Worker struct {
	Args []string // after the program's name: "worker", "model"
	Read []string // files and folders it has to read, absolute where Options were
	Env  []string // its whole environment
}

// A Launcher starts workers. The engine calls it without the caller's context,
// because a worker outlives the request that started it: ctx is only for the
// start itself.
type Launcher func(ctx context.Context, w Worker) (Process, error)

// A Process is a started worker. Stdout and Stderr are read to their ends and
// Wait is called exactly once, after that; Kill may be called at any time,
// also by several goroutines and after the end.
type Process interface {
	Stdin() io.WriteCloser
	Stdout() io.Reader
	Stderr() io.Reader
	Kill() error
	Wait() error // nil when it exited with status 0
}

// Exec returns a launcher that starts program with no sandbox around it, for
// tests and benchmarks. The worker's arguments are appended to args.
func Exec(program string, args ...string) Launcher {
	return func(_ context.Context, w Worker) (Process, error) {
		cmd := exec.Command(program, append(append([]string(nil), args...), w.Args...)...)
		cmd.Env = w.Env
		p := &execProcess{cmd: cmd}
		var err error
		if p.in, err = cmd.StdinPipe(); err != nil {
			return nil, err
		}
		if p.out, err = cmd.StdoutPipe(); err != nil {
			return nil, err
		}
		if p.err, err = cmd.StderrPipe(); err != nil {
			return nil, err
		}
		return p, cmd.Start()
	}
}

type execProcess struct {
	cmd      *exec.Cmd
	in       io.WriteCloser
	out, err io.Reader
}

func (p *execProcess) Stdin() io.WriteCloser { return p.in }
func (p *execProcess) Stdout() io.Reader     { return p.out }
func (p *execProcess) Stderr() io.Reader     { return p.err }
func (p *execProcess) Kill() error           { return p.cmd.Process.Kill() }
func (p *execProcess) Wait() error           { return p.cmd.Wait() }

// Pid is for benchmarks, which ask the system what the worker used.
func (p *execProcess) Pid() int { return p.cmd.Process.Pid }

// worker describes the process for o.
func worker(o Options) Worker {
	w := Worker{
		Args: []string{"worker", "model"},
		Read: []string{o.LibDir},
		Env: []string{
			// An abort would otherwise start a debugger to print its stack.
			"GGML_NO_BACKTRACE=1",
		},
	}
	if o.Path != "" {
		w.Read = append(w.Read, o.Path)
	}
	// What programs need to start at all on the system at hand.
	for _, name := range []string{"HOME", "TMPDIR", "LANG", "LD_LIBRARY_PATH", "SystemRoot", "TEMP", "LocalAppData", "VK_ICD_FILENAMES", "GGML_VK_VISIBLE_DEVICES"} {
		if v, ok := os.LookupEnv(name); ok {
			w.Env = append(w.Env, name+"="+v)
		}
	}
	return w
}

// threads returns how many threads compute: n if set, else one per physical
// core this process may use.
func threads(n int) int {
	if n > 0 {
		return n
	}
	cores, err := cpu.Counts(false)
	if err != nil || cores < 1 {
		cores = runtime.NumCPU()
	}
	return max(1, min(cores, runtime.GOMAXPROCS(0)))
}

// freeMemory returns the bytes that programs can still get, 0 if unknown.
func freeMemory() int64 {
	v, err := mem.VirtualMemory()
	if err != nil {
		return 0
	}
	free := int64(v.Available)
	if limit := groupMemory(); limit > 0 {
		free = min(free, limit)
	}
	return free
}
