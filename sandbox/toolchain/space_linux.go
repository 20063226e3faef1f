package toolchain

import "golang.org/x/sys/unix"

// freeSpace returns the bytes free for this user where dir lies.
func freeSpace(dir string) (int64, bool) {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return 0, false
	}
	return int64(st.Bavail) * int64(st.Bsize), true
}
