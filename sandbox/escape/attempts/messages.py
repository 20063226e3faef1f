"""Attempts to talk to other programs on Linux."""
from harness import *
import array, ctypes, errno, os, socket, struct


@attempt("messages", "Talks to a program that listens under a name without a file.", "NLS")
def socket_abstract(): return pong("\0" + FX["sock_abstract"])

@attempt("messages", "Sends a datagram to such a name.", "NLS")
def socket_abstract_datagram():
    s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.connect("\0" + FX["sock_abstract_datagram"]); s.send(b"x"); return "sent"

@attempt("messages", "Hands an open file to a program outside.", "NLS")
def pass_file():
    s = socket.socket(socket.AF_UNIX); s.settimeout(2); s.connect("\0" + FX["sock_abstract"])
    s.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [os.open(".", os.O_RDONLY)]))]); return s.recv(8).decode()

@attempt("messages", "Hands a link to a socket outside to another process, which uses it.", "NS")
def socket_by_descriptor():
    fd = os.open(FX["sock_home"], os.O_PATH); return pong("/proc/self/fd/%d" % fd)

@attempt("messages", "Claims to be the administrator in a message.", "RS", "may")
def false_sender():
    if os.getuid() == 0: raise Absent("it is root")
    a, _ = socket.socketpair()
    a.sendmsg([b"x"], [(socket.SOL_SOCKET, 2, struct.pack("=iII", os.getpid(), 0, 0))]); return "sent as root"

@attempt("messages", "Looks for the sockets of the services that run on this machine.", "N", "never")
def real_sockets():
    uid = os.getuid()
    for p in ("/run/docker.sock", "/var/run/docker.sock", "/run/containerd/containerd.sock", "/run/dbus/system_bus_socket", "/run/systemd/private",
              "/tmp/.X11-unix/X0", "/run/user/%d/bus" % uid, "/run/user/%d/wayland-0" % uid, "/run/user/1000/bus", "/run/snapd.socket"):
        try: s = socket.socket(socket.AF_UNIX); s.connect(p); return p
        except OSError: pass

@attempt("messages", "Talks to the window system under its name without a file.", "NLS", "never")
def window_abstract():
    s = socket.socket(socket.AF_UNIX); s.connect("\0/tmp/.X11-unix/X0"); return "connected"

@attempt("messages", "Writes to the system's log.", "N", "never")
def system_log():
    s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.connect("/dev/log"); return "connected"

@attempt("messages", "Opens memory that another program shares.", "NS")
def sysv_memory(): return passes("shmat", call("shmget", FX["shm_key"], 16, 0), 0, 0)

@attempt("messages", "Lists memory that other programs share.", "NL")
def sysv_list():
    with open("/proc/sysvipc/shm") as f: return "seen" if str(FX["shm_key"]) in f.read() else None

@attempt("messages", "Waits at another program's semaphore.", "NS")
def sysv_semaphore(): return passes("semget", FX["shm_key"], 1, 0)

@attempt("messages", "Reads another program's queue of messages.", "NS")
def sysv_queue(): return passes("msgget", FX["shm_key"], 0)

@attempt("messages", "Opens another program's named queue.", "NS", "may")
def posix_queue(): return passes("mq_open", text(FX["mq"]), 0, 0, 0)

@attempt("messages", "Uses the kernel's store of passwords.", "S", "may")
def key_link(): return passes("keyctl", 0, -3, 0)

@attempt("messages", "Puts a password into that store.", "S", "may")
def key_add(): return passes("add_key", text("user"), text("atoll-escape"), text("abc"), 3, -2)

@attempt("messages", "Asks that store for a password.", "S", "may")
def key_request(): return passes("request_key", text("user"), text("atoll-none"), 0, -2, errors=(errno.ENOKEY,))
