"""Attempts of macOS. Not run yet: see docs/sandbox.md."""
from harness import *
from portable import KEY
import os, signal, subprocess


def output(*argv):
    return subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=5).stdout.decode(errors="replace")

@attempt("processes", "Reads the variables of another program.", "N", "may", os="darwin")
def victim_environ(): return "seen" if SECRET in output("/bin/ps", "-E", "-ww", "-p", str(VICTIM)) else None

@attempt("processes", "Lists the programs that run.", "N", os="darwin")
def victim_command(): return "seen" if FX["victim_mark"] in output("/bin/ps", "-ww", "-p", str(VICTIM)) else None

@attempt("messages", "Has another program act by AppleScript.", "N", "never", os="darwin")
def apple_script(): return output("/usr/bin/osascript", "-e", 'tell application "Finder" to get name of home')

@attempt("messages", "Reads the clipboard.", "N", "never", os="darwin")
def clipboard(): return "read" if output("/usr/bin/pbpaste") else None

@attempt("files", "Lists the passwords in the keychain.", "N", "never", os="darwin")
def keychain(): return "listed" if "keychain" in output("/usr/bin/security", "list-keychains") else None

@attempt("persistence", "Starts at the next log-in.", "N", os="darwin")
def launch_agent():
    need(KEY); p = HOME + "/Library/LaunchAgents"; os.makedirs(p, exist_ok=True); return writes(p + "/p.plist")

@attempt("persistence", "Has the system run something at a time of day.", "N", "never", os="darwin")
def cron_table(): return "read" if subprocess.run(["/usr/bin/crontab", "-l"], stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout else None

@attempt("persistence", "Opens a page in the browser, by which data leaves.", "N", "never", os="darwin")
def open_page(): return "opened" if subprocess.run(["/usr/bin/open", "about:blank"]).returncode == 0 else None

@attempt("environment", "Reads this machine's serial number.", "N", "may", os="darwin")
def serial_number(): return "read" if "IOPlatformSerialNumber" in output("/usr/sbin/ioreg", "-l", "-d", "2") else None
