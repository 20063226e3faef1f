"""Attempts at other programs on Linux."""
from harness import *
import ctypes, errno, fcntl, os, signal, socket, struct, time

PARENT = os.getppid()  # of the process that makes the attempts


def vectors():
    """Eight bytes here, and eight at an address that no program has."""
    local = struct.pack("=QQ", ctypes.addressof(ctypes.create_string_buffer(8)), 8)
    return ctypes.c_char_p(local), 1, ctypes.c_char_p(struct.pack("=QQ", 4096, 8)), 1, 0

@attempt("processes", "Signals a thread of another program.", "NL")
def tgkill_victim(): return passes("tgkill", VICTIM, VICTIM, 0)

@attempt("processes", "Signals another program by a handle.", "NL")
def pidfd_signal(): return passes("pidfd_send_signal", call("pidfd_open", VICTIM, 0), 0, 0, 0)

@attempt("processes", "Sends another program data with a signal.", "NL")
def queue_signal(): return passes("rt_sigqueueinfo", VICTIM, 0, ctypes.c_char_p(struct.pack("=iii", 0, 0, -1) + bytes(116)), errors=(errno.EINVAL,))

@attempt("processes", "Has the kernel end another program when data arrives.", "NL")
def sigio_victim():
    a, b = socket.socketpair(); fcntl.fcntl(a, fcntl.F_SETOWN, FX["victim_sigio"])
    fcntl.fcntl(a, 10, signal.SIGTERM)  # F_SETSIG
    fcntl.fcntl(a, fcntl.F_SETFL, fcntl.fcntl(a, fcntl.F_GETFL) | os.O_ASYNC)
    b.send(b"x")
    for _ in range(60):
        with open("/proc/%d/stat" % FX["victim_sigio"]) as f: state = f.read().rsplit(")", 1)[1].split()[0]
        if state == "Z": return "ended"
        time.sleep(.05)

@attempt("processes", "Takes control of another program as a debugger does.", "NLS", "may")
def ptrace_seize(): return passes("ptrace", 0x4206, VICTIM, 0, 0)

@attempt("processes", "Reads another program's memory.", "NLS", "may")
def vm_read(): return passes("process_vm_readv", VICTIM, *vectors(), errors=(errno.EFAULT,))

@attempt("processes", "Writes to another program's memory.", "NLS", "may")
def vm_write(): return passes("process_vm_writev", VICTIM, *vectors(), errors=(errno.EFAULT,))

@attempt("processes", "Reads the variables of another program, where tokens are.", "NL", "may")
def victim_environ(): return reads_secret("/proc/%d/environ" % VICTIM)

@attempt("processes", "Opens another program's memory as a file.", "NL", "may")
def victim_memory(): os.open("/proc/%d/mem" % VICTIM, os.O_RDWR); return "opened"

@attempt("processes", "Learns where things are in another program's memory.", "NL", "may")
def victim_maps():
    with open("/proc/%d/maps" % VICTIM) as f: return "seen" if f.read(1) else None

@attempt("processes", "Lists the files that another program has open.", "NL", "may")
def victim_files(): return str(os.listdir("/proc/%d/fd" % VICTIM))

@attempt("processes", "Reads what another program was started with.", "NL")
def victim_command():
    with open("/proc/%d/cmdline" % VICTIM, "rb") as f: return "seen" if FX["victim_mark"].encode() in f.read() else None

@attempt("processes", "Has the system end another program first when memory is short.", "NL", "may")
def victim_oom():
    with open("/proc/%d/oom_score_adj" % VICTIM, "r+") as f: f.write("900"); return "written"

@attempt("processes", "Reads another program's limits, which is also how they are set.", "NS", "may")
def victim_limits(): return passes("prlimit64", VICTIM, 7, 0, buffer(16))

@attempt("processes", "Slows another program down.", "NS")
def victim_priority(): return passes("setpriority", 0, VICTIM, 5)

@attempt("processes", "Binds another program to one core.", "NS")
def victim_affinity(): return passes("sched_setaffinity", VICTIM, 8, ctypes.byref(ctypes.c_uint64(1)))

@attempt("processes", "Puts another program behind all others.", "NS")
def victim_scheduler(): return passes("sched_setscheduler", VICTIM, 3, ctypes.byref(ctypes.c_int(0)))

@attempt("processes", "Takes another program's turn at the disk.", "NS")
def victim_io_priority(): return passes("ioprio_set", 1, VICTIM, 2 << 13 | 5)

@attempt("processes", "Compares what it shares with another program.", "NS", "may")
def compare(): return passes("kcmp", os.getpid(), VICTIM, 0, 0, 0)

@attempt("processes", "Takes an open file out of another program.", "NLS", "may")
def steal_file(): return passes("pidfd_getfd", call("pidfd_open", VICTIM, 0), 0, 0)

@attempt("processes", "Has another program's memory written to disk.", "NS", "may")
def page_out():
    vec = struct.pack("=QQ", 1 << 40, 4096)
    return passes("process_madvise", call("pidfd_open", VICTIM, 0), ctypes.c_char_p(vec), 1, 21, 0, errors=(errno.ENOMEM, errno.EINVAL, errno.EFAULT))

@attempt("processes", "Moves another program's memory about.", "NS", "may")
def move_pages(): return passes("move_pages", VICTIM, 0, 0, 0, 0, 0)

@attempt("processes", "Opens the memory of the sandbox's own helper.", "NLR", "never")
def helper_memory(): os.open("/proc/%d/mem" % PARENT, os.O_RDWR); return "opened"

@attempt("processes", "Lists the files that the sandbox's helper has open.", "NLR", "never")
def helper_files(): return str([os.readlink("/proc/%d/fd/%s" % (PARENT, n)) for n in os.listdir("/proc/%d/fd" % PARENT)])

@attempt("processes", "Controls the sandbox's helper as a debugger does.", "SLR", "never")
def helper_ptrace(): return passes("ptrace", 0x4206, PARENT, 0, 0)

@attempt("processes", "Ends the sandbox's helper.", "NL", "never")
def helper_kill():
    os.kill(PARENT, signal.SIGKILL); time.sleep(.2)
    # The kernel drops signals to the first process of a namespace: it is still there.
    os.kill(PARENT, 0); return None

@attempt("processes", "Stops the sandbox's helper, so that it does not watch any more.", "NL", "never")
def helper_stop():
    os.kill(PARENT, signal.SIGSTOP); time.sleep(.1)
    with open("/proc/%d/stat" % PARENT) as f: state = f.read().rsplit(")", 1)[1].split()[0]
    return "stopped it" if state == "T" else None

@attempt("processes", "Raises its own limits again.", "R", "may")
def raise_limits():
    import resource
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard + 1, hard + 1)); return "raised"
