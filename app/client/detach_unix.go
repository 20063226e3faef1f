//go:build unix

package client

import (
	"os/exec"
	"syscall"
)

// detach gives the host a session of its own: Ctrl-C in the terminal that
// started it is not for it.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
