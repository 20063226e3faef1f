from harness import *
import ctypes, errno, fcntl, mmap, os, signal, socket, stat, struct, sys, time

@attempt("kernel", "Io uring.", "S", "may")
def io_uring(): return passes("io_uring_setup", 8, buffer(256))

@attempt("kernel", "Unshare user.", "S", "may")
def unshare_user(): return passes("unshare", 0x10000000)

@attempt("kernel", "Unshare net.", "S", "may")
def unshare_net(): return passes("unshare", 0x40000000)

@attempt("kernel", "Clone user.", "S", "may")
def clone_user():
    r = call("clone", 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0)
    if r == 0: os._exit(0)
    os.waitpid(r, 0); return "new namespace"

@attempt("kernel", "Clone3 user.", "S", "may")
def clone3_user():
    r = call("clone3", ctypes.c_char_p(struct.pack("=8Q", 0x10000000, 0, 0, 0, signal.SIGCHLD, 0, 0, 0)), 64)
    if r == 0: os._exit(0)
    os.waitpid(r, 0); return "new namespace"

@attempt("kernel", "Enter namespace.", "S", "may")
def enter_namespace(): return passes("setns", os.open("/proc/%d/ns/net" % VICTIM, os.O_RDONLY), 0)

@attempt("kernel", "Mount tmpfs.", "S", "never")
def mount_tmpfs(): os.makedirs("mnt", exist_ok=True); return passes("mount", text("none"), text("mnt"), text("tmpfs"), 0, 0)

@attempt("kernel", "Remount proc.", "S", "never")
def remount_proc(): return passes("mount", text("none"), text("/proc"), text(""), 0x1020, 0)

@attempt("kernel", "Remount usr.", "S", "never")
def remount_usr(): return passes("mount", text("none"), text("/usr"), text(""), 0x1020, 0)

@attempt("kernel", "Unmount hooks.", "S", "never")
def unmount_hooks(): return passes("umount2", text(PROJECT + "/.git/hooks"), 2)

@attempt("kernel", "New mount api.", "S", "may")
def new_mount_api(): return passes("fsopen", text("tmpfs"), 0)

@attempt("kernel", "Clone mount.", "S", "may")
def clone_mount(): return passes("open_tree", -100, text("/usr"), 1)

@attempt("kernel", "Make writable.", "S", "never")
def make_writable(): return passes("mount_setattr", -100, text("/usr"), 0, ctypes.c_char_p(struct.pack("=4Q", 0, 1, 0, 0)), 32)

@attempt("kernel", "Change root.", "S", "may")
def change_root(): return passes("chroot", text("."))

@attempt("kernel", "Pivot.", "S", "never")
def pivot(): return passes("pivot_root", text("."), text("."), errors=(errno.EINVAL, errno.EBUSY))

@attempt("kernel", "Bpf.", "S", "may")
def bpf(): return passes("bpf", 0, buffer(128), 128, errors=(errno.EINVAL, errno.E2BIG))

@attempt("kernel", "Perf.", "S", "may")
def perf(): return passes("perf_event_open", ctypes.c_char_p(struct.pack("=IIQ", 1, 112, 0) + bytes(112)), 0, -1, -1, 0)

@attempt("kernel", "Userfaultfd.", "S", "may")
def userfaultfd(): return passes("userfaultfd", 1)

@attempt("kernel", "Fanotify.", "S", "may")
def fanotify(): return passes("fanotify_init", 0x200, 0)

@attempt("kernel", "Personality.", "S")
def personality(): return passes("personality", 0x0040000)

@attempt("kernel", "Reboot.", "S", "may")
def reboot(): return passes("reboot", 0, 0, 0, 0, errors=(errno.EINVAL,))

@attempt("kernel", "Kexec.", "S", "never")
def kexec(): return passes("kexec_load", 0, 0, 0, 0, errors=(errno.EINVAL,))

@attempt("kernel", "Load module.", "S", "may")
def load_module(): return passes("init_module", 0, 0, text(""), errors=(errno.ENOEXEC, errno.EFAULT))

@attempt("kernel", "Swap.", "S", "may")
def swap(): return passes("swapon", text("/nonexistent"), 0, errors=(errno.ENOENT,))

@attempt("kernel", "Accounting.", "S", "may")
def accounting(): return passes("acct", text("/nonexistent"), errors=(errno.ENOENT,))

@attempt("kernel", "Set time.", "S", "may")
def set_time(): return passes("settimeofday", 0, 0)

@attempt("kernel", "Set host name.", "S", "may")
def set_host_name(): n = socket.gethostname(); return passes("sethostname", text(n), len(n))

@attempt("kernel", "Kernel log.", "S", "may")
def kernel_log(): return passes("syslog", 10, 0, 0)

@attempt("kernel", "Hang up.", "S", "never")
def hang_up(): return passes("vhangup")

@attempt("kernel", "Ports.", "S", "may")
def ports(): only_amd64(); return passes(172, 3)

@attempt("kernel", "Local descriptors.", "S", "may")
def local_descriptors(): only_amd64(); return passes(154, 0, buffer(64), 64)

@attempt("kernel", "Disk node.", "S", "may")
def disk_node():
    os.mknod("disk", 0o600 | stat.S_IFBLK, FX["disk_number"]); fd = os.open("disk", os.O_RDONLY); return os.read(fd, 512) and "raw disk"

@attempt("kernel", "Memory node.", "S", "may")
def memory_node():
    os.mknod("mem", 0o600 | stat.S_IFCHR, os.makedev(1, 1)); os.open("mem", os.O_RDONLY); return "opened"

@attempt("kernel", "Core pattern.", "S", "may")
def core_pattern(): os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY); return "opened for writing"

@attempt("kernel", "Sysrq.", "S", "may")
def sysrq(): os.open("/proc/sysrq-trigger", os.O_WRONLY); return "opened for writing"

@attempt("kernel", "Kernel setting.", "S", "may")
def kernel_setting(): os.open("/proc/sys/vm/drop_caches", os.O_WRONLY); return "opened for writing"

@attempt("kernel", "More namespaces.", "S", "may")
def more_namespaces(): os.open("/proc/sys/user/max_user_namespaces", os.O_WRONLY); return "opened for writing"

@attempt("kernel", "Cgroup.", "S", "may")
def cgroup():
    for p in ("/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/unified/cgroup.procs"):
        if os.path.exists(p): os.open(p, os.O_WRONLY); return p

@attempt("kernel", "Cpu setting.", "S", "may")
def cpu_setting():
    p = "/sys/devices/system/cpu/cpu1/online"
    if CONTROL: raise Absent
    os.open(p, os.O_WRONLY); return "opened for writing"

@attempt("kernel", "Debug files.", "S", "may")
def debug_files(): return str(os.listdir("/sys/kernel/debug") or os.listdir("/sys/kernel/tracing")) if os.path.exists("/sys/kernel") else None

@attempt("kernel", "Virtual machine.", "S", "may")
def virtual_machine(): os.open("/dev/kvm", os.O_RDWR); return "opened"

@attempt("kernel", "Fuse.", "S", "may")
def fuse(): os.open("/dev/fuse", os.O_RDWR); return "opened"

def terminal_push(request):
    master, slave = os.openpty()
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid(); fcntl.ioctl(slave, 0x540E, 0); call("ioctl", slave, request, buffer(1)); os._exit(0)
        except OSError: os._exit(1)
    return "typed" if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0 else None

@attempt("kernel", "Terminal input.", "S", "may")
def terminal_input(): return terminal_push(0x5412)

@attempt("kernel", "Terminal input high bits.", "S", "may")
def terminal_input_high_bits(): return terminal_push(0x5412 | 1 << 32)

@attempt("kernel", "Controlling terminal.", "S", "may")
def controlling_terminal(): os.open("/dev/tty", os.O_RDWR); return "opened"

@attempt("kernel", "Call by interrupt.", "S", "may")
def call_by_interrupt():
    only_amd64()
    # The 32-bit table: getpid is 20 there.
    code = b"\x53\xb8" + struct.pack("<I", 20) + b"\xcd\x80\x5b\xc3"
    m = mmap.mmap(-1, 4096, prot=7); m.write(code)
    r = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))()
    return "32-bit calls work" if r > 0 else None

@attempt("kernel", "Call x32.", "S", "may")
def call_x32(): only_amd64(); return passes(0x40000000 | 39)

@attempt("kernel", "Call unknown.", "S", "may")
def call_unknown():
    # A call newer than the filter: listxattrat. EFAULT would mean that it is there.
    return passes(465, -100, text("."), 0, 1, 1, errors=(errno.EFAULT, errno.EINVAL))

@attempt("kernel", "Uncounted memory.", "S")
def uncounted_memory(): return passes("memfd_create", text("x"), 0)

@attempt("kernel", "Become root.", "S", "may")
def become_root():
    if os.getuid() == 0: raise Absent
    os.setuid(0); return "root"

@attempt("kernel", "Capabilities.", "S", "may")
def capabilities():
    with open("/proc/self/status") as f: lines = [l.split() for l in f if l.startswith("Cap") and not l.startswith("CapBnd")]
    held = [l[0] for l in lines if int(l[1], 16)]
    return str(held) if held else None

@attempt("kernel", "Bounding set.", "S")
def bounding_set():
    with open("/proc/self/status") as f: n = [int(l.split()[1], 16) for l in f if l.startswith("CapBnd")]
    return "%x" % n[0] if n[0] else None

@attempt("kernel", "New privileges.", "S", "may")
def new_privileges():
    return None if libc.prctl(39, 0, 0, 0, 0) == 1 else "programs may gain rights"
