"""Attempts at devices, terminals and the kernel's settings on Linux."""
from harness import *
import fcntl, mmap, os, stat, struct


def opens(path, flags=os.O_RDWR, read=0):
    fd = os.open(path, flags)
    if read and not os.read(fd, read): return None
    return "opened" if flags == os.O_RDONLY else "opened for writing"

@attempt("devices", "Reads the kernel's memory as a file.", "NL", "ours")
def kcore(): return opens("/proc/kcore", os.O_RDONLY, 1)

@attempt("devices", "Opens the machine's memory.", "NL", "ours")
def dev_mem(): return opens("/dev/mem", os.O_RDONLY)

@attempt("devices", "Makes a way to the machine's memory of its own.", "RN", "ours")
def memory_node():
    os.mknod("mem", 0o600 | stat.S_IFCHR, os.makedev(1, 1)); return opens("mem", os.O_RDONLY)

@attempt("devices", "Reads the keyboard.", "NL", "ours")
def keyboard(): return opens("/dev/input/event0", os.O_RDONLY | os.O_NONBLOCK)

@attempt("devices", "Types on a keyboard of its own.", "NL", "ours")
def make_keyboard(): return opens("/dev/uinput", os.O_WRONLY | os.O_NONBLOCK)

@attempt("devices", "Uses the camera.", "NL", "ours")
def camera(): return opens("/dev/video0")

@attempt("devices", "Uses the microphone.", "NL", "ours")
def microphone(): return opens("/dev/snd/pcmC0D0c", os.O_RDONLY | os.O_NONBLOCK)

@attempt("devices", "Reads what the screen shows.", "NL", "ours")
def screen(): return opens("/dev/fb0", os.O_RDONLY)

@attempt("devices", "Uses the graphics card, which was not allowed.", "NL", "may")
def graphics():
    for p in ("/dev/dri/renderD128", "/dev/nvidiactl", "/dev/kfd"):
        if os.path.exists(p): return opens(p)
    os.stat("/dev/dri/renderD128")

@attempt("devices", "Starts a virtual machine.", "NL", "may")
def virtual_machine(): return opens("/dev/kvm")

@attempt("devices", "Makes a file system of its own.", "NL", "may")
def fuse(): return opens("/dev/fuse")

@attempt("devices", "Makes a disk of a file.", "NL", "may")
def loop_disk(): return opens("/dev/loop-control")

@attempt("devices", "Writes to the console.", "NL", "ours")
def console(): return opens("/dev/console", os.O_WRONLY | os.O_NOCTTY)

@attempt("devices", "Writes to the terminal that it was started from.", "N", "may")
def controlling_terminal(): return opens("/dev/tty")

def terminal_push(request):
    _, slave = os.openpty()
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid(); fcntl.ioctl(slave, 0x540E, 0); call("ioctl", slave, request, buffer(1)); os._exit(0)
        except OSError as e: os._exit(e.errno)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if code: raise OSError(code, "")
    return "typed"

@attempt("devices", "Types a command into the terminal that it was started from.", "S", "may")
def terminal_input(): return terminal_push(0x5412)

@attempt("devices", "Does that with a number above the 32 bits that filters may overlook.", "S", "may")
def terminal_input_high_bits(): return terminal_push(0x5412 | 1 << 32)

@attempt("devices", "Pastes into a text console.", "S", "may")
def console_paste(): return terminal_push(0x541C)

@attempt("devices", "Has the kernel start its program when another one crashes.", "NL", "may")
def core_pattern(): return opens("/proc/sys/kernel/core_pattern", os.O_WRONLY)

@attempt("devices", "Has the kernel start its program when a driver is needed.", "NL", "may")
def driver_program(): return opens("/proc/sys/kernel/modprobe", os.O_WRONLY)

@attempt("devices", "Restarts the machine by a file.", "NL", "may")
def sysrq(): return opens("/proc/sysrq-trigger", os.O_WRONLY)

@attempt("devices", "Changes how the kernel treats memory.", "NL", "may")
def kernel_setting(): return opens("/proc/sys/vm/drop_caches", os.O_WRONLY)

@attempt("devices", "Allows itself more namespaces.", "NL", "may")
def more_namespaces(): return opens("/proc/sys/user/max_user_namespaces", os.O_WRONLY)

@attempt("devices", "Changes how its own rights are mapped.", "NLR", "never")
def user_map():
    with open("/proc/self/uid_map", "w") as f: f.write("0 0 1")
    return "written"

@attempt("devices", "Leaves its group of limits.", "NL", "may")
def cgroup():
    for p in ("/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/unified/cgroup.procs"):
        if os.path.exists(p): return opens(p, os.O_WRONLY)
    os.stat("/sys/fs/cgroup/cgroup.procs")

@attempt("devices", "Makes a group of limits of its own.", "NL", "never")
def make_cgroup(): os.mkdir("/sys/fs/cgroup/atoll-escape"); os.rmdir("/sys/fs/cgroup/atoll-escape"); return "made"

@attempt("devices", "Has a program run when a group of limits is empty.", "NL", "may")
def release_agent(): return opens("/sys/fs/cgroup/release_agent", os.O_WRONLY)

@attempt("devices", "Turns a processor core off.", "NL", "may")
def cpu_setting(): return opens("/sys/devices/system/cpu/cpu1/online", os.O_WRONLY)

@attempt("devices", "Looks into the kernel's files for developers.", "NL", "may")
def debug_files(): return str(os.listdir("/sys/kernel/debug") or os.listdir("/sys/kernel/tracing"))

@attempt("devices", "Changes what the machine starts with.", "NL", "may")
def firmware(): return str(os.listdir("/sys/firmware/efi/efivars")[:1])
