package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// namespacePids lists every process of the namespace but the helper.
func namespacePids() []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil
	}
	var pids []int
	for _, n := range names {
		if pid, err := strconv.Atoi(n); err == nil && pid != 1 {
			pids = append(pids, pid)
		}
	}
	return pids
}

// usage returns a process's anonymous and shared memory in bytes, and its
// threads, from /proc/PID/status. File pages do not count: the kernel takes
// them back when it needs to. A process that is gone has none.
func usage(pid int) (memory int64, threads int) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0
	}
	return field(text, "RssAnon:")<<10 + field(text, "RssShmem:")<<10, int(field(text, "Threads:"))
}

// exactUsage is usage with every shared page divided among its users.
func exactUsage(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		memory, _ := usage(pid)
		return memory
	}
	return field(text, "Pss_Anon:")<<10 + field(text, "Pss_Shmem:")<<10
}

// field returns the number behind a name at the start of a line, or 0.
func field(text []byte, name string) int64 {
	for line := range bytes.Lines(text) {
		if rest, ok := bytes.CutPrefix(line, []byte(name)); ok {
			if f := bytes.Fields(rest); len(f) > 0 {
				n, _ := strconv.ParseInt(string(f[0]), 10, 64)
				return n
			}
		}
	}
	return 0
}
