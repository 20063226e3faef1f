//go:build linux

package sandbox

import (
	"os"
	"testing"
)

// helperArg makes the test binary the sandbox helper.
const helperArg = "sandbox-helper"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == helperArg {
		os.Exit(JailMain())
	}
	if len(os.Args) == 2 && os.Args[1] == levelArg {
		os.Exit(levelMain())
	}
	if len(os.Args) == 4 && os.Args[1] == hostArg {
		os.Exit(hostMain())
	}
	if len(os.Args) == 4 && os.Args[1] == commitArg {
		os.Exit(commitMain())
	}
	os.Exit(m.Run())
}
