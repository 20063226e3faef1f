package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCheck(t *testing.T) {
	base := t.TempDir()
	home := filepath.Join(base, "users", "ann")
	work := filepath.Join(home, "work")
	file := filepath.Join(work, "data.csv")
	if err := os.MkdirAll(work, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	link := filepath.Join(base, "link")
	if err := os.Symlink(home, link); err != nil {
		t.Logf("no symbolic links here: %v", err)
		link = home
	}
	root := filepath.VolumeName(base) + string(filepath.Separator)
	type row struct {
		p  Policy
		ok bool
	}
	rows := map[string]row{
		"nothing":              {Policy{}, true},
		"a folder in the home": {Policy{Write: []string{work}, Read: []string{file}, Env: []string{"A=", "B=x=y"}}, true},
		"home":                 {Policy{Write: []string{home}}, false},
		"home behind a link":   {Policy{Write: []string{link}}, false},
		"parent of the home":   {Policy{Write: []string{filepath.Dir(home)}}, false},
		"root writable":        {Policy{Write: []string{root}}, false},
		"root readable":        {Policy{Read: []string{root}}, false},
		"relative":             {Policy{Read: []string{"work"}}, false},
		"unclean":              {Policy{Write: []string{work + string(filepath.Separator) + ".." + string(filepath.Separator) + "work"}}, false},
		"missing":              {Policy{Read: []string{filepath.Join(base, "none")}}, false},
		"environment":          {Policy{Env: []string{"PATH"}}, false},
		"nameless variable":    {Policy{Env: []string{"=x"}}, false},
	}
	if runtime.GOOS == "linux" {
		for _, p := range []string{"/usr", "/etc", "/usr/local", "/tmp", "/var", "/dev", "/dev/null", "/proc", "/proc/self", "/sys", "/run"} {
			rows["write "+p] = row{Policy{Write: []string{p}}, false}
		}
		for _, p := range []string{"/proc", "/sys", "/run", "/dev", "/dev/null", "/dev/pts"} {
			rows["read "+p] = row{Policy{Read: []string{p}}, false}
		}
		rows["an ancestor of the home"] = row{Policy{Read: []string{base}}, true}
		rows["read /usr/share"] = row{Policy{Read: []string{"/usr/share"}}, true}
	}
	for name, r := range rows {
		err := r.p.Check()
		if r.ok && err != nil || !r.ok && !errors.Is(err, ErrPolicy) {
			t.Errorf("%s: %v, want acceptable %v", name, err, r.ok)
		}
	}
}

func TestLimitsAreFilled(t *testing.T) {
	if d := cmp.Diff(DefaultLimits(), Limits{}.Filled()); d != "" {
		t.Error(d)
	}
	got := Limits{Memory: -7, FileSize: 5, Disk: -1, Procs: 3, Files: -2}.Filled()
	if d := cmp.Diff(Limits{-1, 5, -1, 3, -1, -1, -1, -1}, got); d != "" {
		t.Error(d)
	}
}

func TestWithin(t *testing.T) {
	for _, r := range []struct {
		path, tree string
		want       bool
	}{
		{"/a", "/a", true}, {"/a/b", "/a", true}, {"/ab", "/a", false}, {"/", "/a", false}, {"/a", "/", true},
	} {
		path, tree := filepath.FromSlash(r.path), filepath.FromSlash(r.tree)
		if got := within(path, tree); got != r.want {
			t.Errorf("within(%s, %s) = %v", path, tree, got)
		}
	}
}

func TestServiceFolder(t *testing.T) {
	for path, want := range map[string]bool{
		"/run": true, "/var/run": true, "/run/docker.sock": true, "/run/user/1000": true, "/run/user/1000/bus": true,
		"/run/user/1000/doc": true, "/run/user/1000/doc/ab12/data.csv": false, "/run/user/1000/gvfs/smb/x": false,
		"/run/media": true, "/run/media/ann/stick": false, "/runner": false, "/home/ann/run": false, "/var/runs": false, "/": false,
	} {
		if got := serviceFolder(path); got != want {
			t.Errorf("serviceFolder(%s) = %v", path, got)
		}
	}
}

// Those of the other system do not exist here, so that only their names can be tried.
func TestPlaces(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("paths of Linux and macOS")
	}
	for path, ok := range map[string]bool{
		"/Users": false, "/Users/ada/work": true, "/Users/Shared": false, "/Users/Shared/work": true, "/Volumes": false, "/Volumes/disk/work": true,
		"/System/x": false, "/Library/LaunchAgents": false, "/Applications/Atoll.app": false,
		"/private/var/folders/a/T/work": true, "/private/var/folders": false, "/private/etc/cups": false, "/home/ada/work": true, "/usr/local/x": false,
	} {
		if err := checkPlace(path); (err == nil) != ok || err != nil && !errors.Is(err, ErrPolicy) {
			t.Errorf("%s: %v, want allowed %v", path, err, ok)
		}
	}
}
