package sandbox

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Every program here is bounded by itself, so that it does no harm to the
// machine when the sandbox fails.
const (
	allocate    = "b=[]\nfor i in range(80): b.append(bytearray(8<<20))\nprint('survived')"
	allocForked = "import os,time\nfor i in range(6):\n  if os.fork()==0:\n    b=bytearray(80<<20)\n    for j in range(0,len(b),4096): b[j]=1\n    time.sleep(30); os._exit(0)\ntime.sleep(20)\nprint('survived')"
	allocShared = "import mmap,time\nb=[]\nfor i in range(64):\n  m=mmap.mmap(-1,8<<20); m.write(b'x'*(8<<20)); b.append(m); time.sleep(.01)\ntime.sleep(5)\nprint('survived')"
	fillTmp     = "f=open('/tmp/x','wb')\ntry:\n  for i in range(400): f.write(b'x'*(1<<20)); f.flush()\n  print('survived', flush=True)\nexcept OSError as e: print(e.strerror, flush=True); f=None\nimport os; os._exit(0)"
	fillBoth    = "import time\nfor p in ('/tmp/x','/dev/shm/x'):\n  f=open(p,'wb')\n  try:\n    for i in range(200): f.write(b'x'*(1<<20)); f.flush()\n  except OSError: pass\ntime.sleep(5)\nprint('survived')"
	forkStorm   = "import os,time\nn=0\ntry:\n  for i in range(400):\n    if os.fork()==0: time.sleep(30); os._exit(0)\n    n+=1\nexcept OSError: pass\ntime.sleep(20)\nprint('survived',n)"
	threadStorm = "import threading,time,os\ntry:\n  for i in range(400): threading.Thread(target=time.sleep,args=(30,),daemon=True).start()\nexcept RuntimeError: pass\ntime.sleep(20)\nprint('survived', flush=True); os._exit(0)"
	manyFiles   = "import time\nfor i in range(100):\n  f=open('big%d'%i,'wb'); f.write(b'x'*(4<<20)); f.close(); time.sleep(.02)\nprint('survived')"
	emptyFiles  = "import time\nfor i in range(30000): open('s%d'%i,'w').close()\ntime.sleep(3)\nprint('survived')"
	closedDir   = "import os,time\nos.mkdir('d')\nf=open('d/x','wb'); os.chmod('d',0)\nfor i in range(100): f.write(b'x'*(4<<20)); f.flush(); time.sleep(.02)\nprint('survived')"
	unlistable  = "import os,time\nos.mkdir('d',0o300)\nf=open('d/x','wb')\nfor i in range(100): f.write(b'x'*(4<<20)); f.flush(); time.sleep(.02)\nprint('survived')"
	deepDirs    = "import os,time\nfor i in range(300): os.mkdir('d'); os.chdir('d')\ntime.sleep(5)\nprint('survived')"
	oneFile     = "f=open('big','wb')\ntry:\n  for i in range(100): f.write(b'x'*(1<<20)); f.flush()\n  print('survived', flush=True)\nexcept OSError as e: print(e.strerror, flush=True)\nimport os; os._exit(0)"
	sparse      = "f=open('sp','wb')\ntry: f.truncate(1<<40); print('survived')\nexcept OSError as e: print(e.strerror)"
	openFiles   = "l=[]\ntry:\n  for i in range(3000): l.append(open('/dev/null'))\n  print('survived')\nexcept OSError as e: print(e.strerror)"
)

func TestLimits(t *testing.T) {
	if _, err := os.Stat(python); err != nil {
		t.Skipf("NOT TESTED: limits, because there is no %s", python)
	}
	const mem = 192 << 20
	for _, row := range []struct {
		name, script string
		limits       Limits
		cause        Cause
		out, detail  string
		slow, full   bool // slow: only with ATOLL_ESCAPE=1; full: only that level promises it
	}{
		{name: "memory of one process", script: allocate, limits: Limits{Memory: mem}, cause: Exited},
		{name: "memory of many processes", script: allocForked, limits: Limits{Memory: mem}, cause: OutOfMem, detail: "the limit is 192 MiB"},
		{name: "shared memory", script: allocShared, limits: Limits{Memory: mem}, cause: OutOfMem, detail: "the limit is 192 MiB", slow: true},
		{name: "temporary files", script: fillTmp, limits: Limits{Memory: mem}, cause: Exited, out: "No space left on device\n", full: true},
		{name: "temporary files and shared memory", script: fillBoth, limits: Limits{Memory: mem}, cause: OutOfMem, slow: true, full: true},
		{name: "fork storm", script: forkStorm, limits: Limits{Procs: 64}, cause: TooMany, detail: "the limit is 64"},
		{name: "thread storm", script: threadStorm, limits: Limits{Procs: 64}, cause: TooMany, slow: true},
		{name: "many files", script: manyFiles, limits: Limits{Disk: 16 << 20}, cause: OutOfDisk, detail: "the limit is 16 MiB"},
		{name: "empty files", script: emptyFiles, limits: Limits{Disk: 16 << 20}, cause: OutOfDisk, slow: true},
		{name: "folder closed to its owner", script: closedDir, limits: Limits{Disk: 16 << 20}, cause: OutOfDisk, slow: true},
		{name: "folder that cannot be listed", script: unlistable, limits: Limits{Disk: 16 << 20}, cause: OutOfDisk, slow: true},
		{name: "deep folders", script: deepDirs, limits: Limits{Disk: 16 << 20}, cause: OutOfDisk, detail: "nested", slow: true},
		{name: "one big file", script: oneFile, limits: Limits{FileSize: 8 << 20}, cause: Exited, out: "File too large\n"},
		{name: "sparse file", script: sparse, limits: Limits{FileSize: 8 << 20}, cause: Exited, out: "File too large\n"},
		{name: "open files", script: openFiles, limits: Limits{Files: 128}, cause: Exited, out: "Too many open files\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if row.slow && os.Getenv("ATOLL_ESCAPE") == "" {
				t.Skip("NOT TESTED: slow; set ATOLL_ESCAPE=1")
			}
			if raced && row.limits.Memory > 0 {
				t.Skip("NOT TESTED: the helper of a race-detecting build needs more memory than the limit; make test-escape")
			}
			for level, r := range runners(t) {
				if level == LevelReduced && row.full {
					continue
				}
				dir := folder(t)
				got := run(t, r, Policy{Write: []string{dir}, Limits: row.limits}, Command{Path: python, Args: []string{"-c", row.script}, Dir: dir})
				if got.exit.Cause != row.cause || strings.Contains(got.out, "survived") || !strings.Contains(got.out, row.out) || !strings.Contains(got.exit.Detail, row.detail) {
					t.Errorf("%s: %+v, want cause %q, output %q, detail %q", level, got, row.cause, row.out, row.detail)
				}
				t.Logf("%s: %+v", level, got.exit)
				// What the program closed cannot be measured from here otherwise.
				_ = os.Chmod(filepath.Join(dir, "d"), 0o700)
				if n, err := diskUsage(unix.AT_FDCWD, dir, 0); n > 300<<20 || err != nil && !errors.Is(err, errTooDeep) {
					t.Errorf("%s: %s holds %d bytes afterwards (%v)", level, dir, n, err)
				}
			}
		})
	}
}

// runners returns a runner for each level that this machine and user can have.
func runners(t *testing.T) map[string]Runner {
	t.Helper()
	rs := map[string]Runner{}
	r := newTestRunner(t)
	if r.Level(context.Background()).Name == LevelFull {
		rs[LevelFull] = r
	}
	if reducedForbidden().reason == "" {
		reduced := newTestRunner(t).(*runner)
		reduced.known = &ability{level: LevelReduced}
		rs[LevelReduced] = reduced
	}
	if len(rs) == 0 {
		t.Skip("NOT TESTED: this machine and user have no sandbox")
	}
	return rs
}

// folder is a workspace on a disk, and outside /tmp, which is private inside.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "atoll-limits-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func TestNoCoreFile(t *testing.T) {
	for level, r := range runners(t) {
		dir := folder(t)
		c := sh("kill -ABRT $$")
		c.Dir = dir
		e := run(t, r, Policy{Write: []string{dir}}, c).exit
		if e.Signal != 6 || e.Code != 134 {
			t.Errorf("%s: %+v", level, e)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
			t.Errorf("%s: left %v (%v)", level, entries, err)
		}
	}
}

func TestFileLimitSaysSo(t *testing.T) {
	for level, r := range runners(t) {
		dir := folder(t)
		c := sh("exec head -c 20000000 /dev/zero > big")
		c.Dir = dir
		e := run(t, r, Policy{Write: []string{dir}, Limits: Limits{FileSize: 8 << 20}}, c).exit
		if e.Cause != Exited || !strings.Contains(e.Detail, "8 MiB") {
			t.Errorf("%s: %+v", level, e)
		}
	}
}

// TestDiskFloor fills a small disk with a file that no folder shows.
func TestDiskFloor(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("NOT TESTED: the floor of free space; only root can make a small disk")
	}
	r := newTestRunner(t)
	requireFull(t, r)
	dir := folder(t)
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64m"); err != nil {
		t.Skipf("NOT TESTED: the floor of free space; no small disk: %v", err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	script := "import os,time\nf=open('x','wb'); os.unlink('x')\nfor i in range(SIZE): f.write(b'x'*(1<<20)); f.flush()\ntime.sleep(.5)\nprint('survived')"
	c := Command{Path: python, Dir: dir}
	for size, want := range map[string]Cause{"20": Exited, "60": OutOfDisk} {
		c.Args = []string{"-c", strings.ReplaceAll(script, "SIZE", size)}
		if got := run(t, r, Policy{Write: []string{dir}}, c); got.exit.Cause != want || want == OutOfDisk && !strings.Contains(got.exit.Detail, "nearly full") {
			t.Errorf("%s MiB of 64: %+v, want %q", size, got, want)
		}
	}
}

func TestLinkedFilesCountOnce(t *testing.T) {
	dir := folder(t)
	if err := os.WriteFile(dir+"/a", make([]byte, 1<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	one, err := diskUsage(unix.AT_FDCWD, dir, 0)
	if err != nil || one < 1<<20 {
		t.Fatalf("%d, %v", one, err)
	}
	for _, name := range []string{"/b", "/c"} {
		if err := os.Link(dir+"/a", dir+name); err != nil {
			t.Fatal(err)
		}
	}
	if three, err := diskUsage(unix.AT_FDCWD, dir, 0); err != nil || three > one+1024 {
		t.Errorf("three names count %d, one %d (%v)", three, one, err)
	}
}

// TestNumbersAreGivenOutAgain starts more processes, one after the other, than
// may run at the same time, and then some together.
func TestNumbersAreGivenOutAgain(t *testing.T) {
	r := newTestRunner(t)
	requireFull(t, r)
	for _, procs := range []int{0, 8} {
		got := run(t, r, Policy{Limits: Limits{Procs: procs}}, sh("i=0; while [ $i -lt 700 ]; do /bin/true; i=$((i+1)); done; for i in 1 2 3 4; do sleep 0.2 & done; wait; echo end"))
		if got.out != "end\n" || got.err != "" {
			t.Errorf("limit %d: %+v", procs, got)
		}
	}
}
