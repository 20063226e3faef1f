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
		os.Exit(jailMain())
	}
	os.Exit(m.Run())
}
