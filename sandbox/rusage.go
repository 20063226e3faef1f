package sandbox

import (
	"encoding/binary"
	"math"
	"math/bits"
	"time"
)

// What macOS tells of a process, from sys/resource.h (struct rusage_info_v1) and
// sys/proc_info.h (struct proc_taskinfo): their sizes, and where in them lies
// what is read.
const (
	rusageSize      = 144
	rusageUser      = 16 // time, in ticks, like the next
	rusageSystem    = 24
	rusageFootprint = 72 // memory that the system holds for it, in bytes; what is shared counts once
	rusageChildUser = 96 // of children that have ended and were looked after
	rusageChildSys  = 104

	taskSize    = 96
	taskThreads = 84 // 32 bits
)

// rusageMemory is the memory of a process in bytes.
func rusageMemory(b *[rusageSize]byte) int64 {
	return int64(min(binary.NativeEndian.Uint64(b[rusageFootprint:]), math.MaxInt64))
}

// rusageCPU is the processor time of a process and of its ended children. Ticks
// are counted perSecond: 24 million on Apple's processors, a thousand million
// on Intel's.
func rusageCPU(b *[rusageSize]byte, perSecond uint64) time.Duration {
	var ticks uint64
	for _, at := range []int{rusageUser, rusageSystem, rusageChildUser, rusageChildSys} {
		ticks += binary.NativeEndian.Uint64(b[at:])
	}
	return tickTime(ticks, perSecond)
}

// tickTime turns ticks into time; what does not fit is the longest time.
func tickTime(ticks, perSecond uint64) time.Duration {
	if perSecond == 0 {
		return 0
	}
	hi, lo := bits.Mul64(ticks, uint64(time.Second))
	if hi >= perSecond {
		return math.MaxInt64
	}
	q, _ := bits.Div64(hi, lo, perSecond)
	return time.Duration(min(q, math.MaxInt64))
}

// taskThreadCount is the number of threads of a process.
func taskThreadCount(b *[taskSize]byte) int {
	return int(int32(binary.NativeEndian.Uint32(b[taskThreads:])))
}
