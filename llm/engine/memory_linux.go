package engine

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// groupMemory returns the bytes left in the memory limits of the control
// groups (version 2) this process is in, 0 if there is no limit. The system's
// own figure knows nothing of them, and exceeding them is death.
func groupMemory() int64 {
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return 0
	}
	_, path, ok := strings.Cut(strings.TrimSpace(string(own)), "0::")
	if !ok {
		return 0
	}
	path, _, _ = strings.Cut(path, "\n")
	least := int64(0)
	for dir := filepath.Join("/sys/fs/cgroup", path); strings.HasPrefix(dir, "/sys/fs/cgroup"); dir = filepath.Dir(dir) {
		limit, ok := readNumber(filepath.Join(dir, "memory.max"))
		if !ok {
			continue
		}
		used, _ := readNumber(filepath.Join(dir, "memory.current"))
		if left := max(1, limit-used); least == 0 || left < least {
			least = left
		}
	}
	return least
}

// readNumber reads a file with one number; "max" is none.
func readNumber(path string) (int64, bool) {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	return n, err == nil
}
