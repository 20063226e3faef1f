"""Attempts at the network on Linux."""
from harness import *
import errno, fcntl, os, socket, struct


def reply(s, *address):
    s.settimeout(2); s.connect(address); s.send(b"x"); return s.recv(8).decode()

@attempt("network", "Connects to a server on this machine by the address that means any.", "NSL")
def tcp_any(): return reply(socket.socket(), "0.0.0.0", FX["tcp4"])

@attempt("network", "Connects to it by an old address written as a new one.", "NSL", "may")
def tcp_mapped(): return reply(socket.socket(socket.AF_INET6), "::ffff:127.0.0.1", FX["tcp4"])

@attempt("network", "Connects to it over several ways at once (MPTCP).", "NS", "may")
def multipath(): return reply(socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262), "127.0.0.1", FX["tcp4"])

@attempt("network", "Sends data with the first packet, without connecting (TCP Fast Open).", "NS", "may")
def fast_open():
    s = socket.socket(); s.sendto(b"x", 0x20000000, ("127.0.0.1", FX["tcp4"])); return s.recv(8).decode()

@attempt("network", "Sends a datagram with a call that also carries control data.", "NS")
def udp_message():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(.4); s.sendmsg([b"x"], [], 0, ("127.0.0.1", FX["udp4"])); return s.recv(8).decode()

@attempt("network", "Connects by a seldom used protocol (SCTP).", "NS", "may")
def sctp(): return reply(socket.socket(socket.AF_INET, socket.SOCK_STREAM, 132), "127.0.0.1", FX["tcp4"])

@attempt("network", "Connects by another one (DCCP).", "NS", "may")
def dccp(): return reply(socket.socket(socket.AF_INET, 6, 33), "127.0.0.1", FX["tcp4"])

@attempt("network", "Sends a datagram by another one (UDP-Lite).", "NS", "may")
def udp_lite():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM, 136); s.connect(("192.0.2.1", 9)); return "a way out"

@attempt("network", "Sees the machine's network cards.", "NL")
def other_interfaces():
    with open("/proc/net/dev") as f: names = [l.split(":")[0].strip() for l in f.readlines()[2:]]
    return str(names) if names != ["lo"] or CONTROL else None

@attempt("network", "Sees which connections the machine has.", "NL")
def connections():
    with open("/proc/net/tcp") as f: return "seen" if ":%04X " % FX["tcp4"] in f.read() else None

@attempt("network", "Sees its neighbours in the network.", "NL", "may")
def neighbours():
    with open("/proc/net/arp") as f: return "seen" if len(f.readlines()) > 1 else None

def made(*kind):
    socket.socket(*kind); return "made"

@attempt("network", "Makes packets of its own (raw sockets).", "SR", "may")
def raw_icmp(): return made(socket.AF_INET, socket.SOCK_RAW, 1)

@attempt("network", "Listens to everything on the wire.", "SR", "may")
def packet(): return made(socket.AF_PACKET, socket.SOCK_RAW, 0)

@attempt("network", "Listens to everything on the wire, in another form.", "SR", "may")
def packet_datagram(): return made(socket.AF_PACKET, socket.SOCK_DGRAM, 0)

@attempt("network", "Listens to everything on the wire, in an old form.", "SR", "may")
def old_packet(): return made(socket.AF_INET, 10, 0)

@attempt("network", "Talks to the machine that this virtual machine runs on.", "S", "may")
def vsock(): return made(40, socket.SOCK_STREAM, 0)

@attempt("network", "Uses the kernel's ciphers, which have had holes.", "S", "may")
def crypto(): return made(38, socket.SOCK_SEQPACKET, 0)

@attempt("network", "Talks to the kernel about routes.", "S", "may")
def netlink(): return made(socket.AF_NETLINK, socket.SOCK_RAW, 0)

@attempt("network", "Asks the kernel for everybody's sockets.", "S", "may")
def netlink_sockets(): return made(socket.AF_NETLINK, socket.SOCK_RAW, 4)

@attempt("network", "Talks to the kernel about its log of events.", "S", "may")
def netlink_audit(): return made(socket.AF_NETLINK, socket.SOCK_RAW, 9)

@attempt("network", "Is told when devices come and go.", "S", "may")
def netlink_devices(): return made(socket.AF_NETLINK, socket.SOCK_DGRAM, 15)

@attempt("network", "Uses Bluetooth.", "S", "may")
def bluetooth(): return made(31, socket.SOCK_RAW, 1)

@attempt("network", "Uses a car's network (CAN).", "S", "may")
def can(): return made(29, socket.SOCK_RAW, 1)

@attempt("network", "Uses a cluster's network (TIPC).", "S", "may")
def tipc(): return made(30, socket.SOCK_RDM, 0)

@attempt("network", "Takes packets past the kernel (XDP).", "SR", "may")
def xdp(): return made(44, socket.SOCK_RAW, 0)

@attempt("network", "Asks for a kind of network with a number above 32 bits.", "S", "may")
def family_high_bits():
    r = call("socket", 16 | 1 << 32, 3, 0); return "netlink by a 64-bit number" if r >= 0 else None

@attempt("network", "Makes a network card of its own.", "NR", "may")
def tunnel(): os.open("/dev/net/tun", os.O_RDWR); return "opened"

@attempt("network", "Turns a network card off.", "RSN", "never")
def card_off():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    fcntl.ioctl(s, 0x8914, struct.pack("16sH14x", b"lo", 0)); return "turned off"

@attempt("network", "Reads the firewall's rules.", "RS", "ours")
def firewall():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.getsockopt(0, 64, 84); return "read"
