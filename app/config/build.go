package config

import (
	"fmt"
	"os"
)

// BuildID tells builds of the program apart: the version and the size and time
// of the executable. Clients of another build ask an idle host to leave.
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
	st, err := os.Stat(exe)
	if err != nil {
		return version
	}
	return fmt.Sprintf("%s-%x-%x", version, st.Size(), st.ModTime().UnixNano())
}
