package sandbox

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
)

func TestExplainNamesTheCause(t *testing.T) {
	denied := &startError{"namespaces", "operation not permitted"}
	for name, row := range map[string]struct {
		err      error
		settings map[string]string
		reason   string
		fix      string
	}{
		"AppArmor": {
			&startError{"set host name", "operation not permitted"},
			map[string]string{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1"},
			"AppArmor", "kernel.apparmor_restrict_unprivileged_userns=0",
		},
		"Debian's switch": {denied, map[string]string{"/proc/sys/kernel/unprivileged_userns_clone": "0"}, "ordinary users", "kernel.unprivileged_userns_clone=1"},
		"no namespaces":   {&startError{"namespaces", "no space left on device"}, map[string]string{"/proc/sys/user/max_user_namespaces": "0"}, "no user namespaces", "user.max_user_namespaces="},
		"container":       {denied, map[string]string{"/proc/sys/user/max_user_namespaces": "96364"}, "containers", "container"},
		"masked proc":     {&startError{"mount", "mount proc: operation not permitted"}, nil, "/proc", "systempaths=unconfined"},
		"no helper":       {&startError{"helper", "file does not exist"}, nil, "helper", "Install"},
		"anything else":   {errors.New("odd"), nil, "odd", ""},
	} {
		got := explain(row.err, func(path string) string { return row.settings[path] })
		if !strings.Contains(got.reason, row.reason) || !strings.Contains(got.fix, row.fix) {
			t.Errorf("%s: %+v, want words %q and %q", name, got, row.reason, row.fix)
		}
	}
}

// TestNoneRefuses covers machines with no sandbox, whatever this one has.
func TestNoneRefuses(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := newRunner(Options{Helper: []string{exe, helperArg}}).(*runner)
	r.known = &ability{full: refused{"This is a test.", "Do not test."}, reduced: refused{"Really.", ""}, level: LevelNone}
	_, err = r.Start(context.Background(), Policy{}, sh("true"))
	if !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "This is a test. Do not test.") {
		t.Errorf("Start: %v", err)
	}
	l := r.Level(context.Background())
	if l.Name != LevelNone {
		t.Errorf("level %q", l.Name)
	}
	for _, g := range l.Guarantees {
		if g.Holds || g.Detail == "" || g.Fix == "" {
			t.Errorf("%+v", g)
		}
	}
}

// TestReducedRefusesWhatItCannotEnforce is about a policy that only namespaces
// can keep.
func TestReducedRefusesWhatItCannotEnforce(t *testing.T) {
	r := newTestRunner(t).(*runner)
	r.known = &ability{level: LevelReduced}
	dir := folder(t)
	write(t, dir+"/.git/config", "x")
	_, err := r.Start(context.Background(), Policy{Write: []string{dir}}, sh("true"))
	if !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), ".git") {
		t.Errorf("%v, want %v that names the folder", err, ErrUnsupported)
	}
	if os.Geteuid() == 0 {
		if _, err := r.Start(context.Background(), Policy{}, sh("true")); err == nil {
			t.Error("the reduced mode started a program as root")
		}
	}
}
