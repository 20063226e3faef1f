package escape

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"atoll/sandbox"
)

// A flood uses up something. Each is bounded by itself, so that it does no harm
// when nothing bounds it, and runs in a sandbox of its own, because that ends.
type flood struct {
	name, plain string
	shell       bool // else Python
	script      string
	limits      sandbox.Limits
	slow        bool // left out of a quick run, as are those that count the helper's memory
	full        bool // only the full level promises it
	linux       bool
}

// survived is what a flood says when it was not stopped.
const survived = "survived"

const memory = 192 << 20

// floods are the table. A row says survived when its loop came to the end.
var floods = []flood{
	{
		name: "memory_one", plain: "Takes all memory with one program.", limits: sandbox.Limits{Memory: memory}, slow: true,
		script: "b=[]\nfor i in range(80): b.append(bytearray(8<<20))\nprint('survived')",
	}, {
		name: "memory_many", plain: "Takes all memory with many small programs.", limits: sandbox.Limits{Memory: memory}, slow: true,
		script: "import subprocess,sys,time\nc=\"b=bytearray(80<<20)\\nfor j in range(0,len(b),4096): b[j]=1\\nimport time; time.sleep(20)\"\np=[subprocess.Popen([sys.executable,'-S','-c',c]) for i in range(6)]\ntime.sleep(10)\nprint('survived')",
	}, {
		name: "memory_shared", plain: "Takes all memory with memory that programs share.", limits: sandbox.Limits{Memory: memory}, slow: true,
		script: "import mmap,time\nb=[]\nfor i in range(64):\n  m=mmap.mmap(-1,8<<20); m.write(b'x'*(8<<20)); b.append(m); time.sleep(.01)\ntime.sleep(5)\nprint('survived')",
	}, {
		name: "memory_hidden", plain: "Takes all memory with files that have no name.", limits: sandbox.Limits{Memory: memory}, slow: true, linux: true,
		script: "import os\ntry:\n  for i in range(64): os.write(os.memfd_create('x'),b'x'*(8<<20))\n  print('survived')\nexcept OSError as e: print(e.strerror)",
	}, {
		name: "fork_storm", plain: "Starts programs without end.", limits: sandbox.Limits{Procs: 64}, linux: true,
		script: "import os,time\nn=0\ntry:\n  for i in range(400):\n    if os.fork()==0: time.sleep(20); os._exit(0)\n    n+=1\nexcept OSError: pass\ntime.sleep(10)\nprint('survived',n)",
	}, {
		name: "shell_fork_storm", plain: "Starts programs without end, in the shell.", limits: sandbox.Limits{Procs: 64}, shell: true,
		script: "i=0; while [ $i -lt 300 ]; do sleep 20 & i=$((i+1)); done; sleep 10; echo survived",
	}, {
		name: "thread_storm", plain: "Starts threads without end.", limits: sandbox.Limits{Procs: 64}, slow: true,
		script: "import threading,time,os\ntry:\n  for i in range(400): threading.Thread(target=time.sleep,args=(20,),daemon=True).start()\nexcept RuntimeError: pass\ntime.sleep(10)\nprint('survived', flush=True); os._exit(0)",
	}, {
		name: "many_files", plain: "Fills the disk with many files.", limits: sandbox.Limits{Disk: 16 << 20},
		script: "import time\nfor i in range(100):\n  f=open('big%d'%i,'wb'); f.write(b'x'*(4<<20)); f.close(); time.sleep(.02)\nprint('survived')",
	}, {
		name: "empty_files", plain: "Uses up the disk's numbers for files with empty ones.", limits: sandbox.Limits{Disk: 16 << 20}, slow: true,
		script: "import time\nfor i in range(30000): open('s%d'%i,'w').close()\ntime.sleep(3)\nprint('survived')",
	}, {
		name: "hidden_file", plain: "Fills the disk with a file in a folder that nobody may open.", limits: sandbox.Limits{Disk: 16 << 20}, slow: true, linux: true,
		script: "import os,time\nos.mkdir('d')\nf=open('d/x','wb'); os.chmod('d',0)\nfor i in range(100): f.write(b'x'*(4<<20)); f.flush(); time.sleep(.02)\nprint('survived')",
	}, {
		name: "one_file", plain: "Fills the disk with one big file.", limits: sandbox.Limits{FileSize: 8 << 20}, linux: true,
		script: "f=open('big','wb')\ntry:\n  for i in range(100): f.write(b'x'*(1<<20)); f.flush()\n  print('survived', flush=True)\nexcept OSError as e: print(e.strerror, flush=True)\nimport os; os._exit(0)",
	}, {
		name: "sparse_file", plain: "Makes a file that claims to be a terabyte.", limits: sandbox.Limits{FileSize: 8 << 20}, linux: true,
		script: "f=open('sp','wb')\ntry: f.truncate(1<<40); print('survived')\nexcept OSError as e: print(e.strerror)",
	}, {
		name: "temporary_files", plain: "Fills the place for temporary files.", limits: sandbox.Limits{Memory: memory}, slow: true, full: true, linux: true,
		script: "f=open('/tmp/x','wb')\ntry:\n  for i in range(400): f.write(b'x'*(1<<20)); f.flush()\n  print('survived', flush=True)\nexcept OSError as e: print(e.strerror, flush=True); f=None\nimport os; os._exit(0)",
	}, {
		name: "deep_folders", plain: "Nests folders so deep that nobody can look into them.", limits: sandbox.Limits{Disk: 16 << 20}, slow: true, linux: true,
		script: "import os,time\nfor i in range(300): os.mkdir('d'); os.chdir('d')\ntime.sleep(5)\nprint('survived')",
	}, {
		name: "open_files", plain: "Opens files without end.", limits: sandbox.Limits{Files: 128}, linux: true,
		script: "l=[]\ntry:\n  for i in range(3000): l.append(open('/dev/null'))\n  print('survived')\nexcept OSError as e: print(e.strerror)",
	},
}

// floods returns those that can be made here.
func (t *test) floods() []flood {
	var fs []flood
	for _, f := range floods {
		switch {
		case t.harmless, f.slow && t.quick, f.full && t.level != sandbox.LevelFull, f.linux && runtime.GOOS != "linux",
			f.shell && runtime.GOOS == "windows", !f.shell && t.Python == "":
		default:
			fs = append(fs, f)
		}
	}
	return fs
}

// flood makes one. There is no run outside: it would load the machine.
func (t *test) flood(ctx context.Context, f flood) error {
	fx := &fixture{facts: map[string]any{}}
	defer fx.close()
	if err := fx.folders(t.Dir); err != nil {
		return err
	}
	p := fx.policy(t)
	p.Limits = f.limits
	c := sandbox.Command{Path: t.Python, Args: []string{"-S", "-c", f.script}, Dir: fx.ws}
	if f.shell {
		c.Path, c.Args = shell, c.Args[1:]
	}
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	out, _, exit, err := t.run(ctx, p, c, nil)
	a := Attempt{Group: "limits", Name: f.name, Plain: f.plain, Result: Stopped, Layer: layers[byLimits]}
	switch said := strings.TrimSpace(string(out)); {
	case errors.Is(err, context.DeadlineExceeded):
		a.Result, a.Layer, a.Note = Escaped, "", "it was not stopped in time"
	case err != nil:
		return err
	case strings.Contains(said, survived):
		a.Result, a.Layer, a.Note = Escaped, "", said
	case exit.Cause != sandbox.Exited:
		a.Note = string(exit.Cause) + ": " + exit.Detail
	case said != "":
		a.Note = said
	default:
		a.Note = fmt.Sprintf("ended with %d", exit.Code)
	}
	t.attempts = append(t.attempts, a)
	t.step(1)
	return nil
}
