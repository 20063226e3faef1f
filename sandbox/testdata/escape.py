"""Hostile attempts against the sandbox, one forked child each.

usage: escape.py FIXTURES.json [control]

Prints one JSON object a line: name, group, result and note. Results:
  escaped  the attempt reached what it should not
  refused  it did not
  absent   this machine or processor has no such thing
The fixtures (paths, ports, process numbers, system call numbers) are the
test's. With "control", attempts that could harm the machine when they succeed
are left out.
"""
import ctypes, errno, fcntl, json, mmap, os, signal, socket, stat, struct, sys, time

with open(sys.argv[1]) as f:
    FX = json.load(f)
CONTROL = sys.argv[2:] == ["control"]
HOME, OUT, WS, SECRET = FX["home"], FX["outside"], FX["ws"], FX["secret"]
VICTIM, NR, AMD64 = FX["victim"], FX["nr"], FX["amd64"]
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
ATTEMPTS = []


class Absent(Exception):
    pass


def attempt(group, control="must"):
    """control: must succeed outside, may, or is never tried there."""
    def register(f):
        ATTEMPTS.append((group, f.__name__, control, f))
        return f
    return register


def call(name, *args):
    """A raw system call; raises OSError. Numbers may be given directly."""
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


# ------------------------------------------------------------------ files

@attempt("files")
def read_key(): return reads_secret(HOME + "/.ssh/id_rsa")

@attempt("files")
def read_outside(): return reads_secret(OUT + "/secret.txt")

@attempt("files")
def list_home(): return "listed" if ".ssh" in os.listdir(HOME) else None

@attempt("files", "may")
def read_shadow():
    with open("/etc/shadow") as f: return f.read(1)

@attempt("files")
def write_home(): return writes(HOME + "/pwned") if os.path.exists(HOME + "/.ssh") else None

@attempt("files")
def write_dotdot(): return writes(WS + "/../outside/pwned") if os.path.exists(OUT + "/secret.txt") else None

@attempt("files")
def mkdir_outside():
    if not os.path.exists(OUT + "/secret.txt"): return None
    os.mkdir(OUT + "/pwned.d"); return "made"

@attempt("files")
def symlink_read():
    os.symlink(HOME + "/.ssh/id_rsa", "link-r"); return reads_secret("link-r")

@attempt("files")
def symlink_write():
    os.symlink(OUT + "/append.txt", "link-w"); fd = os.open("link-w", os.O_WRONLY | os.O_APPEND); os.write(fd, b"pwned"); return "written"

@attempt("files")
def hardlink_in():
    os.link(OUT + "/secret.txt", "hard"); return reads_secret("hard")

@attempt("files")
def rename_in():
    os.rename(OUT + "/move.txt", "moved"); return "moved in"

@attempt("files")
def rename_out():
    open("mine", "w").close(); os.rename("mine", OUT + "/moved-out"); return "moved out"

@attempt("files")
def unlink_outside(): os.unlink(OUT + "/unlink.txt"); return "deleted"

@attempt("files")
def truncate_outside(): os.truncate(OUT + "/truncate.txt", 0); return "emptied"

@attempt("files")
def chmod_outside():
    os.chmod(OUT + "/mode.txt", 0o777)
    return "changed" if stat.S_IMODE(os.stat(OUT + "/mode.txt").st_mode) == 0o777 else None

@attempt("files")
def utime_outside():
    os.utime(OUT + "/mode.txt", (1, 1)); return "changed" if os.stat(OUT + "/mode.txt").st_mtime == 1 else None

@attempt("files", "may")
def xattr_outside(): os.setxattr(OUT + "/mode.txt", "user.pwned", b"1"); return "set"

@attempt("files", "may")
def root_of_init(): return reads_secret("/proc/1/root" + HOME + "/.ssh/id_rsa")

@attempt("files")
def root_of_self(): return reads_secret("/proc/self/root" + HOME + "/.ssh/id_rsa")

@attempt("files")
def root_of_victim(): return reads_secret("/proc/%d/root%s/.ssh/id_rsa" % (VICTIM, HOME))

@attempt("files")
def cwd_of_victim(): return reads_secret("/proc/%d/cwd/secret.txt" % VICTIM)

@attempt("files", "may")
def open_by_handle():
    handle = ctypes.create_string_buffer(struct.pack("=IiQ", 8, 1, 2), 136)  # inode 2: the root of the disk
    fd = os.open(WS, os.O_RDONLY)
    return passes("open_by_handle_at", fd, ctypes.byref(handle), 0)

@attempt("files", "may")
def name_to_handle():
    handle, mount = ctypes.create_string_buffer(struct.pack("=Ii", 128, 0), 136), ctypes.c_int()
    return passes("name_to_handle_at", -100, text(WS), ctypes.byref(handle), ctypes.byref(mount), 0)

@attempt("files", "never")
def inherited_files():
    extra = []
    for fd in range(3, 256):
        try: os.fstat(fd)
        except OSError: continue
        if fd != RESULT: extra.append(fd)
    return str(extra) if extra else None

@attempt("files")
def shm_of_others(): return reads_secret(FX["shm_file"])

@attempt("files")
def tmp_of_others(): return reads_secret(FX["tmp_file"])

@attempt("files")
def follow_proc_fd():
    fd = os.open(HOME + "/.ssh", os.O_PATH); return reads_secret("/proc/self/fd/%d/id_rsa" % fd)

@attempt("files", "may")
def raw_disk():
    if not FX["disk"]: raise Absent
    return os.read(os.open(FX["disk"], os.O_RDONLY), 512) and "raw disk"

@attempt("files", "may")
def kcore(): return os.read(os.open("/proc/kcore", os.O_RDONLY), 1) and "kernel memory"

@attempt("files", "may")
def dev_mem(): os.open("/dev/mem", os.O_RDONLY); return "opened"

@attempt("files")
def watch_outside():
    fd = call("inotify_init1", 0); return passes("inotify_add_watch", fd, text(OUT), 0xfff)

# ------------------------------------------------------------ persistence

@attempt("persistence", "may")
def usr_local_bin():
    p = "/usr/local/bin/atoll-escape-test"; writes(p); os.unlink(p); return "written"

@attempt("persistence", "may")
def cron():
    p = "/etc/cron.d/atoll-escape-test"; open(p, "x").close(); os.unlink(p); return "written"

@attempt("persistence", "may")
def site_packages():
    p = "/usr/lib/python3/dist-packages/atoll-escape-test.pth"; open(p, "x").close(); os.unlink(p); return "written"

@attempt("persistence")
def shell_profile(): return writes(HOME + "/.bashrc", "a") if os.path.exists(HOME + "/.ssh") else None

@attempt("persistence")
def autostart():
    if not os.path.exists(HOME + "/.ssh"): return None
    os.makedirs(HOME + "/.config/autostart"); return writes(HOME + "/.config/autostart/p.desktop")

@attempt("persistence")
def git_hook(): return writes(".git/hooks/pre-commit")

@attempt("persistence")
def git_config(): return writes(".git/config", "a")

@attempt("persistence")
def git_swap():
    os.rename(".git", ".git-away"); os.makedirs(".git/hooks"); writes(".git/hooks/pre-commit"); return "swapped"

def has_set_id(path): return "set-id file" if os.stat(path).st_mode & 0o6000 else None

@attempt("persistence")
def chmod_setuid():
    open("su1", "w").close(); os.chmod("su1", 0o4755); return has_set_id("su1")

@attempt("persistence")
def fchmod_setuid():
    fd = os.open("su2", os.O_CREAT | os.O_RDWR); os.fchmod(fd, 0o4755); return has_set_id("su2")

@attempt("persistence", "may")
def fchmodat2_setuid():
    open("su3", "w").close(); call("fchmodat2", -100, text("su3"), 0o4755, 0); return has_set_id("su3")

@attempt("persistence")
def create_setuid(): os.close(os.open("su4", os.O_CREAT | os.O_WRONLY, 0o4755)); return has_set_id("su4")

@attempt("persistence")
def tmpfile_setgid():
    return "set-id file" if os.fstat(os.open(".", os.O_TMPFILE | os.O_RDWR, 0o2755)).st_mode & 0o6000 else None

@attempt("persistence")
def mknod_setuid(): os.mknod("su6", 0o4755 | stat.S_IFREG); return has_set_id("su6")

@attempt("persistence", "may")
def openat2_setuid():
    how = struct.pack("=QQQ", os.O_CREAT | os.O_RDWR, 0o4755, 0)
    call("openat2", -100, text("su7"), ctypes.c_char_p(how), 24); return has_set_id("su7")

# -------------------------------------------------------------- processes

@attempt("processes")
def signal_victim(): os.kill(FX["victim_signal"], signal.SIGTERM); return "sent"

@attempt("processes")
def tgkill_victim(): return passes("tgkill", VICTIM, VICTIM, 0)

@attempt("processes")
def pidfd_signal():
    return passes("pidfd_send_signal", call("pidfd_open", VICTIM, 0), 0, 0, 0)

@attempt("processes")
def sigio_victim():
    a, b = socket.socketpair(); fcntl.fcntl(a, fcntl.F_SETOWN, FX["victim_sigio"])
    fcntl.fcntl(a, 10, signal.SIGTERM)  # F_SETSIG
    fcntl.fcntl(a, fcntl.F_SETFL, fcntl.fcntl(a, fcntl.F_GETFL) | os.O_ASYNC)
    b.send(b"x"); time.sleep(0.2)
    with open("/proc/%d/stat" % FX["victim_sigio"]) as f: state = f.read().rsplit(")", 1)[1].split()[0]
    return "ended" if state == "Z" else None

@attempt("processes", "may")
def ptrace_seize():
    r = passes("ptrace", 0x4206, VICTIM, 0, 0); return r

@attempt("processes", "may")
def vm_read():
    local = struct.pack("=QQ", ctypes.addressof(ctypes.create_string_buffer(8)), 8); remote = struct.pack("=QQ", 4096, 8)
    return passes("process_vm_readv", VICTIM, ctypes.c_char_p(local), 1, ctypes.c_char_p(remote), 1, 0, errors=(errno.EFAULT,))

@attempt("processes", "may")
def victim_environ(): return reads_secret("/proc/%d/environ" % VICTIM)

@attempt("processes", "may")
def victim_memory(): os.open("/proc/%d/mem" % VICTIM, os.O_RDWR); return "opened"

@attempt("processes")
def victim_command():
    with open("/proc/%d/cmdline" % VICTIM, "rb") as f: return "seen" if FX["victim_mark"].encode() in f.read() else None

@attempt("processes")
def victim_limits(): return passes("prlimit64", VICTIM, 7, 0, buffer(16))

@attempt("processes")
def victim_priority(): return passes("setpriority", 0, VICTIM, 5)

@attempt("processes")
def victim_affinity(): return passes("sched_setaffinity", VICTIM, 8, ctypes.byref(ctypes.c_uint64(1)))

@attempt("processes")
def victim_scheduler(): return passes("sched_setscheduler", VICTIM, 3, ctypes.byref(ctypes.c_int(0)))

@attempt("processes")
def victim_io_priority(): return passes("ioprio_set", 1, VICTIM, 2 << 13 | 5)

@attempt("processes", "may")
def compare(): return passes("kcmp", os.getpid(), VICTIM, 0, 0, 0)

@attempt("processes", "may")
def steal_file(): return passes("pidfd_getfd", call("pidfd_open", VICTIM, 0), 0, 0)

@attempt("processes", "never")
def helper_memory(): os.open("/proc/1/mem", os.O_RDWR); return "opened"

@attempt("processes", "never")
def helper_files(): return str([os.readlink("/proc/1/fd/" + n) for n in os.listdir("/proc/1/fd")])

# -------------------------------------------------------------------- ipc

def pong(address, kind=socket.SOCK_STREAM):
    s = socket.socket(socket.AF_UNIX, kind); s.settimeout(2); s.connect(address); s.send(b"x"); return s.recv(8).decode()

@attempt("ipc")
def socket_in_home(): return pong(FX["sock_home"])

@attempt("ipc")
def socket_in_tmp(): return pong(FX["sock_tmp"])

@attempt("ipc")
def socket_abstract(): return pong("\0" + FX["sock_abstract"])

@attempt("ipc")
def socket_abstract_datagram():
    s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.connect("\0" + FX["sock_abstract_datagram"]); s.send(b"x"); return "sent"

@attempt("ipc")
def system_sockets():
    for p in ("/run/docker.sock", "/var/run/docker.sock", "/run/dbus/system_bus_socket", "/tmp/.X11-unix/X0", FX["sock_tmp"]):
        try: s = socket.socket(socket.AF_UNIX); s.connect(p); return p
        except OSError: pass

@attempt("ipc")
def sysv_memory(): return passes("shmat", call("shmget", FX["shm_key"], 16, 0), 0, 0)

@attempt("ipc")
def sysv_list():
    with open("/proc/sysvipc/shm") as f: return "seen" if str(FX["shm_key"]) in f.read() else None

@attempt("ipc", "may")
def posix_queue(): return passes("mq_open", text(FX["mq"]), 0, 0, 0)

@attempt("ipc", "may")
def key_link(): return passes("keyctl", 0, -3, 0)

@attempt("ipc", "may")
def key_add(): return passes("add_key", text("user"), text("atoll-escape"), text("abc"), 3, -2)

@attempt("ipc", "may")
def key_request(): return passes("request_key", text("user"), text("atoll-none"), 0, -2, errors=(errno.ENOKEY,))

# ---------------------------------------------------------------- network

@attempt("network")
def tcp4():
    s = socket.create_connection(("127.0.0.1", FX["tcp4"]), 2); s.send(b"x"); return s.recv(8).decode()

@attempt("network", "may")
def tcp6():
    s = socket.socket(socket.AF_INET6); s.settimeout(2); s.connect(("::1", FX["tcp6"])); return "connected"

@attempt("network")
def udp4():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(1); s.sendto(b"x", ("127.0.0.1", FX["udp4"])); return s.recv(8).decode()

@attempt("network", "may")
def multipath():
    s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262); s.settimeout(2); s.connect(("127.0.0.1", FX["tcp4"])); s.send(b"x"); return s.recv(8).decode()

@attempt("network", "may")
def fast_open():
    s = socket.socket(); s.settimeout(2); s.sendto(b"x", 0x20000000, ("127.0.0.1", FX["tcp4"])); return s.recv(8).decode()

@attempt("network")
def other_interfaces():
    with open("/proc/net/dev") as f: names = [l.split(":")[0].strip() for l in f.readlines()[2:]]
    return str(names) if names != ["lo"] or CONTROL else None

@attempt("network", "may")
def raw_icmp(): socket.socket(socket.AF_INET, socket.SOCK_RAW, 1); return "made"

@attempt("network", "may")
def packet(): socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0); return "made"

@attempt("network", "may")
def packet_datagram(): socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0); return "made"

@attempt("network", "may")
def old_packet(): socket.socket(socket.AF_INET, 10, 0); return "made"

@attempt("network", "may")
def vsock(): socket.socket(40, socket.SOCK_STREAM, 0); return "made"

@attempt("network", "may")
def crypto(): socket.socket(38, socket.SOCK_SEQPACKET, 0); return "made"

@attempt("network", "may")
def netlink(): socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0); return "made"

@attempt("network", "may")
def bluetooth(): socket.socket(31, socket.SOCK_RAW, 1); return "made"

@attempt("network", "may")
def family_high_bits():
    r = call("socket", 16 | 1 << 32, 3, 0); return "netlink by a 64-bit number" if r >= 0 else None

@attempt("network")
def away():
    # A route is enough; nothing is sent.
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try: s.connect(("192.0.2.1", 9))
    except OSError:
        if CONTROL: raise Absent
        raise
    return s.getsockname()[0]

# ----------------------------------------------------------------- kernel

@attempt("kernel", "may")
def io_uring(): return passes("io_uring_setup", 8, buffer(256))

@attempt("kernel", "may")
def unshare_user(): return passes("unshare", 0x10000000)

@attempt("kernel", "may")
def unshare_net(): return passes("unshare", 0x40000000)

@attempt("kernel", "may")
def clone_user():
    r = call("clone", 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0)
    if r == 0: os._exit(0)
    os.waitpid(r, 0); return "new namespace"

@attempt("kernel", "may")
def clone3_user():
    r = call("clone3", ctypes.c_char_p(struct.pack("=8Q", 0x10000000, 0, 0, 0, signal.SIGCHLD, 0, 0, 0)), 64)
    if r == 0: os._exit(0)
    os.waitpid(r, 0); return "new namespace"

@attempt("kernel", "may")
def enter_namespace(): return passes("setns", os.open("/proc/%d/ns/net" % VICTIM, os.O_RDONLY), 0)

@attempt("kernel", "never")
def mount_tmpfs(): os.makedirs("mnt", exist_ok=True); return passes("mount", text("none"), text("mnt"), text("tmpfs"), 0, 0)

@attempt("kernel", "never")
def remount_proc(): return passes("mount", text("none"), text("/proc"), text(""), 0x1020, 0)

@attempt("kernel", "never")
def remount_usr(): return passes("mount", text("none"), text("/usr"), text(""), 0x1020, 0)

@attempt("kernel", "never")
def unmount_hooks(): return passes("umount2", text(WS + "/.git/hooks"), 2)

@attempt("kernel", "may")
def new_mount_api(): return passes("fsopen", text("tmpfs"), 0)

@attempt("kernel", "may")
def clone_mount(): return passes("open_tree", -100, text("/usr"), 1)

@attempt("kernel", "never")
def make_writable(): return passes("mount_setattr", -100, text("/usr"), 0, ctypes.c_char_p(struct.pack("=4Q", 0, 1, 0, 0)), 32)

@attempt("kernel", "may")
def change_root(): return passes("chroot", text("."))

@attempt("kernel", "never")
def pivot(): return passes("pivot_root", text("."), text("."), errors=(errno.EINVAL, errno.EBUSY))

@attempt("kernel", "may")
def bpf(): return passes("bpf", 0, buffer(128), 128, errors=(errno.EINVAL, errno.E2BIG))

@attempt("kernel", "may")
def perf(): return passes("perf_event_open", ctypes.c_char_p(struct.pack("=IIQ", 1, 112, 0) + bytes(112)), 0, -1, -1, 0)

@attempt("kernel", "may")
def userfaultfd(): return passes("userfaultfd", 1)

@attempt("kernel", "may")
def fanotify(): return passes("fanotify_init", 0x200, 0)

@attempt("kernel")
def personality(): return passes("personality", 0x0040000)

@attempt("kernel", "may")
def reboot(): return passes("reboot", 0, 0, 0, 0, errors=(errno.EINVAL,))

@attempt("kernel", "never")
def kexec(): return passes("kexec_load", 0, 0, 0, 0, errors=(errno.EINVAL,))

@attempt("kernel", "may")
def load_module(): return passes("init_module", 0, 0, text(""), errors=(errno.ENOEXEC, errno.EFAULT))

@attempt("kernel", "may")
def swap(): return passes("swapon", text("/nonexistent"), 0, errors=(errno.ENOENT,))

@attempt("kernel", "may")
def accounting(): return passes("acct", text("/nonexistent"), errors=(errno.ENOENT,))

@attempt("kernel", "may")
def set_time(): return passes("settimeofday", 0, 0)

@attempt("kernel", "may")
def set_host_name(): n = socket.gethostname(); return passes("sethostname", text(n), len(n))

@attempt("kernel", "may")
def kernel_log(): return passes("syslog", 10, 0, 0)

@attempt("kernel", "never")
def hang_up(): return passes("vhangup")

@attempt("kernel", "may")
def ports(): only_amd64(); return passes(172, 3)

@attempt("kernel", "may")
def local_descriptors(): only_amd64(); return passes(154, 0, buffer(64), 64)

@attempt("kernel", "may")
def disk_node():
    os.mknod("disk", 0o600 | stat.S_IFBLK, FX["disk_number"]); fd = os.open("disk", os.O_RDONLY); return os.read(fd, 512) and "raw disk"

@attempt("kernel", "may")
def memory_node():
    os.mknod("mem", 0o600 | stat.S_IFCHR, os.makedev(1, 1)); os.open("mem", os.O_RDONLY); return "opened"

@attempt("kernel", "may")
def core_pattern(): os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY); return "opened for writing"

@attempt("kernel", "may")
def sysrq(): os.open("/proc/sysrq-trigger", os.O_WRONLY); return "opened for writing"

@attempt("kernel", "may")
def kernel_setting(): os.open("/proc/sys/vm/drop_caches", os.O_WRONLY); return "opened for writing"

@attempt("kernel", "may")
def more_namespaces(): os.open("/proc/sys/user/max_user_namespaces", os.O_WRONLY); return "opened for writing"

@attempt("kernel", "may")
def cgroup():
    for p in ("/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/unified/cgroup.procs"):
        if os.path.exists(p): os.open(p, os.O_WRONLY); return p

@attempt("kernel", "may")
def cpu_setting():
    p = "/sys/devices/system/cpu/cpu1/online"
    if CONTROL: raise Absent
    os.open(p, os.O_WRONLY); return "opened for writing"

@attempt("kernel", "may")
def debug_files(): return str(os.listdir("/sys/kernel/debug") or os.listdir("/sys/kernel/tracing")) if os.path.exists("/sys/kernel") else None

@attempt("kernel", "may")
def virtual_machine(): os.open("/dev/kvm", os.O_RDWR); return "opened"

@attempt("kernel", "may")
def fuse(): os.open("/dev/fuse", os.O_RDWR); return "opened"

def terminal_push(request):
    master, slave = os.openpty()
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid(); fcntl.ioctl(slave, 0x540E, 0); call("ioctl", slave, request, buffer(1)); os._exit(0)
        except OSError: os._exit(1)
    return "typed" if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0 else None

@attempt("kernel", "may")
def terminal_input(): return terminal_push(0x5412)

@attempt("kernel", "may")
def terminal_input_high_bits(): return terminal_push(0x5412 | 1 << 32)

@attempt("kernel", "may")
def controlling_terminal(): os.open("/dev/tty", os.O_RDWR); return "opened"

@attempt("kernel", "may")
def call_by_interrupt():
    only_amd64()
    # The 32-bit table: getpid is 20 there.
    code = b"\x53\xb8" + struct.pack("<I", 20) + b"\xcd\x80\x5b\xc3"
    m = mmap.mmap(-1, 4096, prot=7); m.write(code)
    r = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))()
    return "32-bit calls work" if r > 0 else None

@attempt("kernel", "may")
def call_x32(): only_amd64(); return passes(0x40000000 | 39)

@attempt("kernel", "may")
def call_unknown():
    # A call newer than the filter: listxattrat. EFAULT would mean that it is there.
    return passes(465, -100, text("."), 0, 1, 1, errors=(errno.EFAULT, errno.EINVAL))

@attempt("kernel")
def uncounted_memory(): return passes("memfd_create", text("x"), 0)

@attempt("kernel", "may")
def become_root():
    if os.getuid() == 0: raise Absent
    os.setuid(0); return "root"

@attempt("kernel", "may")
def capabilities():
    with open("/proc/self/status") as f: lines = [l.split() for l in f if l.startswith("Cap") and not l.startswith("CapBnd")]
    held = [l[0] for l in lines if int(l[1], 16)]
    return str(held) if held else None

@attempt("kernel")
def bounding_set():
    with open("/proc/self/status") as f: n = [int(l.split()[1], 16) for l in f if l.startswith("CapBnd")]
    return "%x" % n[0] if n[0] else None

@attempt("kernel", "may")
def new_privileges():
    return None if libc.prctl(39, 0, 0, 0, 0) == 1 else "programs may gain rights"

# ------------------------------------------------------------ environment

@attempt("environment")
def secret_variable(): return "seen" if any(SECRET in v for v in os.environ.values()) else None

@attempt("environment")
def secret_of_parents():
    for p in (os.getppid(), 1, "self"):
        try:
            if r := reads_secret("/proc/%s/environ" % p): return r
        except OSError: pass

@attempt("environment", "may")
def machine_id():
    with open("/etc/machine-id") as f: return f.read()

@attempt("environment")
def host_name(): return socket.gethostname() if socket.gethostname() != "sandbox" else None

@attempt("environment", "may")
def user_names():
    with open("/etc/passwd") as f: return "seen" if "daemon" in f.read() else None

@attempt("environment")
def other_processes():
    n = sum(p.isdigit() for p in os.listdir("/proc")); return "%d processes" % n if n > 8 else None


for group, name, control, f in ATTEMPTS:
    if CONTROL and control == "never":
        continue
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(r); RESULT = w
        signal.alarm(10)
        try:
            note = f(); answer = ("escaped", str(note)) if note else ("refused", "nothing reached")
        except Absent: answer = ("absent", "")
        except OSError as e: answer = ("refused", errno.errorcode.get(e.errno, str(e)))
        except Exception as e: answer = ("refused", repr(e)[:200])
        os.write(w, json.dumps(answer).encode()); os._exit(0)
    os.close(w)
    got = os.read(r, 65536); os.close(r)
    status = os.waitpid(pid, 0)[1]
    result, note = json.loads(got) if got else ("refused", "ended with %d" % os.waitstatus_to_exitcode(status))
    print(json.dumps(dict(group=group, name=name, control=control, result=result, note=note)), flush=True)
