package escape

import (
	"os"
	"testing"

	"atoll/sandbox"
)

// helperArg makes the test binary the sandbox helper.
const helperArg = "sandbox-helper"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == helperArg {
		os.Exit(sandbox.JailMain())
	}
	os.Exit(m.Run())
}
