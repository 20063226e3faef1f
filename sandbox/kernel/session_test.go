//go:build unix

package kernel

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// cellNumber stands in texts that name a cell; the tests do not count them.
var cellNumber = regexp.MustCompile(`<cell \d+>`)

// TestCells runs a chat's worth of cells in one session.
func TestCells(t *testing.T) {
	s := open(t, options(t))
	for _, c := range []struct {
		name, code string
		status     Status
		text       string // what is shown
		value      string
	}{
		{"last expression", "x = 41\nx + 1", OK, "⟨42⟩", "42"},
		{"state is kept", "print(x)\n_", OK, "41\n⟨42⟩", "42"},
		{"semicolon", "x;", OK, "", ""},
		{"semicolon and remark", "x;  # quiet", OK, "", ""},
		{"remark with a semicolon", "x  # shown;", OK, "⟨41⟩", "41"},
		{"none", "None", OK, "", ""},
		{"empty", "", OK, "", ""},
		{"only a remark", "# nothing", OK, "", ""},
		{"order of streams", "import sys\nprint('a'); print('b', file=sys.stderr); print('c'); 'd'", OK, "a\nb\nc\n⟨'d'⟩", "'d'"},
		{"raw and python output in order", "import os\nprint('1', flush=True); os.write(1, b'2\\n'); print('3', flush=True); os.system('echo 4'); print('5')", OK, "1\n2\n3\n4\n5\n", ""},
		{"C output", "import ctypes\nctypes.CDLL(None).printf(b'from C\\n');", OK, "from C\n", ""},
		{"bytes", "sys.stdout.buffer.write(b'raw \\xff\\n');", OK, "raw \ufffd\n", ""},
		{"surrogate", "print('a\\udc80b')", OK, "a?b\n", ""},
		{"unicode", "print('Köln 😀 销售')", OK, "Köln 😀 销售\n", ""},
		{"child's output", "import subprocess; subprocess.run(['sh','-c','echo out; echo err >&2; exit 3']).returncode", OK, "", "3"},
		{"await", "import asyncio\nawait asyncio.sleep(0.01)\n'awaited'", OK, "⟨'awaited'⟩", "'awaited'"},
		{"asyncio.run", "async def f(): return 5\nasyncio.run(f())", OK, "⟨5⟩", "5"},
		{"await after asyncio.run", "await asyncio.sleep(0, 'again')", OK, "⟨'again'⟩", "'again'"},
		{"future", "from __future__ import annotations\ndef f(a: Undefined): pass\nf.__annotations__", OK, "⟨{'a': 'Undefined'}⟩", "{'a': 'Undefined'}"},
		{"future stays", "def g(a: AlsoUndefined): pass", OK, "", ""},
		{"main", "if __name__ == '__main__': print('yes')", OK, "yes\n", ""},
		{"class and pickle", "import pickle\nclass P:\n    pass\ntype(pickle.loads(pickle.dumps(P()))).__name__", OK, "⟨'P'⟩", "'P'"},
		{"source of a function", "import inspect\ndef h():\n    return 7\nprint(inspect.getsource(h))", OK, "def h():\n    return 7\n\n", ""},
		{"notebook line", "%matplotlib inline\n1", OK, "⟨1⟩", "1"},
		{"closed descriptors", "os.close(1); os.close(2)\nprint('still here')", OK, "still here\n", ""},
		{"descriptors are repaired", "os.write(1, b'raw\\n');", OK, "raw\n", ""},
		{"replaced stdout", "import io; sys.stdout = io.StringIO(); print('lost')", OK, "", ""},
		{"stdout is repaired", "print('back')", OK, "back\n", ""},
		{"deleted folder", "import tempfile, shutil\nd = tempfile.mkdtemp(); os.chdir(d); shutil.rmtree(d)", OK, "", ""},
		{"folder is repaired", "os.path.isdir(os.getcwd())", OK, "⟨True⟩", "True"},
		{"closerange", "os.closerange(3, 2000)\n'on'", OK, "⟨'on'⟩", "'on'"},
		{"breakpoint", "breakpoint();", OK, "breakpoint() is passed over: nobody can type here.\n", ""},
		{"thread that fails", "import threading\nt = threading.Thread(target=lambda: 1/0, name='T'); t.start(); t.join()", OK, "In thread T:\nTraceback (most recent call last):\n  ... 2 frames in threading, the last one in run\n  File \"<cell N>\", line 2, in <lambda>\n    t = threading.Thread(target=lambda: 1/0, name='T'); t.start(); t.join()\nZeroDivisionError: division by zero\n", ""},
		{"bad repr", "class B:\n    def __repr__(self): raise RuntimeError('no')\nB()", OK, "⟨<B object, its repr raised RuntimeError>⟩", "<B object, its repr raised RuntimeError>"},
		{"exit 0", "sys.exit()", OK, "", ""},
		{"exit 2", "y = 5; sys.exit(2)", Error, "", ""},
		{"alive after exit", "y", OK, "⟨5⟩", "5"},
		{"quit", "quit()", OK, "", ""},
		{"fork", "pid = os.fork()\nif pid == 0:\n    print('child')\nelse:\n    os.waitpid(pid, 0); print('parent')", OK, "child\nparent\n", ""},
		{"one kernel only", "y + 1", OK, "⟨6⟩", "6"},
		{"pool", "from multiprocessing import Pool\ndef sq(v): return v*v\nwith Pool(2) as p: r = p.map(sq, range(4))\nr", OK, "⟨[0, 1, 4, 9]⟩", "[0, 1, 4, 9]"},
		{"warning once and short", "import warnings\nfor i in range(3): warnings.warn('careful')", OK, "UserWarning: careful (line 2)\n", ""},
		{"warning not again", "warnings.warn('careful')", OK, "", ""},
		{"signal handler of a cell", "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN);", OK, "", ""},
		{"patched functions", "os.write = os.read = json = len = None", OK, "", ""},
		{"patched and alive", "del len\n1", OK, "⟨1⟩", "1"},
		{"display", "display([1], 'a')", OK, "⟨[1]⟩⟨'a'⟩", ""},
		{"IPython's display", "from IPython.display import display as d\nd(3)", OK, "⟨3⟩", ""},
		{"forged end", `print('{"t":"done","status":"ok"}')` + "\nprint('after')", OK, "{\"t\":\"done\",\"status\":\"ok\"}\nafter\n", ""},
		{"thread's fault", "import threading\nt = threading.Thread(target=lambda: None); t.start(); t.join(); 'joined'", OK, "⟨'joined'⟩", "'joined'"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := exec1(t, s, c.code)
			if got.Status != c.status {
				t.Fatalf("status %q (note %q, error %+v)", got.Status, got.Note, got.Error)
			}
			if c.name == "child's output" {
				if !strings.Contains(got.text, "out\n") || !strings.Contains(got.text, "err\n") {
					t.Errorf("shown %q", got.text)
				}
				return
			}
			if text := cellNumber.ReplaceAllString(got.text, "<cell N>"); text != c.text {
				t.Errorf("shown %q, want %q", text, c.text)
			}
			if got.Value != c.value {
				t.Errorf("value %q, want %q", got.Value, c.value)
			}
		})
	}
}

func TestExceptions(t *testing.T) {
	s := open(t, options(t))
	for _, c := range []struct {
		name, code, exception string
		line                  int
		trace                 []string // parts that must be there
		not                   string   // and one that must not
		hint                  string
	}{
		{"line and functions", "def f(a):\n    return 1/a\n\nf(0)", "ZeroDivisionError", 2, []string{`line 4, in <module>`, `line 2, in f`, "return 1/a", "ZeroDivisionError: division by zero"}, "<kernel>", ""},
		{"chained", "try:\n    {}['k']\nexcept KeyError as e:\n    raise ValueError('bad') from e", "ValueError", 4, []string{"KeyError: 'k'", "direct cause", "ValueError: bad"}, "", ""},
		{"during handling", "try:\n    {}['k']\nexcept KeyError:\n    1/0", "ZeroDivisionError", 4, []string{"During handling"}, "", ""},
		{"syntax", "x = 1\nfor i in range(3)\n  print(i)", "SyntaxError", 2, []string{"for i in range(3)", "^"}, "Traceback", ""},
		{"recursion", "def r(n): return r(n+1)\nr(0)", "RecursionError", 1, []string{"more times"}, "", "calls itself"},
		{"input", "n = input('How many? ')", "EOFError", 1, nil, "", "Nobody can type"},
		{"stdin", "import sys\nsys.stdin.read()", "EOFError", 2, nil, "", "Nobody can type"},
		{"name", "price = 1\nprise", "NameError", 2, nil, "", "Did you mean price?"},
		{"file", "open('data/salse.csv')", "FileNotFoundError", 1, nil, "", "working folder is empty"},
		{"module", "import tabulatex_demo", "ModuleNotFoundError", 1, nil, "", "no network"},
		{"notebook command", "!pip install pkg", "SyntaxError", 1, nil, "", "notebook command"},
		{"exit with a text", "import sys\nsys.exit('no data')", "SystemExit", 2, nil, "", "keeps its variables"},
		{"group", "import sys\nif sys.version_info >= (3, 11): raise ExceptionGroup('g', [ValueError(1), TypeError('x')])\nelse: raise ValueError('g TypeError: x')", "", 0, []string{"TypeError: x"}, "", ""},
		{"huge message", "raise ValueError('x' * 10**6)", "ValueError", 1, []string{"characters cut"}, "", ""},
		{"bad str", "class E(Exception):\n    def __str__(self): raise RuntimeError\nraise E()", "E", 3, nil, "", ""},
		{"line of this cell", "f(0)", "ZeroDivisionError", 1, nil, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := exec1(t, s, c.code)
			if got.Status != Error || got.Error == nil {
				t.Fatalf("status %q, error %v", got.Status, got.Error)
			}
			e := got.Error
			if c.exception != "" && e.Name != c.exception {
				t.Errorf("name %q, want %q", e.Name, c.exception)
			}
			if c.line != 0 && e.Line != c.line {
				t.Errorf("line %d, want %d", e.Line, c.line)
			}
			for _, p := range c.trace {
				if !strings.Contains(e.Trace, p) {
					t.Errorf("trace lacks %q:\n%s", p, e.Trace)
				}
			}
			if c.not != "" && strings.Contains(e.Trace, c.not) {
				t.Errorf("trace has %q:\n%s", c.not, e.Trace)
			}
			if !strings.Contains(e.Hint, c.hint) {
				t.Errorf("hint %q lacks %q", e.Hint, c.hint)
			}
		})
	}
}

// TestDeath takes the interpreter down in every way; the next run must work.
func TestDeath(t *testing.T) {
	s := open(t, options(t))
	for _, c := range []struct{ name, code, note string }{
		{"os._exit", "import os; os._exit(9)", "exit code 9"},
		{"segfault", "import ctypes; ctypes.string_at(0)", "SIGSEGV"},
		{"kill", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "SIGKILL"},
		{"abort", "import os; os.abort()", "SIGABRT"},
		{"connection closed", "import fcntl\nfor fd in range(3, 1024):\n    try: fcntl.fcntl(fd, fcntl.F_SETFD, 0)\n    except OSError: continue\n    import posix; os_close = posix.close\nimport ctypes\nfor fd in range(3, 1024): ctypes.CDLL(None).close(fd)", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			exec1(t, s, "z = 1")
			got := exec1(t, s, c.code)
			if got.Status != Died || got.Exit == nil {
				t.Fatalf("status %q, exit %v", got.Status, got.Exit)
			}
			if !strings.Contains(got.Note, c.note) || !strings.Contains(got.Note, "lost") {
				t.Errorf("note %q", got.Note)
			}
			next := exec1(t, s, "print('alive')\n'z' in globals()")
			if next.text != "alive\n⟨False⟩" || !strings.Contains(next.Note, "lost") {
				t.Errorf("next run: %q, note %q", next.text, next.Note)
			}
		})
	}
}

// TestStop stops programs; the state is kept where they can be interrupted.
func TestStop(t *testing.T) {
	s := open(t, options(t))
	for _, c := range []struct {
		name, code string
		kept       bool
	}{
		{"silent loop", "n = 0\nwhile True: n += 1", true},
		{"loud loop", "while True: print('x' * 200)", true},
		{"raw loop", "import os\nwhile True: os.write(1, b'y' * 4096)", true},
		{"sleep", "import time; time.sleep(60)", true},
		{"child", "import subprocess; subprocess.run(['sleep', '60'])", true},
		{"await", "import asyncio; await asyncio.sleep(60)", true},
		{"swallows once", "import time\ntry:\n    time.sleep(60)\nexcept BaseException: pass\ntime.sleep(60)", true},
		{"swallows all", "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass", false},
		{"stopped itself", "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			exec1(t, s, "kept = 1")
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			got := execCtx(t, ctx, s, c.code)
			want := Interrupted
			if !c.kept {
				want = Died
			}
			if got.Status != want {
				t.Fatalf("status %q, note %q", got.Status, got.Note)
			}
			if next := exec1(t, s, "'kept' in globals()"); next.Value != map[bool]string{true: "True", false: "False"}[c.kept] {
				t.Errorf("state kept: %s", next.Value)
			}
		})
	}
}

func TestTimeout(t *testing.T) {
	o := options(t)
	o.Timeout = 300 * time.Millisecond
	s := open(t, o)
	exec1(t, s, "kept = 1")
	got := exec1(t, s, "import time\ntime.sleep(60)")
	if got.Status != TimedOut || got.Exit != nil || got.Error == nil || got.Error.Line != 2 {
		t.Errorf("got %+v, error %+v", got.Result, got.Error)
	}
	if next := exec1(t, s, "kept"); next.Value != "1" {
		t.Errorf("state is gone: %+v", next.Result)
	}
	got = exec1(t, s, "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\ntime.sleep(60)")
	if got.Status != TimedOut || got.Exit == nil || !strings.Contains(got.Note, "lost") {
		t.Errorf("got %+v", got.Result)
	}
}

func TestStopBeforeStart(t *testing.T) {
	s := open(t, options(t))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	res, err := s.Run(ctx, "1", nil)
	if err != nil || res.Status != Interrupted {
		t.Errorf("got %+v, %v", res, err)
	}
}

func TestClose(t *testing.T) {
	s := open(t, options(t))
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	done := make(chan Result)
	begun := make(chan struct{})
	var once sync.Once
	go func() {
		res, _ := s.Run(context.WithoutCancel(t.Context()), "print(1, flush=True)\nimport time; time.sleep(60)", func(Output) { once.Do(func() { close(begun) }) })
		done <- res
	}()
	<-begun
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if res := <-done; res.Status != Died {
		t.Errorf("the run that went on: %+v", res)
	}
	if _, err := s.Run(t.Context(), "1", nil); !errors.Is(err, ErrClosed) {
		t.Errorf("run after Close: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestLate: a thread's output after its run belongs to the next one.
func TestLate(t *testing.T) {
	s := open(t, options(t))
	got := exec1(t, s, "import threading, time\ndef f():\n    time.sleep(.2); print('late line')\nth = threading.Thread(target=f); th.start()\nprint('now')")
	if got.text != "now\n" {
		t.Errorf("first run: %q", got.text)
	}
	if got = exec1(t, s, "th.join(); print('next')"); !strings.Contains(got.text, "late line\n") {
		t.Errorf("second run: %q", got.text)
	}
}

// TestStream: output comes while the code goes on.
func TestStream(t *testing.T) {
	s := open(t, options(t))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var seen strings.Builder
	// The run ends only because its output was seen in time.
	res, err := s.Run(ctx, "import time, sys\nsys.stdout.write('half a line')\ntime.sleep(20)", func(o Output) {
		if seen.WriteString(o.Text); strings.Contains(seen.String(), "half a line") {
			cancel()
		}
	})
	if err != nil || res.Status != Interrupted || res.Took > 10*time.Second {
		t.Errorf("got %+v, %v", res, err)
	}
}

func TestLargeRequest(t *testing.T) {
	s := open(t, options(t))
	got := exec1(t, s, "x = '"+strings.Repeat("a", 1<<20)+"'\nlen(x)")
	if got.Value != "1048576" {
		t.Errorf("got %+v", got.Result)
	}
}
