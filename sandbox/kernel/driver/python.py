"""The inside of a Python kernel: runs cells, one at a time, and tells the host what they show.

Standard library only, Python 3.9 and newer. It is read from descriptor 3, so
there is no file that a cell could change. Then, on the same descriptor, come
JSON lines: first the settings, then one request for each cell. Descriptor 4
takes JSON lines with the events. What a cell's child processes and C code
write to descriptors 1 and 2 is read by the host as it is; before each event a
mark goes to both, so that the host can put all of it in order.

Cells share this process: nothing here is a boundary. The host trusts no event.
"""
import ast
import builtins
import json
import linecache
import os
import signal
import sys
import threading
import time
import types

_write, _read, _pid, _fstat, _dup2 = os.write, os.read, os.getpid, os.fstat, os.dup2  # before cells can replace them
_close, _closerange, _exit, _getcwd, _chdir = os.close, os.closerange, os._exit, os.getcwd, os.chdir
_dumps, _ident, _clock = json.dumps, threading.get_ident, time.monotonic
_main_ident, _main_pid = _ident(), _pid()
_lock = threading.RLock()


def _up(fd, low):
    """Moves a descriptor out of the range that programs use and guess, closed on exec."""
    try:
        import fcntl
    except ImportError:
        return fd
    for at in (low, 200 + low % 100, 20):
        try:
            new = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, at)
            break
        except OSError:
            continue
    else:
        return fd
    if fd > 2:
        _close(fd)
    return new


_req, _evt = _up(3, 900), _up(4, 901)
_kept = {n: _up(n, 910 + n) for n in (0, 1, 2)}
_own = frozenset([_req, _evt, *_kept.values()])


def _readline(buf=bytearray()):
    while True:
        at = buf.find(b'\n')
        if at >= 0:
            line = bytes(buf[:at])
            del buf[:at + 1]
            return line
        b = _read(_req, 1 << 16)
        if not b:
            return None
        buf += b


CONF = json.loads(_readline())
_mark_head = b'\0' + CONF['secret'].encode() + b':'
MAX_TEXT, MAX_REPR = CONF['maxText'], CONF['maxRepr']
MAX_FIGS, MAX_PNG = CONF['maxFigures'], CONF['maxPNG']
MAX_ROWS, MAX_COLS = CONF['maxRows'], CONF['maxCols']
HOME = _getcwd()


class State:
    """What is true of the cell that runs now."""
    n = 0             # number of the cell
    seq = 0           # number of the last event
    sent = 0          # characters of output so far
    end, end_size = [], 0  # the end of a flood
    figures = shown = 0
    live = False      # user code is running: an interrupt may end it
    hold = 0          # depth of sections that an interrupt must not break
    pending = False   # an interrupt came in such a section
    forked = False    # this process is a fork of the kernel, not the kernel


S = State()


class _Hold:
    """Puts an interrupt off while an event is being written: half a line would spoil all that follow."""

    def __enter__(self):
        _lock.acquire()
        if _ident() == _main_ident:
            S.hold += 1

    def __exit__(self, *exc):
        _lock.release()
        if _ident() == _main_ident:
            S.hold -= 1
            if S.pending and not S.hold:
                S.pending = False
                if S.live:
                    raise KeyboardInterrupt


_hold = _Hold()


def _put(fd, b):
    while b:
        b = b[_write(fd, b):]


def emit(kind, **event):
    if S.forked:
        return
    with _hold:
        S.seq += 1
        mark = _mark_head + str(S.seq).encode() + b'\0'
        for n in (1, 2):
            _put(_kept[n], mark)
        event['t'], event['s'] = kind, S.seq
        _put(_evt, _dumps(event, ensure_ascii=False).encode('utf-8', 'replace') + b'\n')


def _interrupt(signum, frame):
    if S.forked:
        raise KeyboardInterrupt
    if not S.live:
        return  # between cells
    if S.hold:
        S.pending = True
        return
    raise KeyboardInterrupt


# ---- streams ----------------------------------------------------------------
import io  # noqa: E402

_wake = threading.Event()


class Stream(io.TextIOBase):
    """sys.stdout and sys.stderr: text goes to the host within 50 ms."""
    encoding, errors, newlines, line_buffering = 'utf-8', 'replace', None, True

    def __init__(self, name, fd):
        self.name, self.mode, self._fd, self._parts, self._size, self._at = name, 'w', fd, [], 0, 0.0
        self.buffer = _Bytes(self)

    def writable(self):
        return True

    def isatty(self):
        return False

    def fileno(self):
        return self._fd

    def close(self):
        pass

    def detach(self):
        raise io.UnsupportedOperation('detach')

    def reconfigure(self, **_):
        pass

    def write(self, s):
        if not isinstance(s, str):
            raise TypeError('write() argument must be str, not ' + type(s).__name__)
        k = len(s)
        if S.forked:
            _put(self._fd, s.encode('utf-8', 'replace'))
            return k
        if S.sent > MAX_TEXT:  # a flood is counted, and only its end is kept
            S.sent += k
            S.end.append((self.name, s))
            S.end_size += k
            if S.end_size > 1 << 18:
                trim_end()
            return k
        with _hold:
            S.sent += k
            other = err if self is out else out
            if other._size:
                other._send()
            self._parts.append(s)
            self._size += k
            if self._size > 32768 or s.endswith('\n') and _clock() - self._at > .05:
                self._send()
            elif not _wake.is_set():
                _wake.set()
        return k

    def _send(self):
        if self._size and not S.forked:
            text = ''.join(self._parts)
            self._parts, self._size, self._at = [], 0, _clock()
            for i in range(0, len(text), 1 << 20):
                emit('out', n=self.name, x=text[i:i + (1 << 20)].encode('utf-8', 'replace').decode())

    def flush(self):
        if self._size and not S.forked:
            with _hold:
                self._send()


def trim_end(most=1 << 14):
    size, i = 0, len(S.end)
    while i > 0 and size < most:
        i -= 1
        size += len(S.end[i][1])
    del S.end[:i]
    if S.end:
        name, s = S.end[0]
        S.end[0] = name, s[max(0, size - most):]
        S.end_size = min(size, most)


def send_end():
    """Sends the end of a flood; returns how much of it is left out."""
    if not S.end:
        return max(0, S.sent - MAX_TEXT)
    trim_end()
    parts = []
    for i, (name, s) in enumerate(S.end):
        parts.append(s)
        if i + 1 == len(S.end) or S.end[i + 1][0] != name:
            emit('out', n=name, x=''.join(parts))
            parts = []
    cut = S.sent - MAX_TEXT - S.end_size
    S.end, S.end_size = [], 0
    return max(0, cut)


class _Bytes(io.RawIOBase):
    """sys.stdout.buffer."""

    def __init__(self, stream):
        self._stream, self._rest = stream, b''

    def writable(self):
        return True

    def fileno(self):
        return self._stream._fd

    def close(self):
        pass

    def write(self, b):
        b = bytes(b)
        self._stream.write(b.decode('utf-8', 'replace'))
        return len(b)

    def flush(self):
        self._stream.flush()


class NoInput(io.TextIOBase):
    """sys.stdin: nobody can type."""
    encoding, errors, name, mode = 'utf-8', 'strict', '<stdin>', 'r'

    def _no(self, *a, **k):
        raise EOFError('no input can be typed here')

    read = readline = readlines = __next__ = _no

    def readable(self):
        return True

    def isatty(self):
        return False

    def close(self):
        pass


out, err, stdin = Stream('stdout', 1), Stream('stderr', 2), NoInput()


def _input(prompt=''):
    if prompt:
        out.write(str(prompt) + '\n')
    stdin._no()


def _flusher():
    """Sends partial lines and progress bars that are not followed by more output."""
    while True:
        _wake.wait()
        time_sleep(.04)
        _wake.clear()
        out.flush()
        err.flush()


time_sleep = time.sleep
_libc = None


def flush_all():
    for s in (sys.stdout, sys.stderr):
        try:
            s.flush()
        except Exception:
            pass
    out.flush()
    err.flush()
    if _libc is not None:
        _libc.fflush(None)  # what C code has printed


# ---- what a value looks like ------------------------------------------------

def bounded(v):
    """repr that neither fails nor fills the memory."""
    try:
        if isinstance(v, (list, tuple, set, frozenset, dict)) and type(v).__module__ == 'builtins' and len(v) > 2000:
            import itertools
            if isinstance(v, dict):
                head = dict(itertools.islice(v.items(), 200))
            else:
                head = list(itertools.islice(v, 200))
            r = repr(head)
            return clip(r[:-1], MAX_REPR) + ', ... and %d more items%s' % (len(v) - 200, r[-1])
        if isinstance(v, (str, bytes)) and len(v) > MAX_REPR:
            return clip(repr(v[:MAX_REPR]), MAX_REPR) + '... %d in all' % len(v)
        return clip(repr(v), MAX_REPR)
    except Exception as e:
        return '<%s object, its repr raised %s>' % (type(v).__name__, type(e).__name__)


def clip(s, most):
    return s if len(s) <= most else s[:most] + '... [%d characters cut]' % (len(s) - most)


def cell_value(v):
    """One table cell as something JSON can hold exactly."""
    try:
        if v is None or isinstance(v, bool):
            return v
        if hasattr(v, 'item') and getattr(v, 'shape', None) == () and type(v).__module__ == 'numpy':
            v = v.item()
        if isinstance(v, bool):
            return v
        if isinstance(v, int):
            return int(v) if -(1 << 53) <= v <= 1 << 53 else str(v)  # beyond that a browser would round
        if isinstance(v, float):
            if v != v:
                return None
            return float(v) if abs(v) != float('inf') else str(v)
        if type(v).__name__ in ('NAType', 'NaTType'):
            return None
        if isinstance(v, tuple):
            return clip(', '.join(str(x) for x in v), 300)
        return clip(str(v), 300).encode('utf-8', 'replace').decode()
    except Exception:
        return '?'


def label(c):
    return clip(' / '.join(str(x) for x in c) if isinstance(c, tuple) else str(c), 200)


def pandas_table(df):
    sub = df.iloc[:MAX_ROWS, :MAX_COLS]
    rows = sub.itertuples(index=False, name=None) if sub.shape[1] else [() for _ in range(len(sub))]
    return dict(columns=[label(c) for c in sub.columns], types=[str(d) for d in sub.dtypes],
                index=[cell_value(i) for i in sub.index], rows=[[cell_value(v) for v in r] for r in rows],
                shape=[int(df.shape[0]), int(df.shape[1])])


def polars_table(df):
    sub = df[:MAX_ROWS, :MAX_COLS]
    rows = sub.rows()
    return dict(columns=[label(c) for c in sub.columns], types=[str(d) for d in sub.dtypes],
                index=list(range(len(rows))), rows=[[cell_value(v) for v in r] for r in rows],
                shape=[int(df.shape[0]), int(df.shape[1])])


def table(v):
    """The table in v, or None."""
    pd, pl = sys.modules.get('pandas'), sys.modules.get('polars')
    if pd is not None and hasattr(pd, 'DataFrame'):
        if isinstance(v, pd.DataFrame):
            return pandas_table(v)
        if isinstance(v, pd.Series):
            return pandas_table(v.to_frame(name=v.name if v.name is not None else 'value'))
    if pl is not None and hasattr(pl, 'DataFrame'):
        if isinstance(v, pl.DataFrame):
            return polars_table(v)
        if isinstance(v, pl.Series):
            return polars_table(v.to_frame())
    return None


def is_figure(v):
    fig = sys.modules.get('matplotlib.figure')
    return fig is not None and isinstance(v, fig.Figure)


def send_png(png, text):
    import base64
    if S.figures >= MAX_FIGS:
        if S.figures == MAX_FIGS:
            err.write('Only the first %d pictures of a run are shown.\n' % MAX_FIGS)
            S.figures += 1
        return
    if len(png) > MAX_PNG:
        err.write('A picture of %d MB is too large to show.\n' % (len(png) >> 20))
        return
    S.figures += 1
    flush_all()
    emit('show', d={'text/plain': text, 'image/png': base64.b64encode(png).decode()})


def send_figure(fig):
    b = io.BytesIO()
    warnings = sys.modules['warnings']
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings('ignore', message='.*tight_layout.*|.*Tight layout.*|.*constrained_layout.*')
            fig.savefig(b, format='png', dpi=min(fig.dpi, 110), bbox_inches='tight')
    except Exception as e:
        err.write('The figure could not be drawn: %s: %s\n' % (type(e).__name__, clip(str(e), 300)))
        return
    title = ''
    for ax in fig.axes:
        title = title or ax.get_title()
    send_png(b.getvalue(), '<Figure%s with %d axes>' % (' ' + clip(repr(title), 80) if title else '', len(fig.axes)))


def show_figures(*_, **__):
    """plt.show(): sends every open figure and closes it, so that none is shown twice."""
    plt = sys.modules.get('matplotlib.pyplot')
    if plt is None or not hasattr(plt, 'get_fignums'):
        return
    for n in plt.get_fignums():
        fig = plt.figure(n)
        if fig.axes or fig.texts or fig.images:
            send_figure(fig)
    plt.close('all')


def show_value(v):
    """Shows one value in the richest way there is; returns its text."""
    if is_figure(v):
        send_figure(v)
        plt = sys.modules.get('matplotlib.pyplot')
        if plt is not None:
            plt.close(v)
        return '<Figure>'
    text = bounded(v)
    data = {'text/plain': text.encode('utf-8', 'replace').decode()}
    try:
        t = table(v)
        if t is not None:
            data[CONF['tableMIME']] = _dumps(t, ensure_ascii=False)
        elif not isinstance(v, type) and hasattr(v, '_repr_png_'):
            png = v._repr_png_()
            if isinstance(png, bytes):
                send_png(png, text)
                return text
    except Exception as e:
        err.write('The value could not be shown in full: %s: %s\n' % (type(e).__name__, clip(str(e), 300)))
    S.shown += 1
    if S.shown <= CONF['maxShown']:
        flush_all()
        emit('show', d=data)
    return text


def display(*values, **_):
    """Shows values in the chat: tables, pictures, text."""
    for v in values:
        show_value(v)


def quiet(v):
    """Plot calls return artists that nobody wants to read."""
    if isinstance(v, (list, tuple)) and v:
        return quiet(v[0])
    if type(v).__module__ == 'numpy' and getattr(v, 'dtype', None) == object and getattr(v, 'size', 0):
        return quiet(v.flat[0])  # an array of axes
    if isinstance(v, (list, tuple)) or is_figure(v):
        return False
    return type(v).__module__.split('.')[0] == 'matplotlib' and 'matplotlib.pyplot' in sys.modules


# ---- libraries that need a word when they are imported ----------------------

def on_pandas(pd):
    for name, v in (('display.width', 160), ('display.max_columns', 30), ('display.max_colwidth', 60)):
        try:
            pd.set_option(name, v)
        except Exception:
            pass


def on_matplotlib(mpl):
    mpl.use = lambda *a, **k: None  # there is one backend, and it must stay
    try:
        mpl.rcParams['figure.max_open_warning'] = 0
    except Exception:
        pass


def before_matplotlib():
    """Gives matplotlib the prepared font list: making one takes seconds, and the prepared folder is read-only."""
    src, dst = CONF.get('mpl'), os.environ.get('MPLCONFIGDIR')
    if not dst:
        return
    try:
        os.makedirs(dst, exist_ok=True)
        for name in os.listdir(src) if src else ():
            if name.startswith('fontlist') and not os.path.exists(os.path.join(dst, name)):
                with open(os.path.join(src, name), 'rb') as f, open(os.path.join(dst, name), 'wb') as g:
                    g.write(f.read())
    except OSError:
        pass  # it then makes its own


def on_multiprocessing(m):
    if sys.platform == 'linux' and sys.version_info >= (3, 14):
        try:
            m.set_start_method('fork')  # a fork server does not know the functions of cells
        except RuntimeError:
            pass


def on_tkinter(tk):
    def no(*a, **k):
        raise RuntimeError('windows cannot be opened here: there is no display')
    tk.mainloop = tk.Misc.mainloop = no


BACKEND = 'atoll_figures'


def make_backend(m):
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.backend_bases import FigureManagerBase
    m.FigureCanvas, m.FigureManager, m.show = FigureCanvasAgg, FigureManagerBase, show_figures


def make_ipython(m):
    # Even where the real one is installed: its display() only prints outside of a notebook.
    m.display, m.clear_output = display, lambda *a, **k: None

    class HTML:
        def __init__(self, data=None, filename=None, **_):
            self.data = data

        def __repr__(self):
            return str(self.data)

    class Image:
        def __init__(self, data=None, filename=None, **_):
            name = filename or (data if isinstance(data, str) else None)
            if name:
                with open(name, 'rb') as f:
                    data = f.read()
            self.data = data

        def _repr_png_(self):
            return self.data if self.data[:8] == b'\x89PNG\r\n\x1a\n' else None
    m.HTML = m.Markdown = m.Pretty = HTML
    m.Image = Image


def make_ipython_root(m):
    m.__path__ = []
    m.get_ipython, m.version_info = lambda: None, (8, 0, 0)


class Finder:
    """Makes the modules that exist only here and has a word with some others."""
    made = {BACKEND: make_backend, 'IPython': make_ipython_root, 'IPython.display': make_ipython}
    first = {'matplotlib': before_matplotlib}
    then = {'pandas': on_pandas, 'matplotlib': on_matplotlib, 'multiprocessing': on_multiprocessing, 'tkinter': on_tkinter}
    busy = set()

    def find_spec(self, name, path=None, target=None):
        if name not in self.made and name not in self.then or name in self.busy:
            return None
        from importlib.machinery import ModuleSpec
        import importlib.util
        if name in self.made:
            return ModuleSpec(name, Maker(self.made[name]), is_package=name == 'IPython')
        self.busy.add(name)
        try:
            spec = importlib.util.find_spec(name) if path is None else None
        except (ImportError, ValueError, AttributeError):
            spec = None
        finally:
            self.busy.discard(name)
        if spec is None or spec.loader is None:
            return spec
        if name in self.first:
            self.first[name]()
        spec.loader = After(spec.loader, self.then[name])
        return spec


class Maker:
    def __init__(self, fill):
        self.fill = fill

    def create_module(self, spec):
        return None

    def exec_module(self, m):
        self.fill(m)


class After:
    """A loader that calls a function when the module is there."""

    def __init__(self, loader, call):
        self._loader, self._call = loader, call

    def __getattr__(self, name):
        return getattr(self._loader, name)

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, m):
        m.__loader__ = m.__spec__.loader = self._loader  # importlib.resources looks at its type
        self._loader.exec_module(m)
        self._call(m)


# ---- faults of the cell -----------------------------------------------------
DRIVER = '<kernel>'


def is_user(filename):
    return filename.startswith('<cell ') or (filename.startswith(HOME + os.sep) and 'site-packages' not in filename)


def frames_of(e):
    """(filename, line, function) of the traceback, without the kernel's own."""
    found, tb, n = [], e.__traceback__, 0
    while tb is not None and n < 5000:
        code = tb.tb_frame.f_code
        if code.co_filename != DRIVER:
            found.append((code.co_filename, tb.tb_lineno, code.co_name))
        tb, n = tb.tb_next, n + 1
    return found


def library(filename):
    for part in ('site-packages', 'dist-packages', os.path.basename(CONF.get('site') or '') or 'site-packages'):
        head, sep, rest = filename.rpartition(os.sep + part + os.sep)
        if sep:
            return rest.split(os.sep)[0].replace('.py', '')
    if filename.startswith('<frozen '):
        return filename[8:-1]
    return os.path.basename(filename).replace('.py', '')


def stack_lines(found):
    """The cell's own frames in full; of a library only how deep and where it ended."""
    lines, i, shown = [], 0, 0
    while i < len(found):
        name, no, func = found[i]
        if is_user(name):
            same = 1
            while i + same < len(found) and found[i + same] == found[i]:
                same += 1
            shown += 1
            if shown <= 8 or len(found) - i <= 4:
                lines.append('  File "%s", line %d, in %s' % (name, no, func))
                src = linecache.getline(name, no).strip()
                if src:
                    lines.append('    ' + clip(src, 200))
                if same > 1:
                    lines.append('  [the same line %d more times]' % (same - 1))
            elif shown == 9:
                lines.append('  ...')
            i += same
            continue
        j = i
        while j < len(found) and not is_user(found[j][0]):
            j += 1
        lines.append('  ... %d frame%s in %s, the last one in %s' % (j - i, 's' if j - i > 1 else '', library(name), found[j - 1][2]))
        i = j
    return lines


def only(e):
    import traceback
    try:
        return clip(''.join(traceback.format_exception_only(type(e), e)).rstrip('\n'), 3000)
    except Exception:
        return type(e).__name__


def trace(e, depth=0):
    parts, seen = [], set()
    while e is not None and len(parts) < 4 and id(e) not in seen:
        seen.add(id(e))
        found = frames_of(e)
        lines = ['Traceback (most recent call last):'] + stack_lines(found) if found else []
        text = '\n'.join(lines + [only(e)])
        for sub in list(getattr(e, 'exceptions', None) or ())[:5] if depth < 2 else ():
            text += '\n' + '\n'.join('  | ' + s for s in trace(sub, depth + 1).splitlines())
        cause = e.__cause__
        before = cause if cause is not None else (None if e.__suppress_context__ else e.__context__)
        while before is not None and not any(is_user(f[0]) for f in frames_of(before)):
            cause = before.__cause__  # inside a library: of no use to the reader
            before = cause if cause is not None else before.__context__
            if before is not None and id(before) in seen:
                before = None
        parts.append((text, e.__cause__ is not None))
        e = before
    out_text = parts[-1][0]
    for i in range(len(parts) - 2, -1, -1):
        text, direct = parts[i]
        joint = 'The above exception was the direct cause of the following exception:' if direct else 'During handling of the above exception, another exception occurred:'
        out_text += '\n\n' + joint + '\n\n' + text
    return out_text


def line_of(e):
    if isinstance(e, SyntaxError) and (e.filename or '').startswith('<cell '):
        return e.lineno or 0
    here = '<cell %d>' % S.n
    lines = [no for name, no, _ in frames_of(e) if name == here]
    if not lines:
        lines = [no for name, no, _ in frames_of(e) if name.startswith('<cell ')]
    return lines[-1] if lines else 0


def example(col):
    try:
        for v in col.head(50):
            if v is not None and v == v:
                return clip(str(v), 40)
    except Exception:
        pass
    return ''


def frame_facts(name, df):
    cols = []
    for i, c in enumerate(df.columns[:60]):
        col = df.iloc[:, i] if hasattr(df, 'iloc') else df[c]
        cols.append(dict(name=label(c), type=str(col.dtype), example=example(col), text=isinstance(c, str)))
    return dict(name=name, columns=cols, shape=[int(df.shape[0]), int(df.shape[1])])


def facts(e):
    """What there is, so that the host can say what would have been right."""
    found = dict(frames=[], dicts=[], names=[], files=[], attrs=[], modules=[])
    spaces, tb = [main.__dict__], e.__traceback__
    while tb is not None:
        if is_user(tb.tb_frame.f_code.co_filename) and tb.tb_frame.f_locals is not main.__dict__:
            spaces.insert(0, tb.tb_frame.f_locals)
        tb = tb.tb_next
    mods = [m for m in (sys.modules.get('pandas'), sys.modules.get('polars')) if m is not None and hasattr(m, 'DataFrame')]
    seen, seen_ids = set(), set()
    for space in spaces[:4]:
        for k, v in list(space.items()):
            if k.startswith('_') or k in seen or k in hidden and main.__dict__.get(k) is hidden[k]:
                continue
            seen.add(k)
            if len(found['names']) < 200:
                found['names'].append(k)
            if id(v) in seen_ids:
                continue
            seen_ids.add(id(v))
            if any(isinstance(v, m.DataFrame) for m in mods):
                if len(found['frames']) < 6:
                    found['frames'].append(frame_facts(k, v))
            elif isinstance(v, dict) and isinstance(e, KeyError) and len(found['dicts']) < 6:
                found['dicts'].append(dict(name=k, keys=[clip(str(x), 80) for x in list(v)[:60]]))
    if isinstance(e, OSError):
        try:
            found['files'] = sorted(f for f in os.listdir('.') if not f.startswith('.'))[:60]
        except OSError:
            pass
        if isinstance(e.filename, (str, bytes)):
            found['file'] = os.fsdecode(e.filename).encode('utf-8', 'replace').decode()
        found['errno'] = e.errno or 0
    if isinstance(e, (AttributeError, NameError, ImportError)):
        found['name'] = str(getattr(e, 'name', None) or '')
    if isinstance(e, AttributeError):
        obj = getattr(e, 'obj', None)
        if obj is not None:
            found['attrs'] = [a for a in dir(obj) if not a.startswith('_')][:600]
    if isinstance(e, ModuleNotFoundError):
        from importlib.machinery import PathFinder
        found['modules'] = [m for m in CONF['common'] if m in sys.modules or PathFinder.find_spec(m) is not None]
    return found


def fault(e):
    try:
        message = clip(str(e), 2000)
    except Exception:
        message = ''
    r = dict(name=type(e).__name__, bases=[c.__name__ for c in type(e).__mro__[1:6]], message=message, line=line_of(e), trace=trace(e))
    if len(r['trace']) > 8000:
        r['trace'] = r['trace'][:4000] + '\n... [cut] ...\n' + r['trace'][-4000:]
    if not isinstance(e, KeyboardInterrupt):
        try:
            r['facts'] = facts(e)
        except Exception:
            pass
    return clean(r)


def clean(v):
    """Without lone surrogates, which JSON for the host must not hold."""
    if isinstance(v, str):
        return v.encode('utf-8', 'replace').decode()
    if isinstance(v, dict):
        return {k: clean(x) for k, x in v.items()}
    if isinstance(v, list):
        return [clean(x) for x in v]
    return v


_warned = set()


def show_warning(message, category, filename, lineno, file=None, line=None):
    """Once for each text, in one short line."""
    text = clip(' '.join(str(message).split()), 240)
    if (category, text) in _warned:
        return
    if len(_warned) < 1000:
        _warned.add((category, text))
    where = ' (line %d)' % lineno if is_user(filename) else ''
    (file or sys.stderr).write('%s: %s%s\n' % (category.__name__, text, where))


# ---- cells ------------------------------------------------------------------
main = types.ModuleType('__main__')
main.__dict__.update(__builtins__=builtins, display=display)
hidden = {'display': display}
sys.modules['__main__'] = main
_flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
_loop = None


def evaluate(code):
    global _loop
    got = eval(code, main.__dict__)
    if not code.co_flags & 0x80:  # CO_COROUTINE: no await at the top level
        return got
    import asyncio
    if _loop is None or _loop.is_closed():
        _loop = asyncio.new_event_loop()
        asyncio.set_event_loop(_loop)
    task = _loop.create_task(got)
    try:
        return _loop.run_until_complete(task)
    except BaseException:
        if not task.done():
            task.cancel()
            try:
                _loop.run_until_complete(task)
            except BaseException:
                pass
        raise


def notebook(src):
    """Leaves out lines that only set up a notebook's plots; the line numbers stay."""
    if '%' not in src:
        return src
    return '\n'.join('' if s.lstrip().startswith(('%matplotlib', '%config InlineBackend', '%load_ext')) else s for s in src.split('\n'))


def run_cell(src):
    """Runs one cell; returns the text of its last expression, or None."""
    global _flags
    name = '<cell %d>' % S.n
    linecache.cache[name] = (len(src), None, [s + '\n' for s in src.split('\n')], name)
    tree = compile(notebook(src), name, 'exec', _flags | ast.PyCF_ONLY_AST, dont_inherit=True)
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == '__future__':
            import __future__
            for a in node.names:
                _flags |= getattr(getattr(__future__, a.name, None), 'compiler_flag', 0)  # stays on, as in a notebook
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr) and not ends_with_semicolon(src):
        last = ast.Expression(tree.body.pop().value)
    body = compile(tree, name, 'exec', _flags, dont_inherit=True)
    last = compile(last, name, 'eval', _flags, dont_inherit=True) if last is not None else None
    evaluate(body)
    if last is None:
        return None
    v = evaluate(last)
    if v is None:
        return None
    main.__dict__['_'] = v
    return None if quiet(v) else show_value(v)


def ends_with_semicolon(src):
    s = src.rstrip()
    if s.endswith(';'):
        return '#' not in s.rpartition('\n')[2] or s.rpartition('\n')[2].split('#')[0].rstrip().endswith(';')
    last = s.rpartition('\n')[2]
    return '#' in last and last.partition('#')[0].rstrip().endswith(';')


def repair():
    """Puts back what a cell may have broken."""
    for n, keep in _kept.items():
        try:
            a, b = _fstat(n), _fstat(keep)
            if (a.st_dev, a.st_ino) == (b.st_dev, b.st_ino):
                continue
        except OSError:
            pass
        try:
            _dup2(keep, n)
        except OSError:
            pass
    sys.stdout = sys.__stdout__ = out
    sys.stderr = sys.__stderr__ = err
    sys.stdin = sys.__stdin__ = stdin
    builtins.input = _input
    sys.settrace(None)
    sys.setprofile(None)
    sys.modules['__main__'] = main
    sys.modules['warnings'].showwarning = show_warning
    signal.signal(signal.SIGINT, _interrupt)
    if hasattr(signal, 'SIGALRM'):
        signal.setitimer(signal.ITIMER_REAL, 0)  # an alarm of a former cell would end the kernel
    try:
        _getcwd()
    except OSError:
        _chdir(HOME)


def guarded_closerange(low, high):
    for fd in sorted(f for f in _own if low <= f < high):
        _closerange(low, fd)
        low = fd + 1
    _closerange(low, high)


def guarded_close(fd):
    if fd in _own and not S.forked:
        raise OSError(9, 'Bad file descriptor')
    _close(fd)


def after_fork():
    """A forked child is no kernel: it keeps neither the host's connection nor the marks."""
    global _lock
    S.forked, S.live = True, True
    _lock = threading.RLock()
    for s in (out, err):
        s._parts, s._size = [], 0
    for fd in (_req, _evt):
        try:
            _close(fd)
        except OSError:
            pass


def execute(request):
    S.n, S.sent, S.figures, S.shown, S.pending = request['n'], 0, 0, 0, False
    S.end, S.end_size = [], 0
    status, value, error, code = 'ok', None, None, None
    repair()
    try:
        try:
            S.live = True
            value = run_cell(request['code'])
            if not S.forked:
                show_figures()
        finally:
            S.live = False
    except SystemExit as e:
        S.live = False
        code = e.code
        status = 'exit'
        error = None if code is None or code is False or code == 0 and not isinstance(code, str) else fault(e)
    except KeyboardInterrupt as e:
        S.live = False
        status, error = 'interrupted', fault(e)
    except MemoryError as e:
        S.live = False
        status, error = 'error', fault(e)
        e.__traceback__ = None
    except BaseException as e:
        S.live = False
        status, error = 'error', fault(e)
    if S.forked:
        flush_fork(status, error)
    return status, value, error, code


def flush_fork(status, error):
    if error and status == 'error':
        _put(2, (error['trace'] + '\n').encode('utf-8', 'replace'))
    _exit(0 if status == 'ok' or status == 'exit' and error is None else 1)


def serve():
    global _libc
    threading.Thread(target=_flusher, daemon=True).start()
    import faulthandler
    faulthandler.enable(file=_kept[2], all_threads=False)
    if hasattr(os, 'register_at_fork'):
        os.register_at_fork(after_in_child=after_fork)
    os.closerange, os.close = guarded_closerange, guarded_close
    sys.meta_path.insert(0, Finder())
    os.environ['MPLBACKEND'] = 'module://' + BACKEND
    sys.argv = ['']
    if CONF.get('site'):
        at = next((i for i, p in enumerate(sys.path) if p.endswith(('site-packages', 'dist-packages'))), len(sys.path))
        sys.path.insert(at, CONF['site'])
    sys.path.append(HOME)  # last: a file of the user must not stand in for a library
    repair()
    emit('ready', python='%d.%d.%d' % sys.version_info[:3])
    try:
        import ctypes
        _libc = ctypes.CDLL(None) if os.name == 'posix' else None
    except Exception:
        pass  # then what C code prints comes when its buffer is full
    while True:
        line = _readline()
        if line is None:
            return
        request = json.loads(line)
        start = _clock()
        try:
            status, value, error, code = execute(request)
        except KeyboardInterrupt:
            status, value, error, code = 'interrupted', None, None, None
        S.live = False
        if S.forked:
            _exit(1)
        if status != 'ok':
            try:
                show_figures()
            except Exception:
                pass
        repair()
        flush_all()
        cut = send_end()
        emit('done', k=request['token'], status=status, value=clean(value), err=error, code=clean(clip(str(code), 200)), cut=cut,
             ms=(_clock() - start) * 1000)
        del error, value, code


serve()
# The host has closed the connection. Threads that cells started must not hold the process.
_exit(0)
