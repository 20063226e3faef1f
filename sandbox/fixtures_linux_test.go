package sandbox

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

const escapeSecret = "TOPSECRET-" + "4711"

// escapeCalls are the system calls that the hostile script makes by number.
var escapeCalls = map[string]int{
	"open_by_handle_at": unix.SYS_OPEN_BY_HANDLE_AT, "name_to_handle_at": unix.SYS_NAME_TO_HANDLE_AT,
	"inotify_init1": unix.SYS_INOTIFY_INIT1, "inotify_add_watch": unix.SYS_INOTIFY_ADD_WATCH,
	"fchmodat2": unix.SYS_FCHMODAT2, "openat2": unix.SYS_OPENAT2, "tgkill": unix.SYS_TGKILL,
	"pidfd_open": unix.SYS_PIDFD_OPEN, "pidfd_send_signal": unix.SYS_PIDFD_SEND_SIGNAL, "pidfd_getfd": unix.SYS_PIDFD_GETFD,
	"ptrace": unix.SYS_PTRACE, "process_vm_readv": unix.SYS_PROCESS_VM_READV, "prlimit64": unix.SYS_PRLIMIT64,
	"setpriority": unix.SYS_SETPRIORITY, "sched_setaffinity": unix.SYS_SCHED_SETAFFINITY,
	"sched_setscheduler": unix.SYS_SCHED_SETSCHEDULER, "ioprio_set": unix.SYS_IOPRIO_SET, "kcmp": unix.SYS_KCMP,
	"shmget": unix.SYS_SHMGET, "shmat": unix.SYS_SHMAT, "mq_open": unix.SYS_MQ_OPEN,
	"keyctl": unix.SYS_KEYCTL, "add_key": unix.SYS_ADD_KEY, "request_key": unix.SYS_REQUEST_KEY,
	"socket": unix.SYS_SOCKET, "io_uring_setup": unix.SYS_IO_URING_SETUP, "unshare": unix.SYS_UNSHARE,
	"clone": unix.SYS_CLONE, "clone3": unix.SYS_CLONE3, "setns": unix.SYS_SETNS, "mount": unix.SYS_MOUNT,
	"umount2": unix.SYS_UMOUNT2, "fsopen": unix.SYS_FSOPEN, "open_tree": unix.SYS_OPEN_TREE,
	"mount_setattr": unix.SYS_MOUNT_SETATTR, "chroot": unix.SYS_CHROOT, "pivot_root": unix.SYS_PIVOT_ROOT,
	"bpf": unix.SYS_BPF, "perf_event_open": unix.SYS_PERF_EVENT_OPEN, "userfaultfd": unix.SYS_USERFAULTFD,
	"fanotify_init": unix.SYS_FANOTIFY_INIT, "personality": unix.SYS_PERSONALITY, "reboot": unix.SYS_REBOOT,
	"kexec_load": unix.SYS_KEXEC_LOAD, "init_module": unix.SYS_INIT_MODULE, "swapon": unix.SYS_SWAPON,
	"acct": unix.SYS_ACCT, "settimeofday": unix.SYS_SETTIMEOFDAY, "sethostname": unix.SYS_SETHOSTNAME,
	"syslog": unix.SYS_SYSLOG, "vhangup": unix.SYS_VHANGUP, "ioctl": unix.SYS_IOCTL, "memfd_create": unix.SYS_MEMFD_CREATE,
}

// escapeFixture is what hostile attempts aim at: a home with secrets, files
// next to the workspace, programs, sockets and shared memory of "others".
type escapeFixture struct {
	base, home, outside, ws, file string
	victims                       []*exec.Cmd
}

// newEscapeFixture builds it anew, since attempts that succeed damage it.
func newEscapeFixture(t *testing.T) *escapeFixture {
	t.Helper()
	base, err := os.MkdirTemp("/var/tmp", "atoll-escape-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	fx := &escapeFixture{base: base, home: base + "/home", outside: base + "/outside", ws: base + "/ws"}
	fx.file = fx.ws + "/fixtures.json"
	for _, f := range []string{"home/.ssh/id_rsa", "home/.bashrc", "outside/secret.txt", "outside/append.txt", "outside/move.txt",
		"outside/unlink.txt", "outside/truncate.txt", "outside/mode.txt", "ws/.git/config", "ws/.git/hooks/sample"} {
		write(t, filepath.Join(base, f), escapeSecret)
	}
	script, err := os.ReadFile("testdata/escape.py")
	if err != nil {
		t.Fatal(err)
	}
	write(t, fx.ws+"/escape.py", string(script))
	tmp, err := os.CreateTemp("/tmp", "atoll-escape-")
	if err != nil {
		t.Fatal(err)
	}
	tmp.Close()
	shm := filepath.Join("/dev/shm", filepath.Base(tmp.Name()))
	for _, p := range []string{tmp.Name(), shm} {
		write(t, p, escapeSecret)
		t.Cleanup(func() { os.Remove(p) })
	}
	mark := fmt.Sprintf("1000.%d", os.Getpid())
	for range 3 {
		v := exec.Command("/bin/sleep", mark)
		v.Env, v.Dir = []string{"TOKEN=" + escapeSecret}, fx.outside
		if err := v.Start(); err != nil {
			t.Fatal(err)
		}
		fx.victims = append(fx.victims, v)
		t.Cleanup(func() {
			v.Process.Kill()
			v.Wait()
		})
	}
	id := filepath.Base(base)
	disk, number := someDisk()
	fixtures := map[string]any{
		"home": fx.home, "outside": fx.outside, "ws": fx.ws, "secret": escapeSecret, "amd64": runtime.GOARCH == "amd64",
		"nr": escapeCalls, "victim": fx.victims[0].Process.Pid, "victim_signal": fx.victims[1].Process.Pid,
		"victim_sigio": fx.victims[2].Process.Pid, "victim_mark": mark, "tmp_file": tmp.Name(), "shm_file": shm,
		"sock_home": fx.home + "/agent.sock", "sock_tmp": tmp.Name() + ".sock",
		"sock_abstract": id, "sock_abstract_datagram": id + "-d", "shm_key": sharedMemory(t), "mq": messageQueue(t, id),
		"tcp4": port(serve(t, "tcp4", "127.0.0.1:0")), "tcp6": port(serve(t, "tcp6", "[::1]:0")), "udp4": udpEcho(t),
		"disk": disk, "disk_number": number,
	}
	for _, a := range []string{fx.home + "/agent.sock", tmp.Name() + ".sock", "@" + id} {
		serve(t, "unix", a)
	}
	d, err := net.ListenPacket("unixgram", "@"+id+"-d")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	b, err := json.Marshal(fixtures)
	if err != nil {
		t.Fatal(err)
	}
	write(t, fx.file, string(b))
	return fx
}

// damage lists what changed outside the workspace.
func (fx *escapeFixture) damage() []string {
	var bad []string
	for _, f := range []string{"home/.ssh/id_rsa", "home/.bashrc", "outside/secret.txt", "outside/append.txt", "outside/move.txt",
		"outside/unlink.txt", "outside/truncate.txt", "outside/mode.txt"} {
		p := filepath.Join(fx.base, f)
		if b, err := os.ReadFile(p); err != nil || string(b) != escapeSecret {
			bad = append(bad, fmt.Sprintf("%s holds %q (%v)", f, b, err))
		} else if st, err := os.Stat(p); err != nil || st.Mode() != 0o644 || st.ModTime().Unix() == 1 {
			bad = append(bad, f+" has another mode or time")
		}
	}
	for folder, want := range map[string]int{"home": 3, "outside": 6} {
		entries, err := os.ReadDir(filepath.Join(fx.base, folder))
		if err != nil || len(entries) != want {
			bad = append(bad, fmt.Sprintf("%s holds %v, want %d entries (%v)", folder, entries, want, err))
		}
	}
	for i, v := range fx.victims {
		var info unix.Siginfo
		// Looks without collecting; a process number of 0 means still running.
		err := unix.Waitid(unix.P_PID, v.Process.Pid, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
		if err != nil || info.Signo != 0 {
			bad = append(bad, fmt.Sprintf("victim %d has ended (%v)", i, err))
		}
	}
	filepath.WalkDir(fx.ws, func(p string, d os.DirEntry, err error) error {
		if err == nil {
			if i, err := d.Info(); err == nil && i.Mode()&(os.ModeSetuid|os.ModeSetgid|os.ModeDevice) != 0 {
				bad = append(bad, fmt.Sprintf("%s is %v", p, i.Mode()))
			}
		}
		return nil
	})
	return bad
}

// gitDamage lists what changed in the protected part of the workspace.
func (fx *escapeFixture) gitDamage() []string {
	var bad []string
	if b, err := os.ReadFile(fx.ws + "/.git/config"); err != nil || string(b) != escapeSecret {
		bad = append(bad, fmt.Sprintf(".git/config holds %q (%v)", b, err))
	}
	if entries, err := os.ReadDir(fx.ws + "/.git/hooks"); err != nil || len(entries) != 1 {
		bad = append(bad, fmt.Sprintf(".git/hooks holds %v (%v)", entries, err))
	}
	return bad
}

// serve answers every connection with "pong" and returns the address.
func serve(t *testing.T, network, address string) net.Addr {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Logf("no fixture %s %s: %v", network, address, err)
		return nil
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Read(make([]byte, 1))
			c.Write([]byte("pong"))
			c.Close()
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-done
	})
	return l.Addr()
}

func port(a net.Addr) int {
	if tcp, ok := a.(*net.TCPAddr); ok {
		return tcp.Port
	}
	return 1
}

func udpEcho(t *testing.T) int {
	t.Helper()
	c, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		b := make([]byte, 8)
		for {
			n, from, err := c.ReadFrom(b)
			if err != nil {
				return
			}
			c.WriteTo(b[:n], from)
		}
	}()
	t.Cleanup(func() {
		c.Close()
		<-done
	})
	return c.LocalAddr().(*net.UDPAddr).Port
}

// sharedMemory makes a SysV segment and returns its key.
func sharedMemory(t *testing.T) int {
	t.Helper()
	key := 0x41544f00 + os.Getpid()
	id, err := unix.SysvShmGet(key, 16, unix.IPC_CREAT|0o666)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.SysvShmCtl(id, unix.IPC_RMID, nil) })
	return key
}

// messageQueue makes a POSIX queue and returns its name as the kernel takes it.
func messageQueue(t *testing.T, name string) string {
	t.Helper()
	p, err := syscall.BytePtrFromString(name)
	if err != nil {
		t.Fatal(err)
	}
	fd, _, e := unix.Syscall6(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(p)), unix.O_CREAT|unix.O_RDWR, 0o666, 0, 0, 0)
	if e != 0 {
		t.Logf("no fixture message queue: %v", e)
		return name
	}
	unix.Close(int(fd))
	t.Cleanup(func() { unix.Syscall(unix.SYS_MQ_UNLINK, uintptr(unsafe.Pointer(p)), 0, 0) })
	return name
}

// someDisk returns a disk that exists here, and its number.
func someDisk() (string, uint64) {
	for _, p := range []string{"/dev/vda", "/dev/sda", "/dev/nvme0n1"} {
		var st unix.Stat_t
		if unix.Stat(p, &st) == nil {
			return p, st.Rdev
		}
	}
	return "", 0
}
