package cli

import (
	"os"
	"path/filepath"
	"runtime"

	"atoll/app/client"
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
	code, err := client.Window(window, p.Out, p.Err)
	if err != nil {
		return err
	}
	if code != 0 {
		return exitStatus(code)
	}
	return nil
}
