package config

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
)

// BuildID tells builds of the program apart, and a build that was only linked
// again from the same code is the same: clients of another build ask an idle
// host to leave, and with it go the loaded model and the chats' variables.
func BuildID(version string) string {
	exe, err := Executable()
	if err != nil {
		return version
	}
	return BuildIDOf(version, exe)
}

// BuildIDOf is the BuildID of another program of this version: the window must
// know the host it connects to by the host's, not by its own.
func BuildIDOf(version, exe string) string {
	f, err := os.Open(exe)
	if err != nil {
		return version
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return version
	}
	// The beginning of an executable holds the Go build ID, a hash of all that
	// went into it.
	sum := sha256.New()
	if _, err := io.Copy(sum, io.LimitReader(f, 64<<10)); err != nil {
		return version
	}
	return fmt.Sprintf("%s-%x-%x", version, st.Size(), sum.Sum(nil)[:8])
}
