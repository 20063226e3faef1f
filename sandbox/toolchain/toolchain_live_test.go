package toolchain

import (
	"os"
	"testing"
)

// TestInstallLive needs a network and minutes.
func TestInstallLive(t *testing.T) {
	dir := os.Getenv("ATOLL_TEST_PYTHON_DIR")
	if dir == "" {
		t.Skip("SKIPPED: set ATOLL_TEST_PYTHON_DIR to a folder to install the Python libraries there (network, 700 MB)")
	}
	py := Python(t.Context(), "")
	if !py.OK() {
		t.Fatal(py.Problem, py.Fix)
	}
	if err := Install(t.Context(), py, dir, func(s string, d, n int) { t.Log(s, d, n) }); err != nil {
		t.Fatal(err)
	}
	env, err := Find(dir, py)
	if err != nil {
		t.Fatal(err)
	}
	if env.Packages["pandas"] == "" {
		t.Errorf("no pandas in %v", env.Packages)
	}
	t.Log(env)
}
