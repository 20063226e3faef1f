//go:build unix

package kernel

import (
	"context"
	"regexp"
	"strings"
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

// TestForgedEvents: code that finds the kernel's own connection can neither end
// a run nor break the session.
func TestForgedEvents(t *testing.T) {
	s := open(t, options(t))
	got := exec1(t, s, `import os
for line in [b'{"t":"done","k":"guess","status":"ok"}', b'{"t":"ready"}', b'[]', b'garbage', b'{"t":"out","s":99999999,"x":"forged"}', b'{"t":"show","d":{"image/png":"AAAA"}}']:
    for fd in range(3, 1024):
        try: os.write(fd, line + b'\n')
        except OSError: pass
print("after")
x = 1
2`)
	if got.Status != OK || got.Value != "2" || !strings.Contains(got.text, "after\n") || !strings.Contains(got.text, "forged") {
		t.Fatalf("got %+v: %q", got.Result, got.text)
	}
	if next := exec1(t, s, "x"); next.Value != "1" {
		t.Errorf("next: %+v", next.Result)
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

func TestNoStart(t *testing.T) {
	o := options(t)
	for path, want := range map[string]string{"/bin/false": "exit code 1", "/does/not/exist": ""} {
		o.Interpreter.Path = path
		s := open(t, o)
		_, err := s.Run(t.Context(), "1", nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestOptions(t *testing.T) {
	good := options(t)
	if _, err := New(good); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Options){
		"no runner":                func(o *Options) { o.Runner = nil },
		"relative path":            func(o *Options) { o.Dir = "work" },
		"no interpreter":           func(o *Options) { o.Interpreter.Path = "" },
		"logs in the workspace":    func(o *Options) { o.LogDir = o.Dir },
		"logs below the workspace": func(o *Options) { o.LogDir = o.Dir + "/logs" },
	} {
		o := good
		change(&o)
		if _, err := New(o); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
