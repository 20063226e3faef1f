package toolchain

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
)

// explain turns the end of pip's output into an error that says what to do.
func explain(text string, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	has := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(text, p) {
				return true
			}
		}
		return false
	}
	switch {
	case has("No module named pip", "No module named 'pip'"):
		fix := "run: python3 -m ensurepip --upgrade"
		if runtime.GOOS == "linux" {
			fix = "install it, for example: sudo apt install python3-pip (or dnf install python3-pip)"
		}
		return fmt.Errorf("%w: %s", ErrNoPip, fix)
	case has("No space left on device", "Errno 28", "not enough space"):
		return fmt.Errorf("%w: about %d MB are needed", ErrNoSpace, int64(need)>>20)
	case has("DO NOT MATCH THE HASHES"):
		return fmt.Errorf("%w: its hash is wrong. A proxy or mirror may have changed it; try again with another network", ErrHash)
	case has("name resolution", "NewConnectionError", "ConnectTimeout", "Network is unreachable", "Max retries exceeded",
		"getaddrinfo", "ProxyError", "SSLError", "CERTIFICATE_VERIFY_FAILED", "ReadTimeout", "Connection refused", "NameResolutionError"):
		return fmt.Errorf("%w: connect to a network for this one step, or copy a prepared folder from another machine: %s", ErrNoNetwork, reason(text))
	case has("No matching distribution", "Could not find a version"):
		return fmt.Errorf("no package for this Python: use one from 3.%d to 3.%d: %s", oldestMinor, newestMinor, reason(text))
	}
	return fmt.Errorf("pip: %w: %s", err, reason(text))
}

// reason picks the last line that says ERROR, else the last one.
func reason(text string) string {
	lines := strings.Split(text, "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if strings.HasPrefix(lines[i], "ERROR: ") {
			return lastLine(lines[i])
		}
	}
	return lastLine(text)
}
