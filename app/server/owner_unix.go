//go:build unix

package server

import (
	"io/fs"
	"os"
	"syscall"
)

// ownedByMe reports whether a file belongs to this user.
func ownedByMe(st fs.FileInfo) bool {
	s, ok := st.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Getuid()
}
