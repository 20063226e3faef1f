"""What attempts are made of.

One attempt is one short function with its sentence:

    @attempt("files", "Reads a private key in the home folder.", "NL")
    def read_key(): return reads_secret(HOME + "/.ssh/id_rsa")

It returns words when it has escaped, None or an OSError when it was stopped, and
raises Absent where the machine has no such thing. The letters name the layers
that would stop it, each alone: N namespaces, M read-only mounts, L Landlock,
S seccomp, R no rights, X limits, E clean environment, V ended with the sandbox.
"""
import ctypes, errno, json, os, socket, sys

with open("facts.json") as f:
    FX = json.load(f)
HOME, OUT, WS, PROJECT, SECRET = FX["home"], FX["outside"], FX["ws"], FX["project"], FX["secret"]
VICTIM = FX["victim"]
NR, AMD64 = FX.get("nr", {}), FX["amd64"]
OS = {"win32": "windows", "darwin": "darwin"}.get(sys.platform, "linux")
CONTROL = "control" in sys.argv[1:]
OURS = "ours" in sys.argv[1:]
ATTEMPTS = []
RESULT = -1  # the descriptor that an attempt answers on
libc = ctypes.CDLL(None, use_errno=True) if OS != "windows" else None


class Absent(Exception):
    """There is no such thing here."""


def attempt(group, plain, by, control="must", os="linux", full=False, after=""):
    """control: without the sandbox it must succeed, may, only may on a machine
    for tests ("ours", it touches more than decoys), or is never made there.
    full: only the full level promises it. after: what the test looks at when
    the program has ended: grows:FILE, exists:, unix:, tcp: or kernel:FACT."""
    def register(f):
        if OS in os.split():
            ATTEMPTS.append((dict(group=group, name=f.__name__, plain=plain, control=control, by=by, full=full, after=after), f))
        return f
    return register


def made(control):
    """Whether an attempt is made in this run."""
    return not CONTROL or control in ("must", "may") or control == "ours" and OURS


def call(name, *args):
    """A raw system call; raises OSError. Numbers may be given directly."""
    libc.syscall.restype = ctypes.c_long
    nr = name if isinstance(name, int) else NR[name]
    ctypes.set_errno(0)
    r = libc.syscall(ctypes.c_long(nr), *[ctypes.c_void_p(a & (1 << 64) - 1) if isinstance(a, int) else a for a in args])
    if r < 0:
        e = ctypes.get_errno()
        raise OSError(e, os.strerror(e), str(name))
    return r


def passes(name, *args, errors=()):
    """Escaped when the call went past its permission check."""
    try:
        call(name, *args)
    except OSError as e:
        if e.errno in errors:
            return "only the arguments were bad: " + errno.errorcode[e.errno]
        raise
    return "call succeeded"


def text(s):
    return ctypes.c_char_p(s.encode())


def buffer(n):
    return ctypes.byref(ctypes.create_string_buffer(n))


def reads_secret(path):
    with open(path, "rb") as f:
        return "secret read" if SECRET.encode() in f.read(4096) else None


def writes(path, mode="w"):
    with open(path, mode) as f:
        f.write("pwned\n")
    return "written"


def only_amd64():
    if not AMD64:
        raise Absent


def need(path):
    """The folder is there, so that creating something in it means something:
    inside, an empty folder of the same name may be private."""
    if not os.path.exists(path):
        raise FileNotFoundError(errno.ENOENT, "not there")


def pong(address, kind=socket.SOCK_STREAM):
    s = socket.socket(socket.AF_UNIX, kind)
    s.settimeout(2)
    s.connect(address)
    s.send(b"x")
    return s.recv(8).decode()


def answer(f):
    """Makes one attempt in this process."""
    try:
        note = f()
        return ("escaped", str(note)[:300]) if note else ("stopped", "nothing reached")
    except Absent as e:
        return "absent", str(e)
    except OSError as e:
        return "stopped", errno.errorcode.get(e.errno, str(e))
    except Exception as e:
        return "stopped", repr(e)[:200]
