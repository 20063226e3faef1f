"""Attempts at files on Linux."""
import harness
from harness import *
import ctypes, os, random, stat, struct, threading, time

KEY = HOME + "/.ssh/id_rsa"


@attempt("files", "Reads the encrypted passwords of this machine.", "NL", "ours")
def read_shadow():
    with open("/etc/shadow") as f: return f.read(1)

@attempt("files", "Changes who may read somebody's file.", "NS")
def chmod_outside():
    os.chmod(OUT + "/mode.txt", 0o777)
    return "changed" if stat.S_IMODE(os.stat(OUT + "/mode.txt").st_mode) == 0o777 else None

@attempt("files", "Changes the date of somebody's file.", "NS")
def utime_outside():
    os.utime(OUT + "/mode.txt", (1, 1)); return "changed" if os.stat(OUT + "/mode.txt").st_mtime == 1 else None

@attempt("files", "Attaches a hidden note to somebody's file.", "NS", "may")
def xattr_outside(): os.setxattr(OUT + "/mode.txt", "user.pwned", b"1"); return "set"

@attempt("files", "Learns that a file exists by asking for its size.", "N", full=True)
def stat_outside(): return "%d bytes" % os.stat(KEY).st_size

@attempt("files", "Reads a key by way of the first process's view of the disk.", "NL", "may")
def root_of_init(): return reads_secret("/proc/1/root" + KEY)

@attempt("files", "Reads a key by way of its own entry in /proc.", "NL")
def root_of_self(): return reads_secret("/proc/self/root" + KEY)

@attempt("files", "Reads a key by way of another program's view of the disk.", "NL")
def root_of_victim(): return reads_secret("/proc/%d/root%s" % (VICTIM, KEY))

@attempt("files", "Reads a file by way of another program's folder.", "NL")
def cwd_of_victim(): return reads_secret("/proc/%d/cwd/secret.txt" % VICTIM)

@attempt("files", "Opens a file by its number on the disk, past all folders.", "SR", "ours")
def open_by_handle():
    handle = ctypes.create_string_buffer(struct.pack("=IiQ", 8, 1, 2), 136)  # inode 2: the root of the disk
    fd = os.open(WS, os.O_RDONLY)
    return passes("open_by_handle_at", fd, ctypes.byref(handle), 0)

@attempt("files", "Asks for the number of a file, to open it by that.", "S", "may")
def name_to_handle():
    handle, mount = ctypes.create_string_buffer(struct.pack("=Ii", 128, 0), 136), ctypes.c_int()
    return passes("name_to_handle_at", -100, text(WS), ctypes.byref(handle), ctypes.byref(mount), 0)

@attempt("files", "Finds files that were left open for it by accident.", "E", "never")
def inherited_files():
    extra = []
    for fd in range(3, 1024):
        try: os.fstat(fd)
        except OSError: continue
        if fd != harness.RESULT: extra.append(os.readlink("/proc/self/fd/%d" % fd))
    return str(extra) if extra else None

@attempt("files", "Reads what another program keeps in shared memory.", "NL")
def shm_of_others(): return reads_secret(FX["shm_file"])

@attempt("files", "Reads a temporary file of another program.", "NL")
def tmp_of_others(): return reads_secret(FX["tmp_file"])

@attempt("files", "Opens a folder in a way that needs no right, and a key below it.", "NL")
def follow_proc_fd():
    fd = os.open(HOME + "/.ssh", os.O_PATH); return reads_secret("/proc/self/fd/%d/id_rsa" % fd)

@attempt("files", "Opens a key in a way that needs no right, and then again for reading.", "NL")
def reopen_path():
    fd = os.open(KEY, os.O_PATH); return reads_secret("/proc/self/fd/%d" % fd)

@attempt("files", "Reads a key with a newer call for opening files.", "NLS", "may")
def openat2_key():
    fd = call("openat2", -100, text(KEY), ctypes.c_char_p(struct.pack("=QQQ", os.O_RDONLY, 0, 0)), 24)
    return "secret read" if SECRET.encode() in os.read(fd, 4096) else None

@attempt("files", "Walks up from its folder to the root of the disk and down to a key.", "NL")
def climb():
    fd = os.open(".", os.O_PATH)
    for _ in range(32): fd = os.open("..", os.O_PATH, dir_fd=fd)
    fd = os.open(KEY.lstrip("/"), os.O_RDONLY, dir_fd=fd)
    return "secret read" if SECRET.encode() in os.read(fd, 4096) else None

@attempt("files", "Names an open file anew, to have it in the work folder.", "NL", "may")
def link_open_file():
    fd = os.open(OUT + "/secret.txt", os.O_RDONLY)
    os.link("/proc/self/fd/%d" % fd, "linked", follow_symlinks=True); return reads_secret("linked")

@attempt("files", "Exchanges its own file with somebody's in one step.", "NL")
def exchange():
    open("bait", "w").close(); return passes("renameat2", -100, text("bait"), -100, text(OUT + "/secret.txt"), 2)

def began(path):
    for _ in range(100):
        if os.path.lexists(path): return
        time.sleep(.01)

@attempt("files", "Exchanges a file for a link to a key while it is being opened, 2000 times.", "NL", "may")
def link_race():
    open("plain", "w").close(); os.symlink(KEY, "trap"); stop = []
    def flip():
        for i in range(20000):
            if stop: return
            try: os.symlink(random.choice((KEY, "plain")), "flip-new"); os.rename("flip-new", "flip")
            except OSError: pass
    t = threading.Thread(target=flip); t.start(); began("flip")
    try:
        for _ in range(2000):
            try:
                if reads_secret("flip"): return "secret read"
            except OSError: pass
    finally: stop.append(1); t.join()

@attempt("files", "Exchanges a folder for a link while a file is written into it, 500 times.", "NL", "may")
def folder_race():
    need(OUT + "/secret.txt"); os.mkdir("real"); stop = []
    def flip():
        for i in range(5000):
            if stop: return
            try: os.symlink(random.choice((OUT, "real")), "way-new"); os.rename("way-new", "way")
            except OSError: pass
    t = threading.Thread(target=flip); t.start(); began("way")
    try:
        for i in range(500):
            try: open("way/raced", "w").close()
            except OSError: pass
            if os.path.exists(OUT + "/raced"): return "written outside"
    finally: stop.append(1); t.join()

@attempt("files", "Opens a system program for writing.", "NL", "ours")
def write_system(): os.open("/usr/bin/env", os.O_WRONLY); return "opened for writing"

@attempt("files", "Opens the list of users for writing.", "NL", "ours")
def write_users(): os.open("/etc/passwd", os.O_WRONLY); return "opened for writing" if "root:x" in open("/etc/passwd").read() else None

@attempt("files", "Is told whenever somebody's files change.", "NSL")
def watch_outside():
    fd = call("inotify_init1", 0); return passes("inotify_add_watch", fd, text(OUT), 0xfff)

@attempt("files", "Watches every file that anybody opens.", "SR", "ours")
def watch_all(): return passes("fanotify_init", 0x200, 0)

@attempt("files", "Reads the disk itself, past all files.", "NL", "ours")
def raw_disk():
    if not FX["disk"]: raise Absent("no disk is known")
    return os.read(os.open(FX["disk"], os.O_RDONLY), 512) and "raw disk"

@attempt("files", "Makes a way to the disk of its own, and reads it.", "NR", "ours")
def disk_node():
    if not FX["disk"]: raise Absent("no disk is known")
    os.mknod("disk", 0o600 | stat.S_IFBLK, FX["disk_number"]); fd = os.open("disk", os.O_RDONLY); return os.read(fd, 512) and "raw disk"
