package client

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"atoll/app/config"
)

// Program returns the path of the host program: this one, or the one beside
// it when this is the window.
func Program() (string, error) {
	exe, err := config.Executable()
	if err != nil {
		return "", err
	}
	name := "atoll"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if filepath.Base(exe) != "atoll-desktop" && filepath.Base(exe) != "atoll-desktop.exe" {
		return exe, nil
	}
	p := filepath.Join(filepath.Dir(exe), name)
	if _, err := os.Stat(p); err != nil {
		return "", fmt.Errorf("the program %s is missing beside the window; install Atoll again: %w", name, err)
	}
	return p, nil
}

// spawn starts a host in the background, in a session of its own. The channel
// is closed when it ends.
func spawn(home config.Home) (<-chan struct{}, error) {
	prog, err := Program()
	if err != nil {
		return nil, err
	}
	log, err := os.Create(home.HostLog())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", config.ErrHome, err)
	}
	defer log.Close()
	cmd := exec.Command(prog, "host")
	cmd.Dir = string(home)
	cmd.Env = append(os.Environ(), "ATOLL_HOME="+string(home))
	cmd.Stdout, cmd.Stderr = log, log
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the host: %w", err)
	}
	exited := make(chan struct{})
	go func() { // ends with the host; it outlives this process otherwise
		_ = cmd.Wait()
		close(exited)
	}()
	return exited, nil
}

// Window runs the window program until it ends and returns its exit status.
func Window(program string, out, errs io.Writer) (int, error) {
	cmd := exec.Command(program)
	cmd.Stdout, cmd.Stderr = out, errs
	err := cmd.Run()
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		return ended.ExitCode(), nil
	}
	if err != nil {
		return 0, fmt.Errorf("open the window: %w", err)
	}
	return 0, nil
}
