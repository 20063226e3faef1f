from harness import *
import ctypes, errno, fcntl, mmap, os, signal, socket, stat, struct, sys, time

@attempt("network", "Tcp4.", "NS")
def tcp4():
    s = socket.create_connection(("127.0.0.1", FX["tcp4"]), 2); s.send(b"x"); return s.recv(8).decode()

@attempt("network", "Tcp6.", "NS", "may")
def tcp6():
    s = socket.socket(socket.AF_INET6); s.settimeout(2); s.connect(("::1", FX["tcp6"])); return "connected"

@attempt("network", "Udp4.", "NS")
def udp4():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(1); s.sendto(b"x", ("127.0.0.1", FX["udp4"])); return s.recv(8).decode()

@attempt("network", "Multipath.", "NS", "may")
def multipath():
    s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262); s.settimeout(2); s.connect(("127.0.0.1", FX["tcp4"])); s.send(b"x"); return s.recv(8).decode()

@attempt("network", "Fast open.", "NS", "may")
def fast_open():
    s = socket.socket(); s.settimeout(2); s.sendto(b"x", 0x20000000, ("127.0.0.1", FX["tcp4"])); return s.recv(8).decode()

@attempt("network", "Other interfaces.", "NS")
def other_interfaces():
    with open("/proc/net/dev") as f: names = [l.split(":")[0].strip() for l in f.readlines()[2:]]
    return str(names) if names != ["lo"] or CONTROL else None

@attempt("network", "Raw icmp.", "NS", "may")
def raw_icmp(): socket.socket(socket.AF_INET, socket.SOCK_RAW, 1); return "made"

@attempt("network", "Packet.", "NS", "may")
def packet(): socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0); return "made"

@attempt("network", "Packet datagram.", "NS", "may")
def packet_datagram(): socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0); return "made"

@attempt("network", "Old packet.", "NS", "may")
def old_packet(): socket.socket(socket.AF_INET, 10, 0); return "made"

@attempt("network", "Vsock.", "NS", "may")
def vsock(): socket.socket(40, socket.SOCK_STREAM, 0); return "made"

@attempt("network", "Crypto.", "NS", "may")
def crypto(): socket.socket(38, socket.SOCK_SEQPACKET, 0); return "made"

@attempt("network", "Netlink.", "NS", "may")
def netlink(): socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0); return "made"

@attempt("network", "Bluetooth.", "NS", "may")
def bluetooth(): socket.socket(31, socket.SOCK_RAW, 1); return "made"

@attempt("network", "Family high bits.", "NS", "may")
def family_high_bits():
    r = call("socket", 16 | 1 << 32, 3, 0); return "netlink by a 64-bit number" if r >= 0 else None

@attempt("network", "Away.", "NS")
def away():
    # A route is enough; nothing is sent.
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try: s.connect(("192.0.2.1", 9))
    except OSError:
        if CONTROL: raise Absent
        raise
    return s.getsockname()[0]
