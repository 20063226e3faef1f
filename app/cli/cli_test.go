package cli_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"atoll/app"
	"atoll/app/client"
	"atoll/app/config"
	"atoll/app/entry"
	"atoll/sandbox"
)

// TestMain makes the test program be atoll: for the scripts by its name, for
// hosts and workers, which are started by path, by their first argument.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == "worker" || os.Args[1] == "host") {
		os.Exit(entry.Main(os.Args[1:], "test"))
	}
	testscript.Main(m, map[string]func(){
		"atoll": func() { os.Exit(entry.Main(os.Args[1:], "test")) },
	})
}

// TestScripts runs the real command line against a real host with the real
// sandbox; only the model is a script.
func TestScripts(t *testing.T) {
	level := level(t)
	lib, err := filepath.Abs(filepath.Join("..", "..", "bin", "engine"))
	if err != nil {
		t.Fatal(err)
	}
	_, noEngine := os.Stat(lib)
	if noEngine != nil {
		t.Logf("NOT PROVED: %v (make engine fetches it), lines that need the engine are skipped", noEngine)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(e *testscript.Env) error {
			e.Setenv("ATOLL_HOME", filepath.Join(e.WorkDir, "Данные 数据"))
			e.Setenv("ATOLL_SCRIPT", filepath.Join(e.WorkDir, "script.json"))
			e.Setenv("ATOLL_MODEL", "script/model")
			e.Setenv("ATOLL_ENGINE_DIR", lib)
			e.Setenv("ATOLL_IDLE_EXIT", "1m")
			home := config.Home(e.Getenv("ATOLL_HOME"))
			e.Defer(func() { leave(t, home) })
			return nil
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "sandbox":
				return level != sandbox.LevelNone, nil
			case "engine":
				return noEngine == nil && level != sandbox.LevelNone, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
	})
}

func level(t *testing.T) string {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	l := app.Runner(exe).Level(t.Context())
	if l.Name == sandbox.LevelNone {
		t.Logf("NOT PROVED: this machine has no sandbox, scripts that run code are skipped: %+v", l.Guarantees)
	}
	return l.Name
}

// leave ends the host that a script started.
func leave(t *testing.T, home config.Home) {
	if _, err := os.Stat(home.HostFile()); err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	c, err := client.Find(ctx, home)
	if err != nil {
		return
	}
	if err := c.Leave(ctx); err != nil {
		t.Errorf("the host does not leave: %v", err)
	}
}
