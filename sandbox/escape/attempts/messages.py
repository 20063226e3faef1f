from harness import *
import ctypes, errno, fcntl, mmap, os, signal, socket, stat, struct, sys, time

def pong(address, kind=socket.SOCK_STREAM):
    s = socket.socket(socket.AF_UNIX, kind); s.settimeout(2); s.connect(address); s.send(b"x"); return s.recv(8).decode()

@attempt("messages", "Socket in home.", "NS")
def socket_in_home(): return pong(FX["sock_home"])

@attempt("messages", "Socket in tmp.", "NS")
def socket_in_tmp(): return pong(FX["sock_tmp"])

@attempt("messages", "Socket abstract.", "NS")
def socket_abstract(): return pong("\0" + FX["sock_abstract"])

@attempt("messages", "Socket abstract datagram.", "NS")
def socket_abstract_datagram():
    s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.connect("\0" + FX["sock_abstract_datagram"]); s.send(b"x"); return "sent"

@attempt("messages", "System sockets.", "NS")
def system_sockets():
    for p in ("/run/docker.sock", "/var/run/docker.sock", "/run/dbus/system_bus_socket", "/tmp/.X11-unix/X0", FX["sock_tmp"]):
        try: s = socket.socket(socket.AF_UNIX); s.connect(p); return p
        except OSError: pass

@attempt("messages", "Sysv memory.", "NS")
def sysv_memory(): return passes("shmat", call("shmget", FX["shm_key"], 16, 0), 0, 0)

@attempt("messages", "Sysv list.", "NS")
def sysv_list():
    with open("/proc/sysvipc/shm") as f: return "seen" if str(FX["shm_key"]) in f.read() else None

@attempt("messages", "Posix queue.", "NS", "may")
def posix_queue(): return passes("mq_open", text(FX["mq"]), 0, 0, 0)

@attempt("messages", "Key link.", "NS", "may")
def key_link(): return passes("keyctl", 0, -3, 0)

@attempt("messages", "Key add.", "NS", "may")
def key_add(): return passes("add_key", text("user"), text("atoll-escape"), text("abc"), 3, -2)

@attempt("messages", "Key request.", "NS", "may")
def key_request(): return passes("request_key", text("user"), text("atoll-none"), 0, -2, errors=(errno.ENOKEY,))
