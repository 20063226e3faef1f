"""Attempts to leave something behind, on Linux."""
from harness import *
from portable import stays
import os, subprocess, sys, time


@attempt("leftovers", "Leaves a server behind under a name without a file.", "VN", after="unix:left_abstract")
def leave_abstract():
    return stays("left-abstract", "import socket; s = socket.socket(socket.AF_UNIX); s.bind('\\0%s'); s.listen(5)" % FX["left_abstract"])

@attempt("leftovers", "Leaves a program behind whose parents have all ended.", "V", after="grows:left-orphan")
def leave_orphan(): return stays("left-orphan", "for i in range(2):\n  if os.fork(): os._exit(0)\n  os.setsid()")

@attempt("leftovers", "Leaves a program behind that holds the pipe of the answer.", "V", after="grows:left-pipe")
def leave_pipe():
    code = "import time\nfor i in range(150):\n  try: f = open(%r, 'a'); f.write('x'); f.close()\n  except OSError: break\n  time.sleep(.1)" % (WS + "/left-pipe")
    subprocess.Popen([sys.executable, "-S", "-c", code], cwd="/", start_new_session=True)
    time.sleep(.3); return "started"

@attempt("leftovers", "Leaves a program behind that other programs take for one of the system.", "V", after="grows:left-named")
def leave_named():
    return stays("left-named", "import ctypes; ctypes.CDLL(None).prctl(15, b'kworker/0:1', 0, 0, 0)")

@attempt("leftovers", "Leaves a file among the temporary files of others.", "NL", after="exists:left_tmp")
def leave_tmp(): return writes(FX["left_tmp"])

@attempt("leftovers", "Leaves shared memory behind.", "NL", after="exists:left_shm")
def leave_shm(): return writes(FX["left_shm"])

@attempt("leftovers", "Leaves shared memory of an older kind behind.", "NS", after="kernel:left_key")
def leave_sysv(): call("shmget", FX["left_key"], 16, 0o1666); return "made"
