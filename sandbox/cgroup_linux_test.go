package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOwnGroup(t *testing.T) {
	const hybrid = "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
	const unified = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
	const part = "30 23 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n"
	for name, row := range map[string]struct{ mounts, groups, want string }{
		"systemd":      {unified, "0::/user.slice/user-1000.slice/user@1000.service/app.slice/app-x.scope\n", "/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice/app-x.scope"},
		"hybrid":       {hybrid, "9:name=systemd:/\n4:memory:/a\n0::/\n", "/sys/fs/cgroup/unified"},
		"container":    {part, "0::/docker/abc/x\n", "/sys/fs/cgroup/x"},
		"elsewhere":    {part, "0::/other\n", ""},
		"version 1":    {"35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n", "4:memory:/a\n", ""},
		"nothing":      {"", "", ""},
		"not a member": {unified, "4:memory:/a\n", ""},
	} {
		dir := t.TempDir()
		write(t, dir+"/mounts", row.mounts)
		write(t, dir+"/groups", row.groups)
		got, err := ownGroup(dir+"/mounts", dir+"/groups")
		if got != row.want || (err == nil) != (row.want != "") {
			t.Errorf("%s: %q, %v; want %q", name, got, err, row.want)
		}
	}
}

// TestGroupFiles writes and reads the files of a group in an ordinary folder.
// NOT TESTED here: that the kernel obeys them; that needs a machine whose memory
// and pids controllers are those of version 2.
func TestGroupFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"memory.max": "max", "memory.swap.max": "max", "memory.oom.group": "1", "pids.max": "max",
		"memory.events": "low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 0\n", "memory.peak": "123456\n", "pids.peak": "17\n",
	} {
		write(t, filepath.Join(dir, name), text)
	}
	c := &cgroup{path: dir, limit: 1 << 30}
	if m, p := c.peaks(); m != 123456 || p != 17 {
		t.Errorf("peaks: %d, %d", m, p)
	}
	for _, row := range []struct {
		in   Exit
		want Cause
	}{
		{Exit{Code: 137, Signal: 9, Cause: Exited}, OutOfMem}, {Exit{Code: 137, Signal: 9, Cause: Failed}, OutOfMem},
		{Exit{Code: 0, Cause: Exited}, Exited}, {Exit{Code: 139, Signal: 11, Cause: Exited}, Exited}, {Exit{Code: 137, Signal: 9, Cause: Killed}, Killed},
		{Exit{Code: 137, Signal: 9, Cause: TooMany}, TooMany},
	} {
		got := c.judge(row.in)
		if got.Cause != row.want || row.want == OutOfMem && !strings.Contains(got.Detail, "1 GiB") {
			t.Errorf("%+v becomes %+v, want %s", row.in, got, row.want)
		}
	}
	write(t, dir+"/memory.events", "oom_kill 0\n")
	if got := c.judge(Exit{Code: 137, Signal: 9, Cause: Exited}); got.Cause != Exited {
		t.Errorf("nothing was ended by the kernel: %+v", got)
	}
	var none *cgroup
	none.remove()
	if e := (Exit{Code: 137, Signal: 9, Cause: Exited}); none.judge(e) != e {
		t.Error("without a group")
	}
}

// TestGroupHoldsARun starts a program in a group without controllers, which is
// all that machines with version 1 have, and ends it by way of the group.
func TestGroupHoldsARun(t *testing.T) {
	own, err := ownGroup("/proc/self/mountinfo", "/proc/self/cgroup")
	if err != nil {
		t.Skipf("NOT TESTED: control groups: %v", err)
	}
	r := newTestRunner(t).(*runner)
	requireFull(t, r)
	if r.groups != nil {
		t.Log("the memory limit is the kernel's here; see TestLimits")
	} else {
		t.Logf("NOT TESTED: limits by the kernel: %s", r.known.groups)
		r.groups = &cgroups{base: own}
	}
	c, err := r.groups.make(Limits{Memory: -1, Procs: -1})
	if err != nil {
		t.Skipf("NOT TESTED: control groups: %v", err)
	}
	c.remove()
	if _, err := os.Stat(c.path); err == nil {
		t.Error("a group was not removed")
	}
	m := mark(t)
	// The limits need controllers that may be missing.
	proc := start(t, r, Policy{Limits: Limits{Memory: -1, Procs: -1}}, sh("setsid sleep "+m+" & echo; sleep "+m))
	awaitLine(t, proc)
	group := cgroup{path: filepath.Join(r.groups.base, fmt.Sprintf("%s%d-%d", groupPrefix, os.Getpid(), r.groups.last.Load()))}
	procs, err := os.ReadFile(group.path + "/cgroup.procs")
	if err != nil || len(strings.Fields(string(procs))) < 3 { // helper and two sleeps
		t.Errorf("in the group: %q, %v", procs, err)
	}
	if err := writeFile(group.path, "cgroup.kill", "1"); err != nil {
		t.Skipf("NOT TESTED: cgroup.kill: %v", err)
	}
	if e := proc.Wait(); e.Cause != Failed {
		t.Errorf("%+v", e)
	}
	if n := running(t, m); n != 0 {
		t.Errorf("%d processes survived", n)
	}
	if _, err := os.Stat(group.path); err == nil {
		t.Error("the group of a program that ended was not removed")
	}
}
