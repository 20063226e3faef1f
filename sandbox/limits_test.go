package sandbox

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestJobEnd(t *testing.T) {
	none := Limits{Memory: -1, Procs: -1, Wall: -1, CPU: -1, Disk: -1, FileSize: -1}
	all := Limits{Memory: 1 << 30, Procs: 8, Wall: time.Minute, CPU: time.Second}
	for name, tt := range map[string]struct {
		limits  Limits
		message uint32
		since   time.Duration
		count   jobCount
		want    Cause
	}{
		"nothing":            {all, 0, time.Second, jobCount{cpu: time.Second, procs: 8}, ""},
		"memory":             {all, jobMemory, 0, jobCount{}, OutOfMem},
		"processes":          {all, jobTooMany, 0, jobCount{}, TooMany},
		"time":               {all, 0, time.Minute + 1, jobCount{}, OutOfTime},
		"processor time":     {all, 0, 0, jobCount{cpu: time.Second + 1}, OutOfTime},
		"another message":    {all, 4, 0, jobCount{}, ""},
		"without any limits": {none, jobMemory, time.Hour, jobCount{cpu: time.Hour}, ""},
	} {
		e := tt.limits.jobEnd(tt.message, tt.since, tt.count)
		if got := causeOf(e); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func TestSizeEnd(t *testing.T) {
	l := Limits{Disk: 100, FileSize: 50}
	for name, tt := range map[string]struct {
		limits     Limits
		start, now treeSize
		want       Cause
	}{
		"within":                 {l, treeSize{1000, 40}, treeSize{1100, 50}, ""},
		"grown":                  {l, treeSize{1000, 40}, treeSize{1101, 40}, OutOfDisk},
		"shrunk":                 {l, treeSize{1000, 40}, treeSize{0, 0}, ""},
		"large file":             {l, treeSize{1000, 40}, treeSize{1001, 51}, OutOfDisk},
		"was large before":       {l, treeSize{1000, 90}, treeSize{1000, 90}, ""},
		"large one grew further": {l, treeSize{1000, 90}, treeSize{1001, 91}, OutOfDisk},
		"no limits":              {Limits{Disk: -1, FileSize: -1}, treeSize{}, treeSize{1 << 40, 1 << 40}, ""},
	} {
		if got := causeOf(tt.limits.sizeEnd(tt.start, tt.now)); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func causeOf(e *Exit) Cause {
	if e == nil {
		return ""
	}
	return e.Cause
}

func TestSizeWatch(t *testing.T) {
	roomy := func(string) (int64, error) { return 1 << 40, nil }
	dir := t.TempDir()
	w, err := newSizeWatch(Limits{Disk: 64 << 10, FileSize: 32 << 10}, []string{dir}, roomy)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	write := func(name string, n int) {
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, n), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a", 30<<10)
	if e := w.check(now); e != nil || w.grown() < 30<<10 {
		t.Errorf("within the limits: %+v, grown by %d", e, w.grown())
	}
	write("b", 60<<10)
	if e := w.check(now); e != nil {
		t.Errorf("measured too early: %+v", e)
	}
	now = now.Add(time.Hour)
	if e := w.check(now); causeOf(e) != OutOfDisk {
		t.Errorf("too much: %+v", e)
	}
	if err := os.Symlink("/", filepath.Join(dir, "all")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "b")); err != nil {
		t.Fatal(err)
	}
	w.finish()
	if got := w.grown(); got > 64<<10 {
		t.Errorf("a link was followed, or what is gone counts: %d", got)
	}
	for i := range 20 {
		write(string(rune('c'+i)), 0)
	}
	now = now.Add(time.Hour)
	if e := w.check(now); causeOf(e) != OutOfDisk {
		t.Errorf("many empty files: %+v", e)
	}
}

func TestSizeWatchLeavesRoom(t *testing.T) {
	free := int64(1000)
	w, err := newSizeWatch(DefaultLimits(), []string{t.TempDir()}, func(string) (int64, error) { return free, nil })
	if err != nil {
		t.Fatal(err)
	}
	if e := w.check(time.Now()); e != nil {
		t.Errorf("%+v", e)
	}
	free = 499
	if e := w.check(time.Now()); causeOf(e) != OutOfDisk {
		t.Errorf("the disk is nearly full: %+v", e)
	}
}
