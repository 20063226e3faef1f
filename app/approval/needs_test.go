package approval_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atoll/app/approval"
	"atoll/app/event"
	"atoll/storage"
)

func effects(needs []event.Need) string {
	var s []string
	for _, n := range needs {
		s = append(s, strings.TrimSpace(n.Effect+" "+n.What))
	}
	return strings.Join(s, ", ")
}

// What looks like an installation is told as one. It is a help for who reads the
// question, and nothing relies on it: the last cases are not found, and the
// boundary stops them like the others.
func TestInstalls(t *testing.T) {
	for code, want := range map[string]string{
		"!pip install requests":    "install requests",
		"%pip install -q":          "install",
		"pip3 install 'pandas>=2'": "install pandas>=2",
		"import subprocess; subprocess.run(['pip', 'install', 'polars'])":    "install polars",
		`subprocess.check_call([sys.executable, "-m", "pip", "install", x])`: "install x",
		"os.system('python -m pip install numpy==1.26')":                     "install numpy==1.26",
		"!pip install 'requests[socks]'":                                     "install requests[socks]",
		"!uv pip install rich":                                               "install rich",
		"!conda install scipy":                                               "install scipy",
		"!apt-get install jq":                                                "install jq",
		"!apt install jq":                                                    "install jq",
		"!npm i left-pad":                                                    "install left-pad",
		"!yarn add left-pad":                                                 "install left-pad",
		"!brew install jq":                                                   "install jq",
		"import ensurepip; ensurepip.bootstrap()":                            "install",
		"import micropip; await micropip.install('x')":                       "install",

		"print('done')":                                "",
		"pipeline.install(step)":                       "",
		"df['pip'] = 1":                                "",
		"# the pip was not installed":                  "",
		"installed = ['pip', 'wheel']":                 "",
		"recipe = 'conda installs nothing'":            "",
		"cmd = 'pip list'":                             "",
		"squip install x":                              "",
		"shipping.apt = 'add' + 'ress'":                "",
		"subprocess.run(['p' + 'ip', 'install', 'x'])": "",
		"import pip; pip.main(['in' + 'stall', 'x'])":  "",
	} {
		got := approval.Before(approval.ModeAuto, storage.ChatPolicy{}, storage.Call{Code: code}, false)
		if d := effects(got); d != want {
			t.Errorf("%s: %q, want %q", code, d, want)
		}
	}
}

func TestBefore(t *testing.T) {
	project := storage.ChatPolicy{Preset: "offline-project", Project: "/p"}
	for _, c := range []struct {
		mode   string
		policy storage.ChatPolicy
		held   bool
		want   string
	}{
		{approval.ModeAuto, storage.ChatPolicy{Preset: "sealed"}, false, ""},
		{approval.ModeAsk, storage.ChatPolicy{Preset: "sealed"}, false, "code"},
		{approval.ModeAuto, project, true, ""},
		{approval.ModeAuto, project, false, "overwrite /p"},
		{approval.ModeAsk, project, true, "code"},
		{approval.ModeAuto, storage.ChatPolicy{Preset: "network"}, false, "network"},
		{approval.ModeAsk, storage.ChatPolicy{Preset: "network", Hosts: []string{"a", "b"}}, false, "network a, network b, code"},
	} {
		if got := effects(approval.Before(c.mode, c.policy, storage.Call{Code: "1"}, c.held)); got != c.want {
			t.Errorf("%s %+v: %q, want %q", c.mode, c.policy, got, c.want)
		}
	}
}

func TestAfter(t *testing.T) {
	change := func(kind, path string, own bool, runs string) event.FileChange {
		return event.FileChange{Kind: kind, Path: path, Own: own, Runs: runs}
	}
	for _, c := range []struct {
		name    string
		changes []event.FileChange
		more    int
		want    string
	}{
		{"nothing", nil, 0, ""},
		{"its own", []event.FileChange{change("deleted", "a", true, ""), change("changed", "b", true, ""), change("created", "c", false, ""), change("folder", "d", false, "")}, 0, ""},
		{"the person's", []event.FileChange{change("deleted", "a", false, ""), change("changed", "b", false, "")}, 0, "delete a, overwrite b"},
		{"run later, whoever made it", []event.FileChange{change("created", ".envrc", true, "direnv")}, 0, "runs-later .envrc"},
		{"more that are created", []event.FileChange{change("changed", "a", false, ""), change("created", "b", false, "")}, 5, "overwrite a"},
		{"more that are changed", []event.FileChange{change("changed", "a", false, "")}, 5, "overwrite a, overwrite"},
		{"more that are deleted", []event.FileChange{change("deleted", "a", false, "")}, 5, "delete a, delete, overwrite"},
		{"more that are run later", []event.FileChange{change("created", "a", false, "x")}, 5, "runs-later a, runs-later, delete, overwrite"},
	} {
		if got := effects(approval.After(event.Effects{Changes: c.changes, More: c.more})); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestSentences(t *testing.T) {
	got := approval.Sentences([]event.Need{{Why: "One. "}, {Why: "Two."}, {Why: "One."}})
	if d := cmp.Diff([]string{"One.", "Two."}, got); d != "" {
		t.Error(d)
	}
}
