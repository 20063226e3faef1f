from harness import *
import ctypes, errno, fcntl, mmap, os, signal, socket, stat, struct, sys, time

@attempt("processes", "Signal victim.", "N")
def signal_victim(): os.kill(FX["victim_signal"], signal.SIGTERM); return "sent"

@attempt("processes", "Tgkill victim.", "N")
def tgkill_victim(): return passes("tgkill", VICTIM, VICTIM, 0)

@attempt("processes", "Pidfd signal.", "N")
def pidfd_signal():
    return passes("pidfd_send_signal", call("pidfd_open", VICTIM, 0), 0, 0, 0)

@attempt("processes", "Sigio victim.", "N")
def sigio_victim():
    a, b = socket.socketpair(); fcntl.fcntl(a, fcntl.F_SETOWN, FX["victim_sigio"])
    fcntl.fcntl(a, 10, signal.SIGTERM)  # F_SETSIG
    fcntl.fcntl(a, fcntl.F_SETFL, fcntl.fcntl(a, fcntl.F_GETFL) | os.O_ASYNC)
    b.send(b"x"); time.sleep(0.2)
    with open("/proc/%d/stat" % FX["victim_sigio"]) as f: state = f.read().rsplit(")", 1)[1].split()[0]
    return "ended" if state == "Z" else None

@attempt("processes", "Ptrace seize.", "N", "may")
def ptrace_seize():
    r = passes("ptrace", 0x4206, VICTIM, 0, 0); return r

@attempt("processes", "Vm read.", "N", "may")
def vm_read():
    local = struct.pack("=QQ", ctypes.addressof(ctypes.create_string_buffer(8)), 8); remote = struct.pack("=QQ", 4096, 8)
    return passes("process_vm_readv", VICTIM, ctypes.c_char_p(local), 1, ctypes.c_char_p(remote), 1, 0, errors=(errno.EFAULT,))

@attempt("processes", "Victim environ.", "N", "may")
def victim_environ(): return reads_secret("/proc/%d/environ" % VICTIM)

@attempt("processes", "Victim memory.", "N", "may")
def victim_memory(): os.open("/proc/%d/mem" % VICTIM, os.O_RDWR); return "opened"

@attempt("processes", "Victim command.", "N")
def victim_command():
    with open("/proc/%d/cmdline" % VICTIM, "rb") as f: return "seen" if FX["victim_mark"].encode() in f.read() else None

@attempt("processes", "Victim limits.", "N")
def victim_limits(): return passes("prlimit64", VICTIM, 7, 0, buffer(16))

@attempt("processes", "Victim priority.", "N")
def victim_priority(): return passes("setpriority", 0, VICTIM, 5)

@attempt("processes", "Victim affinity.", "N")
def victim_affinity(): return passes("sched_setaffinity", VICTIM, 8, ctypes.byref(ctypes.c_uint64(1)))

@attempt("processes", "Victim scheduler.", "N")
def victim_scheduler(): return passes("sched_setscheduler", VICTIM, 3, ctypes.byref(ctypes.c_int(0)))

@attempt("processes", "Victim io priority.", "N")
def victim_io_priority(): return passes("ioprio_set", 1, VICTIM, 2 << 13 | 5)

@attempt("processes", "Compare.", "N", "may")
def compare(): return passes("kcmp", os.getpid(), VICTIM, 0, 0, 0)

@attempt("processes", "Steal file.", "N", "may")
def steal_file(): return passes("pidfd_getfd", call("pidfd_open", VICTIM, 0), 0, 0)

@attempt("processes", "Helper memory.", "N", "never")
def helper_memory(): os.open("/proc/1/mem", os.O_RDWR); return "opened"

@attempt("processes", "Helper files.", "N", "never")
def helper_files(): return str([os.readlink("/proc/1/fd/" + n) for n in os.listdir("/proc/1/fd")])
