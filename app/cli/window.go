package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"atoll/app/config"
	"atoll/app/fault"
)

// openWindow starts the desktop program that lies beside this one.
func openWindow(p Program) error {
	exe, err := config.Executable()
	if err != nil {
		return err
	}
	name := "atoll-desktop"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	window := filepath.Join(filepath.Dir(exe), name)
	if _, err := os.Stat(window); err != nil {
		return fault.New("window.missing", "The window program "+name+" is not beside atoll", "Use the page in a browser instead: atoll serve.")
	}
	if runtime.GOOS == "linux" && os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
		return fault.New("window.display", "There is no display to open a window on", "Use the page in a browser instead: atoll serve.")
	}
	cmd := exec.Command(window)
	cmd.Stdout, cmd.Stderr = p.Out, p.Err
	var ended *exec.ExitError
	if err := cmd.Run(); errors.As(err, &ended) {
		return exitStatus(ended.ExitCode())
	} else if err != nil {
		return fmt.Errorf("open the window: %w", err)
	}
	return nil
}
