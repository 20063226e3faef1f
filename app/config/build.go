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
	st, err := os.Stat(exe)
	if err != nil {
		return version
	}
	return fmt.Sprintf("%s-%x-%x", version, st.Size(), st.ModTime().UnixNano())
}
