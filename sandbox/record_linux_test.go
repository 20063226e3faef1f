package sandbox

import (
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

func record(t *testing.T, p Process) Record {
	t.Helper()
	r, err := p.(Recorder).Record()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func count(r Record, kind, what string) int64 {
	for _, d := range r.Denials {
		if d.Kind == kind && d.What == what {
			return d.Count
		}
	}
	return 0
}

// tries makes hostile calls and waits before the second half.
const tries = `import ctypes, errno, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
def refused(f, *a):
    ctypes.set_errno(0); assert f(*a) == -1; return ctypes.get_errno()
for i in range(3): assert refused(libc.ptrace, 0, 0, 0, 0) == errno.EPERM
assert refused(libc.unshare, 0x10000000) == errno.EPERM
for i in range(100):
    try: s = socket.socket(); s.connect(("192.0.2.%d" % i, 443))
    except OSError: pass
print("half", flush=True); sys.stdin.readline()
for i in range(5000): libc.ptrace(0, 0, 0, 0)
for i in range(2): assert refused(libc.mount, None, None, None, 0, None) == errno.EPERM
open("out.bin", "wb").write(b"x" * (3 << 20))
n = 0
for i in range(3000000): n += i
b = b"x" * (40 << 20)
print("done", flush=True); sys.stdin.readline()
`

func TestRecord(t *testing.T) {
	if _, err := os.Stat(python); err != nil {
		t.Skipf("NOT TESTED: records, because there is no %s", python)
	}
	for level, r := range runners(t) {
		dir := folder(t)
		proc := start(t, r, Policy{Write: []string{dir}}, Command{Path: python, Args: []string{"-c", tries}, Dir: dir})
		said := func(want string) {
			t.Helper()
			b := make([]byte, len(want))
			if _, err := io.ReadFull(proc.Stdout(), b); err != nil || string(b) != want {
				rest, _ := io.ReadAll(proc.Stderr())
				t.Fatalf("%s: %q %v %s", level, b, err, rest)
			}
		}
		said("half\n")
		first := record(t, proc)
		io.WriteString(proc.Stdin(), "\n")
		said("done\n")
		record(t, proc) // looks at the memory
		io.WriteString(proc.Stdin(), "\n")
		got := collect(t, proc)
		last := record(t, proc)
		if got.exit.Code != 0 {
			t.Fatalf("%s: %+v", level, got)
		}
		if !slices.Contains(last.Layers, "seccomp log") {
			t.Fatalf("%s: refusals are not counted: %v", level, last.Layers)
		}
		between := last.Sub(first)
		for _, row := range []struct {
			when       string
			r          Record
			kind, what string
			want       int64
		}{
			{"first", first, "call", "ptrace", 3}, {"first", first, "call", "unshare", 1}, {"first", first, "call", "mount", 0},
			{"between", between, "call", "ptrace", 5000}, {"between", between, "call", "mount", 2}, {"between", between, "call", "unshare", 0},
			{"last", last, "call", "ptrace", 5003},
		} {
			if n := count(row.r, row.kind, row.what); n != row.want {
				t.Errorf("%s, %s: %s %s counted %d times, want %d", level, row.when, row.kind, row.what, n, row.want)
			}
		}
		if level == LevelFull {
			if count(first, "network", "192.0.2.7:443") != 1 || count(first, "network", otherTargets) != 100-maxTargets {
				t.Errorf("addresses: %+v", first.Denials)
			}
		} else if count(first, "call", "socket") < 100 {
			t.Errorf("sockets: %+v", first.Denials)
		}
		u := last.Usage
		if u.Wall <= 0 || u.CPU <= 10*time.Millisecond || u.CPU > 2*u.Wall+time.Second || u.Memory < 40<<20 || u.Memory > 1<<30 ||
			u.Procs < 1 || u.Procs > 20 || u.Written < 3<<20 || u.Written > 4<<20 || first.Usage.Written > 1<<20 {
			t.Errorf("%s: usage %+v, before %+v", level, u, first.Usage)
		}
	}
}

// TestFloodOfRefusedCalls shows that the helper goes on under one. It ends by
// itself after some seconds.
func TestFloodOfRefusedCalls(t *testing.T) {
	if _, err := os.Stat(python); err != nil {
		t.Skipf("NOT TESTED: floods, because there is no %s", python)
	}
	const flood = `import ctypes, os, socket, struct, threading, time
libc = ctypes.CDLL(None)
def calls():
    end = time.time() + 8
    while time.time() < end:
        for i in range(1000): libc.ptrace(0, 0, 0, 0)
def targets():
    end, i = time.time() + 8, 0
    while time.time() < end:
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); i += 1
        try: s.sendto(b"x", (socket.inet_ntoa(struct.pack("!I", 0x08000000 + i)), 53))
        except OSError: s.close()
for f in [calls] * 6 + [targets] * 6: threading.Thread(target=f).start()
print("go", flush=True)
`
	for level, r := range runners(t) {
		proc := start(t, r, Policy{}, Command{Path: python, Args: []string{"-c", flood}})
		if _, err := io.ReadFull(proc.Stdout(), make([]byte, 3)); err != nil {
			t.Fatalf("%s: %v", level, err)
		}
		before := record(t, proc)
		for range 5 {
			now := record(t, proc)
			if n, was := count(now, "call", "ptrace"), count(before, "call", "ptrace"); n < was || n > was+10_000_000 {
				t.Errorf("%s: %d refusals after %d", level, n, was)
			}
			if len(now.Denials) > maxTargets+10 {
				t.Errorf("%s: the record has %d lines", level, len(now.Denials))
			}
			before = now
		}
		if err := proc.(Sweeper).Sweep(); err != nil {
			t.Errorf("%s: %v", level, err)
		}
		proc.Kill()
		if e := proc.Wait(); e.Cause != Killed {
			t.Errorf("%s: %+v", level, e)
		}
		if last := record(t, proc); count(last, "call", "ptrace") < 1 {
			t.Errorf("%s: %+v", level, last)
		}
	}
}

// TestRecordOfAKilledRun shows that a run that is stopped leaves a record.
func TestRecordOfAKilledRun(t *testing.T) {
	for level, r := range runners(t) {
		proc := start(t, r, Policy{}, sh("echo x; read a; exit 1"))
		io.ReadFull(proc.Stdout(), make([]byte, 2))
		proc.Kill()
		if e := proc.Wait(); e.Cause != Killed {
			t.Errorf("%s: %+v", level, e)
		}
		if got := record(t, proc); got.Usage.Wall <= 0 || len(got.Layers) == 0 {
			t.Errorf("%s: %+v", level, got)
		}
	}
}

// TestRecordOfTheProxy shows what passed the way out.
func TestRecordOfTheProxy(t *testing.T) {
	if _, err := os.Stat(python); err != nil {
		t.Skipf("NOT TESTED: the proxy from inside, because there is no %s", python)
	}
	r := newTestRunner(t).(*runner)
	requireFull(t, r)
	r.upstream = office(t, hello(t).String())
	n := Network{Mode: NetworkHosts, Hosts: []string{"listed.test"}}
	proc := start(t, r, Policy{Network: n}, Command{Path: python, Args: []string{"-c", fetch, "9", "http://listed.test/", "http://other.test/", "http://other.test/"}})
	got := collect(t, proc)
	rec := record(t, proc)
	if !slices.Equal(rec.Usage.Hosts, []string{"listed.test:80"}) || rec.Usage.Sent < 50 || rec.Usage.Received < 100 || count(rec, "network", "other.test:80") != 2 || !slices.Contains(rec.Layers, "proxy") {
		t.Errorf("%+v\n%+v", rec, got)
	}
}

func TestLimitsOfTimeAndOutput(t *testing.T) {
	if _, err := os.Stat(python); err != nil {
		t.Skipf("NOT TESTED: limits, because there is no %s", python)
	}
	for _, row := range []struct {
		name, script string
		limits       Limits
		cause        Cause
		detail       string
	}{
		{"time", "import time\ntime.sleep(20)\nprint('survived')", Limits{Wall: 500 * time.Millisecond}, OutOfTime, "It ran for 0.5 s"},
		{"time of a background process", "import os, time\nif os.fork(): time.sleep(20)\nos.setsid(); time.sleep(20)", Limits{Wall: 500 * time.Millisecond}, OutOfTime, "limit"},
		{"processor", "n = 0\nwhile n < 1 << 27: n += 1\nprint('survived')", Limits{CPU: 300 * time.Millisecond}, OutOfTime, "processor time; the limit is 0.3 s"},
		{"processor of children", "import subprocess, sys\nfor i in range(200): subprocess.run([sys.executable, '-c', 'for i in range(300000): pass'])\nprint('survived')", Limits{CPU: 300 * time.Millisecond}, OutOfTime, "processor"},
		{"output", "import sys\nfor i in range(100000): sys.stdout.write('x' * 100)\nsys.stderr.write('survived')", Limits{Output: 1 << 20}, TooLoud, "1 MiB"},
		{"output in both", "import sys\nfor i in range(50000): sys.stdout.write('x' * 50); sys.stderr.write('y' * 50)\nprint('survived')", Limits{Output: 1 << 20}, TooLoud, "1 MiB"},
		{"enough", "print('x' * 1000)", Limits{Output: 1 << 20, Wall: time.Minute, CPU: time.Minute}, Exited, ""},
	} {
		for level, r := range runners(t) {
			proc := start(t, r, Policy{Limits: row.limits}, Command{Path: python, Args: []string{"-c", row.script}})
			got := collect(t, proc)
			if want := row.cause != Exited; (count(record(t, proc), "limit", string(row.cause)) == 1) != want {
				t.Errorf("%s, %s: the record names the limit: %v, want %v", row.name, level, !want, want)
			}
			if got.exit.Cause != row.cause || !strings.Contains(got.exit.Detail, row.detail) || strings.Contains(got.out+got.err, "survived") || len(got.out)+len(got.err) > 1<<20 {
				t.Errorf("%s, %s: %+v with %d bytes, want cause %q, detail %q", row.name, level, got.exit, len(got.out)+len(got.err), row.cause, row.detail)
			}
		}
	}
}
