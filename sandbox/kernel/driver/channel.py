"""The inside of a Python kernel: runs cells, one at a time, and tells the host what they show.

Standard library only, Python 3.9 and newer. It is read from the first of FILES,
descriptor 3 where there are such numbers, so there is no file that a cell could
change. Then, on the same descriptor, come JSON lines: first the settings, then
one request for each cell. The second takes JSON lines with the events. What a cell's child processes and C code
write to descriptors 1 and 2 is read by the host as it is; before each event a
mark goes to both, so that the host can put all of it in order.

These files are one program, put together in this order: channel, streams,
values, fonts, libraries, load, guess, attempts, faults, cells.

Cells share this process: nothing here is a boundary. The host trusts no event.
"""
import ast
import builtins
import io
import json
import linecache
import os
import signal
import sys
import threading
import time
import types
import warnings

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


_req, _evt = _up(FILES[0], 900), _up(FILES[1], 901)
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
    old_fonts = False # matplotlib's list of fonts is older than the fonts
    no_glyph = False  # it was said that fonts lack signs
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
