package toolchain

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// prepared is the environment that the live test makes, if it is there.
func prepared(t *testing.T) (Interpreter, Env) {
	t.Helper()
	dir := os.Getenv("ATOLL_TEST_PYTHON_DIR")
	if dir == "" {
		dir = filepath.Join(os.TempDir(), "atoll-python")
	}
	py := Python(t.Context(), "")
	env, err := Find(dir, py)
	if err != nil {
		t.Skipf("SKIPPED: the Python libraries are not installed (%v); set ATOLL_TEST_PYTHON_DIR and run the live test", err)
	}
	return py, env
}

// TestSettings: a program outside of the kernel, as atoll exec runs it, writes
// Chinese labels by the settings file alone.
func TestSettings(t *testing.T) {
	py, env := prepared(t)
	conf := t.TempDir()
	lists, err := filepath.Glob(filepath.Join(env.Config, "fontlist*"))
	if err != nil || len(lists) != 1 {
		t.Fatalf("lists of fonts: %v, %v", lists, err)
	}
	list, err := os.ReadFile(lists[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(conf, filepath.Base(lists[0])), list, 0o600); err != nil {
		t.Fatal(err)
	}
	python := func(source string, more ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), py.Path, "-c", source)
		cmd.Dir = t.TempDir()
		cmd.Env = append([]string{"PATH=/usr/bin:/bin", "HOME=" + conf, "MPLCONFIGDIR=" + conf, "MPLBACKEND=agg", "PYTHONPATH=" + env.Site, "PYTHONDONTWRITEBYTECODE=1"}, more...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	const figure = "import matplotlib.pyplot as plt\nplt.title('销售额 Выручка −5')\nplt.savefig('a.png')"
	if out := python(figure); !strings.Contains(out, "missing from") {
		t.Errorf("control: without the file there was no warning: %q", out)
	}
	if out := python(fontProgram + writeSettings); out != "" {
		t.Errorf("it said: %s", out)
	}
	file := SettingsFile(conf)
	b, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		t.Skip("SKIPPED: this machine has no font with Chinese signs (fonts-noto-cjk)")
	}
	if err != nil || !strings.HasPrefix(string(b), "font.family: sans-serif, ") {
		t.Fatalf("%q, %v", b, err)
	}
	moved := filepath.Join(t.TempDir(), "rc")
	if err := os.Rename(file, moved); err != nil { // it is elsewhere than MPLCONFIGDIR inside
		t.Fatal(err)
	}
	if out := python(figure, "MATPLOTLIBRC="+moved); out != "" {
		t.Errorf("with the file: %s", out)
	}
	if out := python(figure, "MATPLOTLIBRC="+filepath.Join(conf, "absent")); !strings.Contains(out, "missing from") || strings.Contains(out, "Traceback") {
		t.Errorf("a file that is not there: %s", out)
	}
}
