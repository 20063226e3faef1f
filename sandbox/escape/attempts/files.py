from harness import *
import harness
import ctypes, errno, fcntl, mmap, os, signal, socket, stat, struct, sys, time

@attempt("files", "Read key.", "NL")
def read_key(): return reads_secret(HOME + "/.ssh/id_rsa")

@attempt("files", "Read outside.", "NL")
def read_outside(): return reads_secret(OUT + "/secret.txt")

@attempt("files", "List home.", "NL")
def list_home(): return "listed" if ".ssh" in os.listdir(HOME) else None

@attempt("files", "Read shadow.", "NL", "may")
def read_shadow():
    with open("/etc/shadow") as f: return f.read(1)

@attempt("files", "Write home.", "NL")
def write_home(): return writes(HOME + "/pwned") if os.path.exists(HOME + "/.ssh") else None

@attempt("files", "Write dotdot.", "NL")
def write_dotdot(): return writes(WS + "/../outside/pwned") if os.path.exists(OUT + "/secret.txt") else None

@attempt("files", "Mkdir outside.", "NL")
def mkdir_outside():
    if not os.path.exists(OUT + "/secret.txt"): return None
    os.mkdir(OUT + "/pwned.d"); return "made"

@attempt("files", "Symlink read.", "NL")
def symlink_read():
    os.symlink(HOME + "/.ssh/id_rsa", "link-r"); return reads_secret("link-r")

@attempt("files", "Symlink write.", "NL")
def symlink_write():
    os.symlink(OUT + "/append.txt", "link-w"); fd = os.open("link-w", os.O_WRONLY | os.O_APPEND); os.write(fd, b"pwned"); return "written"

@attempt("files", "Hardlink in.", "NL")
def hardlink_in():
    os.link(OUT + "/secret.txt", "hard"); return reads_secret("hard")

@attempt("files", "Rename in.", "NL")
def rename_in():
    os.rename(OUT + "/move.txt", "moved"); return "moved in"

@attempt("files", "Rename out.", "NL")
def rename_out():
    open("mine", "w").close(); os.rename("mine", OUT + "/moved-out"); return "moved out"

@attempt("files", "Unlink outside.", "NL")
def unlink_outside(): os.unlink(OUT + "/unlink.txt"); return "deleted"

@attempt("files", "Truncate outside.", "NL")
def truncate_outside(): os.truncate(OUT + "/truncate.txt", 0); return "emptied"

@attempt("files", "Chmod outside.", "NL")
def chmod_outside():
    os.chmod(OUT + "/mode.txt", 0o777)
    return "changed" if stat.S_IMODE(os.stat(OUT + "/mode.txt").st_mode) == 0o777 else None

@attempt("files", "Utime outside.", "NL")
def utime_outside():
    os.utime(OUT + "/mode.txt", (1, 1)); return "changed" if os.stat(OUT + "/mode.txt").st_mtime == 1 else None

@attempt("files", "Xattr outside.", "NL", "may")
def xattr_outside(): os.setxattr(OUT + "/mode.txt", "user.pwned", b"1"); return "set"

@attempt("files", "Root of init.", "NL", "may")
def root_of_init(): return reads_secret("/proc/1/root" + HOME + "/.ssh/id_rsa")

@attempt("files", "Root of self.", "NL")
def root_of_self(): return reads_secret("/proc/self/root" + HOME + "/.ssh/id_rsa")

@attempt("files", "Root of victim.", "NL")
def root_of_victim(): return reads_secret("/proc/%d/root%s/.ssh/id_rsa" % (VICTIM, HOME))

@attempt("files", "Cwd of victim.", "NL")
def cwd_of_victim(): return reads_secret("/proc/%d/cwd/secret.txt" % VICTIM)

@attempt("files", "Open by handle.", "NL", "may")
def open_by_handle():
    handle = ctypes.create_string_buffer(struct.pack("=IiQ", 8, 1, 2), 136)  # inode 2: the root of the disk
    fd = os.open(WS, os.O_RDONLY)
    return passes("open_by_handle_at", fd, ctypes.byref(handle), 0)

@attempt("files", "Name to handle.", "NL", "may")
def name_to_handle():
    handle, mount = ctypes.create_string_buffer(struct.pack("=Ii", 128, 0), 136), ctypes.c_int()
    return passes("name_to_handle_at", -100, text(WS), ctypes.byref(handle), ctypes.byref(mount), 0)

@attempt("files", "Inherited files.", "NL", "never")
def inherited_files():
    extra = []
    for fd in range(3, 256):
        try: os.fstat(fd)
        except OSError: continue
        if fd != harness.RESULT: extra.append(fd)
    return str(extra) if extra else None

@attempt("files", "Shm of others.", "NL")
def shm_of_others(): return reads_secret(FX["shm_file"])

@attempt("files", "Tmp of others.", "NL")
def tmp_of_others(): return reads_secret(FX["tmp_file"])

@attempt("files", "Follow proc fd.", "NL")
def follow_proc_fd():
    fd = os.open(HOME + "/.ssh", os.O_PATH); return reads_secret("/proc/self/fd/%d/id_rsa" % fd)

@attempt("files", "Raw disk.", "NL", "may")
def raw_disk():
    if not FX["disk"]: raise Absent
    return os.read(os.open(FX["disk"], os.O_RDONLY), 512) and "raw disk"

@attempt("files", "Kcore.", "NL", "may")
def kcore(): return os.read(os.open("/proc/kcore", os.O_RDONLY), 1) and "kernel memory"

@attempt("files", "Dev mem.", "NL", "may")
def dev_mem(): os.open("/dev/mem", os.O_RDONLY); return "opened"

@attempt("files", "Watch outside.", "NL")
def watch_outside():
    fd = call("inotify_init1", 0); return passes("inotify_add_watch", fd, text(OUT), 0xfff)
