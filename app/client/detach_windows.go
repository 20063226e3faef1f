package client

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// detach keeps the host alive when the console that started it closes.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.DETACHED_PROCESS, HideWindow: true}
}
