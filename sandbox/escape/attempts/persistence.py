from harness import *
import ctypes, errno, fcntl, mmap, os, signal, socket, stat, struct, sys, time

@attempt("persistence", "Usr local bin.", "NL", "may")
def usr_local_bin():
    p = "/usr/local/bin/atoll-escape-test"; writes(p); os.unlink(p); return "written"

@attempt("persistence", "Cron.", "NL", "may")
def cron():
    p = "/etc/cron.d/atoll-escape-test"; open(p, "x").close(); os.unlink(p); return "written"

@attempt("persistence", "Site packages.", "NL", "may")
def site_packages():
    p = "/usr/lib/python3/dist-packages/atoll-escape-test.pth"; open(p, "x").close(); os.unlink(p); return "written"

@attempt("persistence", "Shell profile.", "NL")
def shell_profile(): return writes(HOME + "/.bashrc", "a") if os.path.exists(HOME + "/.ssh") else None

@attempt("persistence", "Autostart.", "NL")
def autostart():
    if not os.path.exists(HOME + "/.ssh"): return None
    os.makedirs(HOME + "/.config/autostart"); return writes(HOME + "/.config/autostart/p.desktop")

@attempt("persistence", "Git hook.", "NL")
def git_hook(): return writes(PROJECT + "/.git/hooks/pre-commit")

@attempt("persistence", "Git config.", "NL")
def git_config(): return writes(PROJECT + "/.git/config", "a")

@attempt("persistence", "Git swap.", "NL")
def git_swap():
    os.chdir(PROJECT); os.rename(".git", ".git-away"); os.makedirs(".git/hooks"); writes(PROJECT + "/.git/hooks/pre-commit"); return "swapped"

def has_set_id(path): return "set-id file" if os.stat(path).st_mode & 0o6000 else None

@attempt("persistence", "Chmod setuid.", "NL")
def chmod_setuid():
    open("su1", "w").close(); os.chmod("su1", 0o4755); return has_set_id("su1")

@attempt("persistence", "Fchmod setuid.", "NL")
def fchmod_setuid():
    fd = os.open("su2", os.O_CREAT | os.O_RDWR); os.fchmod(fd, 0o4755); return has_set_id("su2")

@attempt("persistence", "Fchmodat2 setuid.", "NL", "may")
def fchmodat2_setuid():
    open("su3", "w").close(); call("fchmodat2", -100, text("su3"), 0o4755, 0); return has_set_id("su3")

@attempt("persistence", "Create setuid.", "NL")
def create_setuid(): os.close(os.open("su4", os.O_CREAT | os.O_WRONLY, 0o4755)); return has_set_id("su4")

@attempt("persistence", "Tmpfile setgid.", "NL")
def tmpfile_setgid():
    return "set-id file" if os.fstat(os.open(".", os.O_TMPFILE | os.O_RDWR, 0o2755)).st_mode & 0o6000 else None

@attempt("persistence", "Mknod setuid.", "NL")
def mknod_setuid(): os.mknod("su6", 0o4755 | stat.S_IFREG); return has_set_id("su6")

@attempt("persistence", "Openat2 setuid.", "NL", "may")
def openat2_setuid():
    how = struct.pack("=QQQ", os.O_CREAT | os.O_RDWR, 0o4755, 0)
    call("openat2", -100, text("su7"), ctypes.c_char_p(how), 24); return has_set_id("su7")
