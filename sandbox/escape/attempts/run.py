"""Makes the attempts, one process each, and prints one JSON object a line.

usage: run.py [control [ours]]
       run.py one NAME
"""
import errno, importlib, json, os, signal, subprocess, sys

import harness
from harness import ATTEMPTS, OS, answer, made

MODULES = {
    "linux": ["portable", "files", "persistence", "processes", "messages", "network", "kernel", "devices", "environment", "leftovers"],
    "darwin": ["portable", "darwin"],
    "windows": ["portable", "windows"],
}
for m in MODULES[OS]:
    importlib.import_module(m)


def forked(f):
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(r)
        harness.RESULT = w
        signal.alarm(10)
        os.write(w, json.dumps(answer(f)).encode())
        os._exit(0)
    os.close(w)
    got = os.read(r, 65536)
    os.close(r)
    status = os.waitpid(pid, 0)[1]
    if got:
        return json.loads(got)
    if os.WIFSIGNALED(status):
        return "stopped", signal.Signals(os.WTERMSIG(status)).name
    return "stopped", "ended with %d" % os.WEXITSTATUS(status)


def started(name):
    """For systems without fork."""
    try:
        p = subprocess.run([sys.executable, "-B", "run.py", "one", name], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=10)
        return json.loads(p.stdout)
    except subprocess.TimeoutExpired:
        return "stopped", "did not end"
    except ValueError:
        return "stopped", "ended with %d" % p.returncode
    except OSError as e:
        return "stopped", errno.errorcode.get(e.errno, str(e))


if sys.argv[1:2] == ["one"]:
    f = [f for about, f in ATTEMPTS if about["name"] == sys.argv[2]][0]
    print(json.dumps(answer(f)))
    sys.exit()
for about, f in ATTEMPTS:
    result, note = "skipped", ""
    if made(about["control"]):
        result, note = forked(f) if hasattr(os, "fork") else started(about["name"])
    print(json.dumps(dict(about, result=result, note=note)), flush=True)
