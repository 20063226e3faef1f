//go:build unix

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// sweep removes the workspaces of exec commands that were killed: attached
// data must not lie about.
func sweep(dir string) {
	found, _ := filepath.Glob(filepath.Join(dir, "exec-*"))
	for _, d := range found {
		var pid int
		if n, _ := fmt.Sscanf(filepath.Base(d), "exec-%d-", &pid); n == 1 && syscall.Kill(pid, 0) != nil {
			_ = os.RemoveAll(d) // what cannot be removed now is tried the next time
		}
	}
}
