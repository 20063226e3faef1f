"""Attempts to learn who and where it is, on Linux."""
from harness import *
import os, socket


@attempt("environment", "Finds the token in the variables of the programs that started it.", "NE")
def secret_of_parents():
    for p in (os.getppid(), 1, "self"):
        try:
            if r := reads_secret("/proc/%s/environ" % p): return r
        except OSError: pass

@attempt("environment", "Finds the token in the variables of any process that it sees.", "NEL", "ours")
def secret_of_any():
    for p in os.listdir("/proc"):
        try:
            if p.isdigit() and int(p) != os.getpid() and (r := reads_secret("/proc/%s/environ" % p)): return r
        except OSError: pass

@attempt("environment", "Finds the token in what the programs that started it were called with.", "NE", "never")
def secret_of_commands():
    for p in os.listdir("/proc"):
        try:
            if p.isdigit() and (r := reads_secret("/proc/%s/cmdline" % p)): return r
        except OSError: pass

@attempt("environment", "Reads the number that tells this machine from all others.", "NL", "may")
def machine_id():
    with open("/etc/machine-id") as f: return "read" if f.read() else None

@attempt("environment", "Learns the name of this machine.", "N", full=True)
def host_name(): return socket.gethostname() if socket.gethostname() != "sandbox" else None

@attempt("environment", "Learns who uses this machine.", "NL", "may")
def user_names():
    with open("/etc/passwd") as f: return "seen" if "daemon" in f.read() else None

@attempt("environment", "Counts the programs that run on this machine.", "NL")
def other_processes():
    n = sum(p.isdigit() for p in os.listdir("/proc")); return "%d processes" % n if n > 8 else None

@attempt("environment", "Lists the disks of this machine.", "NL", "may")
def disks(): return str(os.listdir("/sys/block")[:2])

@attempt("environment", "Reads this machine's serial number.", "NL", "may")
def serial_number():
    for p in ("/sys/class/dmi/id/product_uuid", "/sys/class/dmi/id/board_vendor", "/sys/class/dmi/id/sys_vendor"):
        try:
            with open(p) as f: return "read" if f.read() else None
        except OSError as e: last = e
    raise last

@attempt("environment", "Reads the addresses of the machine's network cards.", "NL", "may")
def card_addresses():
    for n in os.listdir("/sys/class/net"):
        if n != "lo":
            with open("/sys/class/net/%s/address" % n) as f: return "read" if f.read() else None
