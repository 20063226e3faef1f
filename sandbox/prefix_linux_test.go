package sandbox

import (
	"context"
	"os"
	"testing"
)

// python is the system's own; a version manager's shim would hide why
// something fails.
const python = "/usr/bin/python3"

func TestPythonFromAPrefix(t *testing.T) {
	prefix := os.Getenv("ATOLL_PYTHON_PREFIX")
	if prefix == "" {
		t.Skip("NOT TESTED: a Python outside the system's folders; set ATOLL_PYTHON_PREFIX to one")
	}
	r := newTestRunner(t)
	requireFull(t, r)
	p := Policy{Read: []string{prefix}, Write: []string{t.TempDir()}, Env: []string{"HOME=/home/user"}}
	got := run(t, r, p, Command{Path: prefix + "/bin/python3", Args: []string{"-c", "import sys, ssl, ctypes, sqlite3, multiprocessing, os; print(sys.prefix); print(multiprocessing.Pool(2).map(abs, [-1])); print(os.listdir(os.path.expanduser('~root')) if os.path.isdir('/root/.ssh') else 'hidden')"}})
	if want := prefix + "\n[1]\nhidden\n"; got.out != want || got.exit.Code != 0 {
		t.Errorf("%+v, want %q", got, want)
	}
	if _, err := r.Start(context.Background(), Policy{}, Command{Path: prefix + "/bin/python3"}); err != nil {
		t.Errorf("control: the program alone starts: %v", err)
	}
}
