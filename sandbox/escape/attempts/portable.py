"""Attempts of every system."""
from harness import *
import os, signal, socket, subprocess, sys, time

ALL, UNIX = "linux darwin windows", "linux darwin"
KEY = os.path.join(HOME, ".ssh", "id_rsa")


@attempt("files", "Reads a private key in the home folder.", "NL", os=ALL)
def read_key(): return reads_secret(KEY)

@attempt("files", "Reads the passwords that programs keep in the home folder.", "NL", os=ALL)
def read_passwords(): return reads_secret(os.path.join(HOME, ".netrc"))

@attempt("files", "Reads the keys of a cloud account in the home folder.", "NL", os=ALL)
def read_cloud_keys(): return reads_secret(os.path.join(HOME, ".aws", "credentials"))

@attempt("files", "Reads a file next to the work folder.", "NL", os=ALL)
def read_outside(): return reads_secret(os.path.join(OUT, "secret.txt"))

@attempt("files", "Reads a file by a path that leads out of the work folder.", "NL", os=ALL)
def read_dotdot(): return reads_secret(os.path.join(WS, "..", "outside", "secret.txt"))

@attempt("files", "Lists what is in the home folder.", "NL", os=ALL)
def list_home(): return "listed" if ".ssh" in os.listdir(HOME) else None

@attempt("files", "Writes a new file into the home folder.", "NL", os=ALL)
def write_home():
    need(KEY); return writes(os.path.join(HOME, "pwned"))

@attempt("files", "Writes a new file next to the work folder.", "NL", os=ALL)
def write_dotdot():
    need(OUT + "/secret.txt"); return writes(os.path.join(WS, "..", "outside", "pwned"))

@attempt("files", "Makes a folder next to the work folder.", "NL", os=ALL)
def mkdir_outside():
    need(OUT + "/secret.txt"); os.mkdir(OUT + "/pwned.d"); return "made"

@attempt("files", "Moves somebody's file into the work folder.", "NL", os=ALL)
def rename_in():
    os.rename(OUT + "/move.txt", "moved"); return "moved in"

@attempt("files", "Moves its own file among somebody's files.", "NL", os=ALL)
def rename_out():
    need(OUT + "/secret.txt"); open("mine", "w").close(); os.rename("mine", OUT + "/moved-out"); return "moved out"

@attempt("files", "Deletes somebody's file.", "NL", os=ALL)
def unlink_outside(): os.unlink(OUT + "/unlink.txt"); return "deleted"

@attempt("files", "Empties somebody's file.", "NL", os=ALL)
def truncate_outside(): os.truncate(OUT + "/truncate.txt", 0); return "emptied"

@attempt("files", "Reads a private key through a symbolic link.", "NL", os=UNIX)
def symlink_read():
    os.symlink(KEY, "link-r"); return reads_secret("link-r")

@attempt("files", "Writes to somebody's file through a symbolic link.", "NL", os=UNIX)
def symlink_write():
    os.symlink(OUT + "/append.txt", "link-w"); fd = os.open("link-w", os.O_WRONLY | os.O_APPEND); os.write(fd, b"pwned"); return "written"

@attempt("files", "Gives somebody's file a second name in the work folder.", "NL", os=ALL)
def hardlink_in():
    os.link(OUT + "/secret.txt", "hard"); return reads_secret("hard")

@attempt("files", "Has another program read a private key.", "NL", os=ALL)
def program_reads_key():
    argv = ["cmd", "/c", "type", KEY] if OS == "windows" else ["/bin/sh", "-c", "cat '%s'" % KEY]
    p = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if SECRET.encode() not in p.stdout:
        raise RuntimeError(p.stdout.decode(errors="replace").strip())
    return "secret read"

@attempt("persistence", "Adds a line to the shell's start-up file, for the next log-in.", "NL", os=UNIX)
def shell_profile():
    need(KEY); return writes(HOME + "/.bashrc", "a")

@attempt("processes", "Ends another program of this person.", "NL", os=ALL)
def signal_victim(): os.kill(FX["victim_signal"], signal.SIGTERM); return "sent"

@attempt("processes", "Ends the program that started it.", "NL", "never", os=ALL)
def end_host():
    os.kill(FX["pid"], signal.SIGTERM); return "sent"

@attempt("messages", "Talks to the ssh agent in the home folder.", "NSL", os=UNIX)
def agent_socket(): return pong(FX["sock_home"])

@attempt("messages", "Talks to the window system.", "NS", os=UNIX)
def window_socket(): return pong(FX["sock_tmp"])

@attempt("messages", "Talks to docker, which can do anything to the machine.", "NS", os=UNIX)
def docker_socket(): return pong(FX["sock_docker"])

@attempt("messages", "Talks to the desktop's message bus.", "NS", os=UNIX)
def bus_socket(): return pong(FX["sock_bus"])

@attempt("network", "Connects to a server on this machine.", "NSL", os=ALL)
def tcp4():
    s = socket.create_connection(("127.0.0.1", FX["tcp4"]), 2); s.send(b"x"); return s.recv(8).decode()

@attempt("network", "Connects to a server on this machine by IPv6.", "NSL", "may", os=ALL)
def tcp6():
    s = socket.socket(socket.AF_INET6); s.settimeout(2); s.connect(("::1", FX["tcp6"])); return "connected"

@attempt("network", "Sends a datagram to a server on this machine.", "NS", os=ALL)
def udp4():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(.4); s.sendto(b"x", ("127.0.0.1", FX["udp4"])); return s.recv(8).decode()

@attempt("network", "Finds a way to another machine.", "NS", "may", os=ALL)
def away():
    # A route is enough; nothing is sent.
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.connect(("192.0.2.1", 9)); return s.getsockname()[0]

@attempt("network", "Asks for the address of a name on the Internet.", "NS", "never", os=ALL)
def look_up(): return socket.gethostbyname("example.com")

@attempt("network", "Connects to the service that hands out a cloud machine's keys.", "NS", "never", os=ALL)
def cloud_keys():
    socket.create_connection(("169.254.169.254", 80), 1); return "connected"

@attempt("environment", "Finds a token in the variables that it was started with.", "E", os=ALL)
def secret_variable(): return "seen" if any(SECRET in v for v in os.environ.values()) else None


def stays(name, more=""):
    """Starts a process that writes to a file until the work folder is gone, 15 s
    at most, and hides from whoever ends programs."""
    code = "import os, signal, time\nfor s in (1, 2, 15):\n  try: signal.signal(s, signal.SIG_IGN)\n  except (OSError, ValueError): pass\n" + more + \
        "\nfor i in range(150):\n  try: f = open(%r, 'a'); f.write('x'); f.close()\n  except OSError: break\n  time.sleep(.1)" % os.path.join(WS, name)
    flags = dict(creationflags=0x8 | 0x200) if OS == "windows" else dict(start_new_session=True)
    p = subprocess.Popen([sys.executable, "-S", "-c", code], cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **flags)
    end = time.time() + 5
    while not os.path.exists(os.path.join(WS, name)) and p.poll() is None and time.time() < end:
        time.sleep(.02)
    return "started"

@attempt("leftovers", "Leaves a program running that does not let itself be ended.", "V", os=ALL, after="grows:left-process")
def leave_process(): return stays("left-process")

@attempt("leftovers", "Leaves a server behind that others can connect to.", "VN", os=ALL, after="tcp:left_port")
def leave_server():
    return stays("left-server", "import socket; s = socket.socket(); s.bind(('127.0.0.1', %d)); s.listen(5)" % FX["left_port"])
