//go:build !linux

package workspace

import (
	"errors"
	"io/fs"
	"os"
)

const nonblock = 0

func stampOf(st fs.FileInfo) stamp {
	return stamp{Size: st.Size(), Modified: st.ModTime().UnixNano()}
}

// links is not known here yet. No program runs in a workspace on such a
// system until the sandbox has a runner for it.
func links(fs.FileInfo) uint64 { return 1 }

func clone(_, _ *os.File) error { return errors.ErrUnsupported }

func freeSpace(string) (int64, bool) { return 0, false }
