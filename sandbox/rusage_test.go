package sandbox

import (
	"encoding/binary"
	"math"
	"testing"
	"time"
	"unsafe"
)

// The structures as the headers of macOS write them; what is not read has no name.
type (
	rusageInfoV1 struct {
		_            [16]byte // uuid
		user, system uint64
		_            [5]uint64 // wakeups, page-ins, wired and resident size
		footprint    uint64
		_            [2]uint64 // start and exit
		childUser    uint64
		childSystem  uint64
		_            [4]uint64 // the children's wakeups, page-ins and elapsed time
	}
	procTaskinfo struct {
		_       [6]uint64 // sizes and times
		_       [9]int32  // policy, faults, messages, calls and switches
		threads int32
		_       [2]int32 // running threads and priority
	}
)

func TestProcessStructures(t *testing.T) {
	var r rusageInfoV1
	var task procTaskinfo
	for name, at := range map[string][2]uintptr{
		"rusage":       {unsafe.Sizeof(r), rusageSize},
		"user":         {unsafe.Offsetof(r.user), rusageUser},
		"system":       {unsafe.Offsetof(r.system), rusageSystem},
		"footprint":    {unsafe.Offsetof(r.footprint), rusageFootprint},
		"child user":   {unsafe.Offsetof(r.childUser), rusageChildUser},
		"child system": {unsafe.Offsetof(r.childSystem), rusageChildSys},
		"task":         {unsafe.Sizeof(task), taskSize},
		"threads":      {unsafe.Offsetof(task.threads), taskThreads},
	} {
		if at[0] != at[1] {
			t.Errorf("%s: %d, want %d", name, at[1], at[0])
		}
	}
}

func TestRusage(t *testing.T) {
	var b [rusageSize]byte
	put := func(at int, v uint64) { binary.NativeEndian.PutUint64(b[at:], v) }
	put(rusageUser, 24_000_000)
	put(rusageSystem, 12_000_000)
	put(rusageChildUser, 6_000_000)
	put(rusageChildSys, 6_000_000)
	put(rusageFootprint, 5<<20)
	if got := rusageCPU(&b, 24_000_000); got != 2*time.Second {
		t.Errorf("time %s", got)
	}
	if got := rusageMemory(&b); got != 5<<20 {
		t.Errorf("memory %d", got)
	}
	put(rusageFootprint, math.MaxUint64)
	if got := rusageMemory(&b); got != math.MaxInt64 {
		t.Errorf("memory %d", got)
	}
	var task [taskSize]byte
	binary.NativeEndian.PutUint32(task[taskThreads:], 7)
	if got := taskThreadCount(&task); got != 7 {
		t.Errorf("%d threads", got)
	}
}

func TestTickTime(t *testing.T) {
	for _, tt := range []struct {
		ticks, perSecond uint64
		want             time.Duration
	}{
		{0, 24e6, 0}, {24e6, 24e6, time.Second}, {1e9, 1e9, time.Second}, {36e6, 24e6, 1500 * time.Millisecond},
		{1 << 40, 24e6, 45812984490666}, {math.MaxUint64, 1, math.MaxInt64}, {math.MaxUint64, math.MaxUint64, time.Second}, {5, 0, 0},
	} {
		if got := tickTime(tt.ticks, tt.perSecond); got != tt.want {
			t.Errorf("%d ticks at %d: %d, want %d", tt.ticks, tt.perSecond, got, tt.want)
		}
	}
}
