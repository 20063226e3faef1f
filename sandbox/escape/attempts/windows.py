"""Attempts of Windows. Not run yet: see docs/sandbox.md."""
from harness import *
from portable import KEY
import ctypes, os, subprocess

kernel32 = ctypes.WinDLL("kernel32", use_last_error=True) if OS == "windows" else None


def output(*argv):
    return subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=8).stdout.decode(errors="replace")

def handle(rights, pid=VICTIM):
    if not kernel32.OpenProcess(rights, False, pid):
        raise OSError(13, "error %d" % ctypes.get_last_error())
    return "opened"

@attempt("files", "Has PowerShell read a private key.", "N", os="windows")
def powershell_reads_key(): return "secret read" if SECRET in output("powershell", "-NoProfile", "-Command", "Get-Content -LiteralPath '%s'" % KEY) else None

@attempt("files", "Reads a key by the long form of its path.", "N", os="windows")
def device_path(): return reads_secret("\\\\?\\" + KEY)

@attempt("files", "Reads a key by the machine's network name.", "N", "may", os="windows")
def share_path(): return reads_secret("\\\\localhost\\%s$%s" % (KEY[0], KEY[2:]))

@attempt("files", "Writes into a hidden stream of somebody's file.", "N", os="windows")
def hidden_stream(): return writes(OUT + "\\mode.txt:pwned")

@attempt("files", "Opens the disk itself.", "N", "never", os="windows")
def raw_disk(): open("\\\\.\\PhysicalDrive0", "rb"); return "opened"

@attempt("processes", "Reads another program's memory.", "N", os="windows")
def victim_memory(): return handle(0x10 | 0x400)

@attempt("processes", "Starts a thread in another program.", "N", os="windows")
def victim_thread(): return handle(0x2 | 0x8 | 0x20)

@attempt("processes", "Opens the program that started it.", "N", "never", os="windows")
def host_process(): return handle(0x1 | 0x10, FX["pid"])

@attempt("processes", "Starts a program outside of its group of limits.", "N", "never", os="windows")
def break_away():
    subprocess.Popen(["cmd", "/c", "exit"], creationflags=0x01000000).wait(); return "started"

@attempt("processes", "Has the system's management service start a program.", "N", "never", os="windows")
def management(): return "started" if "ReturnValue = 0" in output("wmic", "process", "call", "create", "cmd /c exit") else None

@attempt("messages", "Lists the pipes of other programs.", "N", "may", os="windows")
def pipes(): return "listed" if os.listdir("\\\\.\\pipe\\") else None

@attempt("messages", "Reads the clipboard.", "N", "never", os="windows")
def clipboard(): return "opened" if ctypes.WinDLL("user32").OpenClipboard(None) else None

@attempt("persistence", "Starts at the next log-in.", "N", "never", os="windows")
def run_key():
    import winreg
    winreg.OpenKey(winreg.HKEY_CURRENT_USER, r"Software\Microsoft\Windows\CurrentVersion\Run", 0, winreg.KEY_SET_VALUE); return "opened for writing"

@attempt("persistence", "Has the system run something at a time of day.", "N", "never", os="windows")
def task(): return "listed" if "\\" in output("schtasks", "/query", "/fo", "csv", "/nh") else None

@attempt("persistence", "Puts a file into the start folder.", "N", "never", os="windows")
def start_folder():
    p = os.path.join(os.environ.get("APPDATA", "C:\\none"), r"Microsoft\Windows\Start Menu\Programs\Startup", "atoll-escape.txt")
    open(p, "x").close(); os.unlink(p); return "written"

@attempt("environment", "Reads who uses this machine from the registry.", "N", "may", os="windows")
def registry_owner():
    import winreg
    k = winreg.OpenKey(winreg.HKEY_CURRENT_USER, "Volatile Environment"); return winreg.QueryValueEx(k, "USERNAME")[0]
