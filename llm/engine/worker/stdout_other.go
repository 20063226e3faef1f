//go:build !linux

package worker

import "os"

// takeStdout returns the standard output. Elsewhere than on Linux the engine
// is not loaded yet (see openLibrary), so nothing else writes to it.
func takeStdout() (*os.File, error) { return os.Stdout, nil }
