//go:build !windows

package sandbox

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var updateGolden = flag.Bool("update", false, "write the golden profiles anew")

func TestSeatbelt(t *testing.T) {
	base := seatbeltOrder{Program: "/Apps/py/bin/python3", Temp: "/private/var/folders/a/T/run-1"}
	work := base
	work.Read, work.Write = []string{"/Apps/py", "/Users/ada/data.csv"}, []string{"/Users/ada/chat"}
	project := work
	project.Read = append(project.Read, "/Users/ada/chat/originals")
	project.Protected = []string{"/Users/ada/chat/.git/hooks"}
	hostile := base
	hostile.Write = []string{`/Users/ada/x")) (allow default) ("=`}
	graphics := work
	graphics.GPU = true
	linked := work
	linked.Links = []string{"/Users/ada/py", "/tmp/work"}
	for name, o := range map[string]seatbeltOrder{
		"nothing": base, "sealed": work, "project": project, "hostile-name": hostile, "gpu": graphics, "links": linked,
	} {
		t.Run(name, func(t *testing.T) {
			p, err := seatbelt(o)
			if err != nil {
				t.Fatal(err)
			}
			got := p.Text + "; -D " + strings.Join(p.Params, "\n; -D ") + "\n"
			file := filepath.Join("testdata", name+".sb")
			if *updateGolden {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("profile differs from %s; run with -update and look at the difference", file)
			}
			if strings.Contains(p.Text, "/Users/") || strings.Contains(p.Text, "allow default") {
				t.Error("a path is part of the text")
			}
			args := p.arguments()
			if len(args) != 2+2*len(p.Params) || args[1] != p.Text || args[3] != p.Params[0] {
				t.Errorf("arguments of sandbox-exec: %q", args)
			}
			if strings.Contains(p.Text, "network") {
				t.Error("network is allowed")
			}
			if strings.Count(p.Text, "(") != strings.Count(p.Text, ")") {
				t.Error("brackets do not match")
			}
		})
	}
}

func TestSeatbeltRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*seatbeltOrder)
		want   error
	}{
		"loopback":       {func(o *seatbeltOrder) { o.Network.Mode = NetworkLoopback }, ErrUnsupported},
		"hosts":          {func(o *seatbeltOrder) { o.Network.Mode = NetworkHosts }, ErrUnsupported},
		"every host":     {func(o *seatbeltOrder) { o.Network.Mode = NetworkOn }, ErrUnsupported},
		"unknown mode":   {func(o *seatbeltOrder) { o.Network.Mode = "all" }, ErrPolicy},
		"relative write": {func(o *seatbeltOrder) { o.Write = []string{"work"} }, ErrPolicy},
		"unclean read":   {func(o *seatbeltOrder) { o.Read = []string{"/a/../b"} }, ErrPolicy},
	} {
		t.Run(name, func(t *testing.T) {
			o := seatbeltOrder{Program: "/bin/true", Temp: "/private/tmp/x"}
			tt.change(&o)
			if _, err := seatbelt(o); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

// What the host runs later is denied in every spelling, its neighbours are not.
func TestRunsLaterRegex(t *testing.T) {
	body := func(s string) *regexp.Regexp {
		return regexp.MustCompile(strings.TrimSuffix(strings.TrimPrefix(s, `#"`), `"`))
	}
	names, git := body(namesRegex("", runsLaterNames)), body(namesRegex(".git", runsLaterInGit))
	for path, want := range map[string]bool{
		"/w/.git/hooks/pre-commit": true, "/w/sub/.GIT/Hooks": true, "/w/.git/config": true, "/w/.vscode/tasks.json": true,
		"/w/SiteCustomize.py": true, "/w/.git/objects/ab": false, "/w/xgit/hooks": false, "/w/my.vscode": false, "/w/config": false,
	} {
		if got := names.MatchString(path) || git.MatchString(path); got != want {
			t.Errorf("%s: denied %v, want %v", path, got, want)
		}
	}
}

// Moving a folder must not take what is read-only in it out of the rules.
func TestPinned(t *testing.T) {
	got := pinned(seatbeltOrder{Temp: "/t", Write: []string{"/w"}, Read: []string{"/w/a/b/in.csv", "/r/x"}, Protected: []string{"/w/.git/hooks"}})
	if want := "/t /w /w/.git /w/a /w/a/b"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}
