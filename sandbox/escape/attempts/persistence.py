"""Attempts at what the host would run or obey later, on Linux."""
from harness import *
import ctypes, os, shutil, stat, struct

KEY = HOME + "/.ssh/id_rsa"


@attempt("persistence", "Puts a program where every user finds it.", "NL", "ours")
def usr_local_bin():
    p = "/usr/local/bin/atoll-escape-test"; writes(p); os.unlink(p); return "written"

@attempt("persistence", "Has the system run something at a time of day.", "NL", "ours")
def cron():
    p = "/etc/cron.d/atoll-escape-test"; open(p, "x").close(); os.unlink(p); return "written"

@attempt("persistence", "Has every Python of this machine load its code.", "NL", "ours")
def site_packages():
    p = "/usr/lib/python3/dist-packages/atoll-escape-test.pth"; open(p, "x").close(); os.unlink(p); return "written"

@attempt("persistence", "Has every program of this machine load its library.", "NL", "never")
def preload(): os.close(os.open("/etc/ld.so.preload", os.O_WRONLY | os.O_CREAT)); return "written"

def in_home(path):
    need(KEY); p = os.path.join(HOME, path); os.makedirs(os.path.dirname(p), exist_ok=True); return writes(p)

@attempt("persistence", "Starts with the desktop.", "NL")
def autostart(): return in_home(".config/autostart/p.desktop")

@attempt("persistence", "Becomes a service of this person.", "NL")
def user_unit(): return in_home(".config/systemd/user/p.service")

@attempt("persistence", "Puts a program in front of others in the home folder.", "NL")
def home_bin(): return in_home(".local/bin/ls")

@attempt("persistence", "Has this person's Python load its code.", "NL")
def user_site(): return in_home(".local/lib/python3/site-packages/p.pth")

@attempt("persistence", "Lets somebody log in by ssh.", "NL")
def authorized_keys(): return in_home(".ssh/authorized_keys")

@attempt("persistence", "Changes what git does in every folder.", "NL")
def git_global(): return in_home(".config/git/config")

@attempt("persistence", "Puts a program into a git folder that runs at the next commit.", "ML")
def git_hook(): return writes(PROJECT + "/.git/hooks/pre-commit")

@attempt("persistence", "Changes a git folder's settings, which can name programs.", "ML")
def git_config(): return writes(PROJECT + "/.git/config", "a")

@attempt("persistence", "Moves a git folder away and puts its own in its place.", "ML")
def git_swap():
    os.chdir(PROJECT); os.rename(".git", ".git-away"); os.makedirs(".git/hooks"); writes(".git/hooks/pre-commit")
    if CONTROL: shutil.rmtree(".git"); os.rename(".git-away", ".git")
    return "swapped"

@attempt("persistence", "Changes what an editor runs when the project is opened.", "ML")
def editor_task(): return writes(PROJECT + "/.vscode/tasks.json", "a")

@attempt("persistence", "Has the project's Python load its code at every start.", "ML")
def project_pth(): return writes(PROJECT + "/.venv/lib/python3/site-packages/old.pth", "a")

@attempt("persistence", "Changes the module that Python loads before any program.", "ML")
def sitecustomize(): return writes(PROJECT + "/sitecustomize.py", "a")

@attempt("persistence", "Deletes a git hook and puts its own there.", "ML")
def hook_replace():
    p = PROJECT + "/.git/hooks/sample"; os.unlink(p); return writes(p)

@attempt("persistence", "Puts a link where a git hook was.", "ML")
def hook_link():
    shutil.copy("facts.json", PROJECT + "/evil"); os.symlink(PROJECT + "/evil", PROJECT + "/.git/hooks/post-merge"); return "linked"

def has_set_id(path): return "set-id file" if os.stat(path).st_mode & 0o6000 else None

@attempt("persistence", "Makes a file that runs with its owner's rights.", "S")
def chmod_setuid():
    open("su1", "w").close(); os.chmod("su1", 0o4755); return has_set_id("su1")

@attempt("persistence", "Makes such a file by an open file.", "S")
def fchmod_setuid():
    fd = os.open("su2", os.O_CREAT | os.O_RDWR); os.fchmod(fd, 0o4755); return has_set_id("su2")

@attempt("persistence", "Makes such a file with a newer call.", "S", "may")
def fchmodat2_setuid():
    open("su3", "w").close(); call("fchmodat2", -100, text("su3"), 0o4755, 0); return has_set_id("su3")

@attempt("persistence", "Makes such a file at once, when creating it.", "S")
def create_setuid(): os.close(os.open("su4", os.O_CREAT | os.O_WRONLY, 0o4755)); return has_set_id("su4")

@attempt("persistence", "Makes such a file without a name.", "S", "may")
def tmpfile_setgid():
    return "set-id file" if os.fstat(os.open(".", os.O_TMPFILE | os.O_RDWR, 0o2755)).st_mode & 0o6000 else None

@attempt("persistence", "Makes such a file with the call for devices.", "S")
def mknod_setuid(): os.mknod("su6", 0o4755 | stat.S_IFREG); return has_set_id("su6")

@attempt("persistence", "Makes such a file with the newest call for opening.", "S", "may")
def openat2_setuid():
    call("openat2", -100, text("su7"), ctypes.c_char_p(struct.pack("=QQQ", os.O_CREAT | os.O_RDWR, 0o4755, 0)), 24); return has_set_id("su7")

@attempt("persistence", "Makes a folder whose files belong to its group.", "S")
def folder_setgid(): os.mkdir("sg8"); os.chmod("sg8", 0o2755); return has_set_id("sg8")

@attempt("persistence", "Hides such a bit above the 32 bits that the kernel reads.", "S")
def setuid_high_bits():
    open("su9", "w").close(); call("fchmodat", -100, text("su9"), 0o4755 | 1 << 32); return has_set_id("su9")

@attempt("persistence", "Gives a file the rights of the administrator.", "RS", "may")
def file_capability():
    open("cap", "w").close(); os.setxattr("cap", "security.capability", struct.pack("<5I", 0x02000001, 1 << 21, 0, 0, 0)); return "set"

@attempt("persistence", "Attaches what only the administrator may attach.", "RS", "may")
def trusted_note(): open("note", "w").close(); os.setxattr("note", "trusted.pwned", b"1"); return "set"

@attempt("persistence", "Gives its own file to the administrator.", "RNS", "may")
def chown_root():
    if os.getuid() == 0: raise Absent("it is root's already")
    open("gift", "w").close(); os.chown("gift", 0, 0); return "given" if os.stat("gift").st_uid == 0 else None

@attempt("persistence", "Keeps a program of the system that runs with root's rights.", "NL", "may")
def link_setuid():
    for p in ("/usr/bin/su", "/bin/su", "/usr/bin/sudo", "/usr/bin/passwd"):
        if os.path.exists(p): os.link(p, "su"); return has_set_id("su")
    raise Absent("no such program")

@attempt("persistence", "Marks its file so that nobody can delete it.", "RS", "never")
def immutable():
    import fcntl
    fd = os.open("forever", os.O_CREAT | os.O_RDWR)
    fcntl.ioctl(fd, 0x40086602, struct.pack("=L", 0x10)); fcntl.ioctl(fd, 0x40086602, struct.pack("=L", 0)); return "marked"
