from harness import *
import ctypes, errno, fcntl, mmap, os, signal, socket, stat, struct, sys, time

@attempt("environment", "Secret variable.", "N")
def secret_variable(): return "seen" if any(SECRET in v for v in os.environ.values()) else None

@attempt("environment", "Secret of parents.", "N")
def secret_of_parents():
    for p in (os.getppid(), 1, "self"):
        try:
            if r := reads_secret("/proc/%s/environ" % p): return r
        except OSError: pass

@attempt("environment", "Machine id.", "N", "may")
def machine_id():
    with open("/etc/machine-id") as f: return f.read()

@attempt("environment", "Host name.", "N")
def host_name(): return socket.gethostname() if socket.gethostname() != "sandbox" else None

@attempt("environment", "User names.", "N", "may")
def user_names():
    with open("/etc/passwd") as f: return "seen" if "daemon" in f.read() else None

@attempt("environment", "Other processes.", "N")
def other_processes():
    n = sum(p.isdigit() for p in os.listdir("/proc")); return "%d processes" % n if n > 8 else None
