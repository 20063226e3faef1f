package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// maxrssUnit is what getrusage counts a process's memory in.
const maxrssUnit = 1 << 10

// clockTick is the unit of times in /proc, the same on all machines that Go
// runs on.
const clockTick = 10 * time.Millisecond

// cpuOf returns the processor time of a process and of its children that it has
// looked after; 0 when it is gone.
func cpuOf(pid int) time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	const first, last = 11, 14 // utime to cstime, counted after the name
	if len(fields) <= last {
		return 0
	}
	var ticks int64
	for _, f := range fields[first : last+1] {
		n, _ := strconv.ParseInt(string(f), 10, 64)
		ticks += n
	}
	return time.Duration(ticks) * clockTick
}
