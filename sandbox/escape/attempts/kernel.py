"""Attempts at the kernel on Linux: namespaces, mounts, rights, the machine."""
from harness import *
import ctypes, errno, mmap, os, signal, socket, struct, time


@attempt("kernel", "Uses io_uring, which goes past other checks.", "S", "may")
def io_uring(): return passes("io_uring_setup", 8, buffer(256))

@attempt("kernel", "Becomes administrator of a namespace of its own.", "S", "may")
def unshare_user(): return passes("unshare", 0x10000000)

@attempt("kernel", "Makes a network of its own.", "S", "may")
def unshare_net(): return passes("unshare", 0x40000000)

@attempt("kernel", "Makes a view of the disk of its own.", "S", "may")
def unshare_mount(): return passes("unshare", 0x20000)

@attempt("kernel", "Makes a clock of its own.", "S", "may")
def unshare_time(): return passes("unshare", 0x80)

@attempt("kernel", "Starts a process as administrator of its own namespace.", "S", "may")
def clone_user():
    r = call("clone", 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0)
    if r == 0: os._exit(0)
    os.waitpid(r, 0); return "new namespace"

@attempt("kernel", "Does that with a newer call, which filters cannot look into.", "S", "may")
def clone3_user():
    r = call("clone3", ctypes.c_char_p(struct.pack("=8Q", 0x10000000, 0, 0, 0, signal.SIGCHLD, 0, 0, 0)), 64)
    if r == 0: os._exit(0)
    os.waitpid(r, 0); return "new namespace"

@attempt("kernel", "Enters another program's network.", "NSR", "may")
def enter_namespace(): return passes("setns", os.open("/proc/%d/ns/net" % VICTIM, os.O_RDONLY), 0)

@attempt("kernel", "Enters everything of another program at once.", "NSR", "may")
def enter_by_handle(): return passes("setns", call("pidfd_open", VICTIM, 0), 0x40000000)

@attempt("kernel", "Enters the network of the sandbox's helper.", "SR", "never")
def enter_helper(): return passes("setns", os.open("/proc/%d/ns/mnt" % os.getppid(), os.O_RDONLY), 0)

@attempt("kernel", "Mounts a file system.", "SR", "never")
def mount_tmpfs(): os.makedirs("mnt", exist_ok=True); return passes("mount", text("none"), text("mnt"), text("tmpfs"), 0, 0)

@attempt("kernel", "Makes /proc writable again.", "SR", "never")
def remount_proc(): return passes("mount", text("none"), text("/proc"), text(""), 0x1020, 0)

@attempt("kernel", "Makes the system's programs writable again.", "SR", "never")
def remount_usr(): return passes("mount", text("none"), text("/usr"), text(""), 0x1020, 0)

@attempt("kernel", "Mounts a folder of the host over its own.", "SR", "never")
def bind_mount(): os.makedirs("mnt2", exist_ok=True); return passes("mount", text(OUT), text("mnt2"), text(""), 0x1000, 0)

@attempt("kernel", "Takes the protection off the git hooks.", "SR", "never")
def unmount_hooks(): return passes("umount2", text(PROJECT + "/.git/hooks"), 2)

@attempt("kernel", "Opens a file system with the newer calls.", "SR", "may")
def new_mount_api(): return passes("fsopen", text("tmpfs"), 0)

@attempt("kernel", "Copies a mount.", "SR", "may")
def clone_mount(): return passes("open_tree", -100, text("/usr"), 1)

@attempt("kernel", "Makes a mount writable with the newer calls.", "SR", "never")
def make_writable(): return passes("mount_setattr", -100, text("/usr"), 0, ctypes.c_char_p(struct.pack("=4Q", 0, 1, 0, 0)), 32)

@attempt("kernel", "Changes what the root of the disk is.", "SR", "may")
def change_root(): return passes("chroot", text("."))

@attempt("kernel", "Exchanges the root of the disk.", "SR", "never")
def pivot(): return passes("pivot_root", text("."), text("."), errors=(errno.EINVAL, errno.EBUSY))

@attempt("kernel", "Loads a program into the kernel (bpf).", "S", "may")
def bpf(): return passes("bpf", 0, buffer(128), 128, errors=(errno.EINVAL, errno.E2BIG))

@attempt("kernel", "Measures other programs with the processor's counters.", "S", "may")
def perf(): return passes("perf_event_open", ctypes.c_char_p(struct.pack("=IIQ", 1, 112, 0) + bytes(112)), 0, -1, -1, 0)

@attempt("kernel", "Stops the kernel in the middle of a copy (userfaultfd).", "S", "may")
def userfaultfd(): return passes("userfaultfd", 1)

@attempt("kernel", "Turns off that memory lies at random places.", "S")
def personality(): return passes("personality", 0x0040000)

@attempt("kernel", "Uses memory that nobody can count.", "S")
def uncounted_memory(): return passes("memfd_create", text("x"), 0)

@attempt("kernel", "Uses memory that not even the kernel sees.", "S", "may")
def secret_memory(): return passes("memfd_secret", 0)

@attempt("kernel", "Restarts the machine.", "SR", "ours")
def reboot(): return passes("reboot", 0, 0, 0, 0, errors=(errno.EINVAL,))  # with wrong magic numbers

@attempt("kernel", "Replaces the running kernel.", "SR", "never")
def kexec(): return passes("kexec_load", 0, 0, 0, 0, errors=(errno.EINVAL,))

@attempt("kernel", "Loads a driver into the kernel.", "SR", "ours")
def load_module(): return passes("init_module", 0, 0, text(""), errors=(errno.ENOEXEC, errno.EFAULT))

@attempt("kernel", "Takes a driver out of the kernel.", "SR", "ours")
def remove_module(): return passes("delete_module", text("atoll_none"), 0x800, errors=(errno.ENOENT,))

@attempt("kernel", "Has memory written to a file of its choice.", "SR", "ours")
def swap(): return passes("swapon", text("/nonexistent"), 0, errors=(errno.ENOENT,))

@attempt("kernel", "Has every program's end recorded.", "SR", "ours")
def accounting(): return passes("acct", text("/nonexistent"), errors=(errno.ENOENT,))

@attempt("kernel", "Uses the call that sets the clock.", "SR", "may")
def set_time(): return passes("settimeofday", 0, 0)

@attempt("kernel", "Sets the clock.", "SR", "never")
def set_clock():
    t = time.clock_gettime_ns(time.CLOCK_REALTIME); return passes("clock_settime", 0, ctypes.c_char_p(struct.pack("=QQ", t // 10**9, t % 10**9)))

@attempt("kernel", "Makes the clock run faster.", "SR", "never")
def adjust_clock():
    b = ctypes.create_string_buffer(struct.pack("=I4xq", 2, 0), 256)  # ADJ_FREQUENCY, to what it is when nothing was set
    return passes("adjtimex", ctypes.byref(b))

@attempt("kernel", "Renames the machine.", "SR", "ours")
def set_host_name(): n = socket.gethostname(); return passes("sethostname", text(n), len(n))

@attempt("kernel", "Reads the kernel's log, in which addresses are.", "SR", "ours")
def kernel_log(): return passes("syslog", 10, 0, 0)

@attempt("kernel", "Hangs up all terminals.", "SR", "never")
def hang_up(): return passes("vhangup")

@attempt("kernel", "Sets how much a person may store.", "SR", "ours")
def quota(): return passes("quotactl", 0x80000100, 0, 0, 0, errors=(errno.ENODEV, errno.EINVAL, errno.EFAULT))

@attempt("kernel", "Talks to hardware directly.", "SR", "ours")
def ports(): only_amd64(); return passes(172, 3)

@attempt("kernel", "Makes memory segments of an old kind.", "S", "may")
def local_descriptors(): only_amd64(); return passes(154, 0, buffer(64), 64)

@attempt("kernel", "Calls the kernel as a 32-bit program does.", "S", "may")
def call_by_interrupt():
    only_amd64()
    code = b"\x53\xb8" + struct.pack("<I", 20) + b"\xcd\x80\x5b\xc3"  # getpid is 20 in that table
    m = mmap.mmap(-1, 4096, prot=7); m.write(code)
    r = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))()
    return "32-bit calls work" if r > 0 else None

@attempt("kernel", "Calls the kernel by a third table (x32).", "S", "may")
def call_x32(): only_amd64(); return passes(0x40000000 | 39)

@attempt("kernel", "Makes a call that is newer than the sandbox.", "S", "may")
def call_unknown():
    # listxattrat. EFAULT would mean that it is there.
    return passes(465, -100, text("."), 0, 1, 1, errors=(errno.EFAULT, errno.EINVAL))

@attempt("kernel", "Becomes the administrator.", "R", "may")
def become_root():
    if os.getuid() == 0: raise Absent("it is root")
    os.setuid(0); return "root"

@attempt("kernel", "Holds rights of the administrator.", "R", "may")
def capabilities():
    with open("/proc/self/status") as f: lines = [l.split() for l in f if l.startswith("Cap") and not l.startswith("CapBnd")]
    held = [l[0] for l in lines if int(l[1], 16)]
    return str(held) if held else None

@attempt("kernel", "Takes rights of the administrator.", "RN", "may")
def take_capabilities():
    header, data = struct.pack("=Ii", 0x20080522, 0), struct.pack("=6I", 1 << 21, 1 << 21, 0, 0, 0, 0)
    return passes("capset", ctypes.c_char_p(header), ctypes.c_char_p(data))

@attempt("kernel", "Could get rights back from a program that has them.", "N", full=True)
def bounding_set():
    with open("/proc/self/status") as f: n = [int(l.split()[1], 16) for l in f if l.startswith("CapBnd")]
    return "%x" % n[0] if n[0] else None

@attempt("kernel", "Gains rights by starting a program.", "R", "may")
def new_privileges(): return None if libc.prctl(39, 0, 0, 0, 0) == 1 else "programs may gain rights"
