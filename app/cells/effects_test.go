//go:build unix

package cells_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atoll/app/api"
	"atoll/app/approval"
	"atoll/app/chats"
	"atoll/app/event"
	"atoll/storage"
)

var (
	yes = chats.Answer{Allow: true}
	no  = chats.Answer{}
)

// What code does to a person's folder, when they are asked, and what becomes of
// the files.
func TestEffects(t *testing.T) {
	w := newWorld(t).open()
	for _, c := range []struct {
		name, code string
		answer     chats.Answer
		asked      string // of the one question; "" for none
		status     string
		left       map[string]string // files of the project afterwards
	}{
		{"creates", "open('project/new.txt', 'w').write('n')", no, "", "ok", map[string]string{"new.txt": "n", "a.txt": "old\n"}},
		{"in its own folder", "open('mine.txt', 'w').write('1'); open('mine.txt', 'w').write('2'); import os; os.remove('mine.txt')", no, "", "ok", map[string]string{"a.txt": "old\n"}},
		{"overwrites, yes", "open('project/a.txt', 'w').write('new\\n')", yes, "after overwrite", "ok", map[string]string{"a.txt": "new\n"}},
		{"overwrites, no", "open('project/a.txt', 'w').write('new\\n')", no, "after overwrite", "denied", map[string]string{"a.txt": "old\n"}},
		{"adds to it, no", "open('project/a.txt', 'a').write('more')", no, "after overwrite", "denied", map[string]string{"a.txt": "old\n"}},
		{"deletes, yes", "import os; os.remove('project/a.txt')", yes, "after delete", "ok", map[string]string{"a.txt": "-"}},
		{"deletes, no", "import os; os.remove('project/a.txt')", no, "after delete", "denied", map[string]string{"a.txt": "old\n"}},
		{"renames, no", "import os; os.rename('project/a.txt', 'project/b.txt')", no, "after delete", "denied", map[string]string{"a.txt": "old\n", "b.txt": "-"}},
		{"deletes a folder, no", "import shutil; shutil.rmtree('project/sub')", no, "after delete delete", "denied", map[string]string{"sub/c.txt": "c"}},
		{"deletes a folder, yes", "import shutil; shutil.rmtree('project/sub')", yes, "after delete delete", "ok", map[string]string{"sub/c.txt": "-"}},
		{"direnv would run it", "open('project/.envrc', 'w').write('touch /tmp/x')", no, "after runs-later", "denied", map[string]string{".envrc": "-"}},
		{"an editor would run it, yes", "import os; os.makedirs('project/.vscode'); open('project/.vscode/tasks.json', 'w').write('{}')", yes, "after runs-later", "ok", map[string]string{".vscode/tasks.json": "{}"}},
		{"Python ends, yes", "open('project/a.txt', 'w').write('half'); import os; os._exit(3)", yes, "after overwrite", "died", map[string]string{"a.txt": "half"}},
		{"Python ends, no", "open('project/a.txt', 'w').write('half'); import os; os._exit(3)", no, "after overwrite", "denied", map[string]string{"a.txt": "old\n"}},
		{"the code fails", "open('project/a.txt', 'w').write('half'); 1/0", no, "after overwrite", "denied", map[string]string{"a.txt": "old\n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.t = t
			if err := os.RemoveAll(w.project); err != nil {
				t.Fatal(err)
			}
			w.put("a.txt", "old\n")
			w.put("sub/c.txt", "c")
			chat := w.chat(approval.ModeAuto, w.inProject())
			var asked []string
			res := w.run(chat, c.code+"\nprint('ran')", w.says(c.answer, &asked))
			if got := strings.Join(asked, ", "); got != c.asked {
				t.Errorf("asked %q, want %q", got, c.asked)
			}
			if res.Status != c.status || res.Receipt == nil || res.Receipt.Preset != "offline-project" || res.Receipt.Usage.Wall <= 0 {
				t.Errorf("%+v, receipt %+v", res, res.Receipt)
			}
			if c.status == "denied" && !strings.Contains(res.Note, "not carried out") {
				t.Errorf("note %q", res.Note)
			}
			for name, want := range c.left {
				if got := w.holds(name); got != want {
					t.Errorf("%s holds %q, want %q", name, got, want)
				}
			}
			// The kernel is the same one, whatever was decided.
			if res := w.run(chat, "print(open('project/sub/c.txt').read() if __import__('os').path.exists('project/sub') else 'gone')", w.nobody()); res.Status != "ok" || res.Receipt == nil {
				t.Errorf("the next run: %+v", res)
			}
		})
	}
}

// The question says what would become of the file; the decision and a receipt
// with the file's hash are kept.
func TestEffectsAreShown(t *testing.T) {
	w := newWorld(t).open()
	w.put("a.txt", "old\n")
	chat := w.chat(approval.ModeAuto, w.inProject())
	var got event.Ask
	res := w.run(chat, "open('project/a.txt', 'w').write('new\\n'); open('project/.envrc', 'w').write('x'); print('ran')", func(a event.Ask) {
		got = a
		w.say(a, yes)
	})
	want := event.Effects{Hosts: []string{}, Bytes: 5, Procs: got.Effects.Procs, Seconds: got.Effects.Seconds,
		Changes: []event.FileChange{
			{Path: "project/.envrc", Kind: "created", Size: 1, Diff: got.Effects.Changes[0].Diff, Runs: "direnv runs it when a shell enters the folder."},
			{Path: "project/a.txt", Kind: "changed", Size: 4, Was: 4, Diff: "--- project/a.txt\n+++ project/a.txt\n@@ -1 +1 @@\n-old\n+new\n"},
		},
		Needs: []event.Need{
			{Effect: "runs-later", What: "project/.envrc", Why: "direnv runs it when a shell enters the folder."},
			{Effect: "overwrite", What: "project/a.txt", Why: "a.txt would be overwritten."},
		},
	}
	if d := cmp.Diff(want, *got.Effects); d != "" {
		t.Error(d)
	}
	outputs := map[string]bool{}
	for _, f := range res.Receipt.Outputs {
		outputs[f.Name] = len(f.SHA256) == 64
	}
	if d := cmp.Diff(map[string]bool{"project/.envrc": true, "project/a.txt": true}, outputs); d != "" {
		t.Error("outputs:", d)
	}
	var decided []storage.Decision
	for _, e := range must[chats.View](w, "chats.get", chats.ID{ID: chat}).Entries {
		if e.Kind == storage.CallDecided {
			decided = append(decided, read[storage.Decision](t, e))
		}
	}
	if len(decided) != 2 || decided[1].Stage != "after" || decided[1].By != "person" || len(decided[1].Needs) != 2 {
		t.Errorf("decisions %+v", decided)
	}
}

// Files that the code of a chat made are its own until somebody else changes
// them, also for a host that was started meanwhile.
func TestOwnFiles(t *testing.T) {
	w := newWorld(t).open()
	chat := w.chat(approval.ModeAuto, w.inProject())
	w.run(chat, "import os; os.makedirs('project/out/deep'); open('project/out/deep/mine.txt', 'w').write('1'); open('project/other.txt', 'w').write('1'); print('ran')", w.nobody())
	w.run(chat, "open('project/out/deep/mine.txt', 'w').write('22'); print('ran')", w.nobody())
	w.close()
	w.open()
	w.run(chat, "open('project/out/deep/mine.txt', 'a').write('3'); print('ran')", w.nobody())
	if got := w.holds("out/deep/mine.txt"); got != "223" {
		t.Fatalf("the file holds %q", got)
	}
	w.put("out/deep/mine.txt", "a person's")
	for _, c := range []struct {
		code, asked string
		answer      chats.Answer
	}{
		{"import os; os.remove('project/out/deep/mine.txt'); print('ran')", "after delete", no},
		// With their words in it it stays theirs.
		{"open('project/out/deep/mine.txt', 'a').write(' and mine'); print('ran')", "after overwrite", yes},
		{"open('project/out/deep/mine.txt', 'w').write('mine'); print('ran again')", "after overwrite", no},
	} {
		var asked []string
		w.run(chat, c.code, w.says(c.answer, &asked))
		if got := strings.Join(asked, ", "); got != c.asked {
			t.Errorf("%s: asked %q, want %q", c.code, got, c.asked)
		}
	}
	if got := w.holds("out/deep/mine.txt"); got != "a person's and mine" {
		t.Errorf("the file holds %q", got)
	}
	// Another chat has not made them.
	var asked []string
	w.run(w.chat(approval.ModeAuto, w.inProject()), "open('project/other.txt', 'w').write('2'); print('ran')", w.says(no, &asked))
	if d := cmp.Diff([]string{"after overwrite"}, asked); d != "" {
		t.Error("another chat:", d)
	}
	// What it has made it may take away, folders and all.
	w.run(chat, "import os; os.remove('project/other.txt'); os.makedirs('project/new/x'); open('project/new/x/y', 'w').write('1'); print('ran')", w.nobody())
	w.run(chat, "import shutil; shutil.rmtree('project/new'); print('ran')", w.nobody())
	if w.holds("new/x/y") != "-" || w.holds("other.txt") != "-" {
		t.Error("they are still there")
	}
}

// Who stops the turn instead of an answer has said no.
func TestStopInsteadOfAnswer(t *testing.T) {
	w := newWorld(t).open()
	w.put("a.txt", "old")
	chat := w.chat(approval.ModeAuto, w.inProject())
	res := w.run(chat, "open('project/a.txt', 'w').write('new'); print('ran')", func(a event.Ask) {
		must[api.Empty](w, "chats.stop", chats.ID{ID: a.Chat})
	})
	if res.Status != "interrupted" || res.Receipt == nil || w.holds("a.txt") != "old" {
		t.Errorf("%+v, the file holds %q", res, w.holds("a.txt"))
	}
	if res := w.run(chat, "print(open('project/a.txt').read())", w.nobody()); res.Digest != "old" {
		t.Errorf("the next run: %+v", res)
	}
}

// More files than can be listed are no reason to ask; that they are the
// person's is, wherever they stand in the list.
func TestManyFiles(t *testing.T) {
	w := newWorld(t).open()
	chat := w.chat(approval.ModeAuto, w.inProject())
	w.put("z.txt", "old")
	many := "for i in range(300): open(f'project/{i:03}.txt', 'w').write('x')\n"
	if res := w.run(chat, many+"print('ran')", w.nobody()); res.Status != "ok" || w.holds("299.txt") != "x" {
		t.Errorf("%+v", res)
	}
	var got event.Ask
	many = strings.ReplaceAll(many, "'x'", "'xx'")
	w.run(chat, many+"open('project/z.txt', 'w').write('new')\nprint('ran')", func(a event.Ask) { got = a; w.say(a, no) })
	if got.Effects == nil || len(got.Needs) != 1 || got.Needs[0].What != "project/z.txt" || got.Effects.More != 101 || w.holds("z.txt") != "old" {
		t.Errorf("%+v", got.Needs)
	}
	// All of them are the person's to another chat.
	w.run(w.chat(approval.ModeAuto, w.inProject()), "import os\nfor f in os.listdir('project'): os.remove('project/' + f)\nprint('ran')", func(a event.Ask) { got = a; w.say(a, no) })
	rest := map[string]string{}
	for _, n := range got.Needs {
		if n.What == "" {
			rest[n.Effect] = n.Why
		}
	}
	why := "There are 101 more changes than can be listed."
	if d := cmp.Diff(map[string]string{"delete": why, "overwrite": why}, rest); d != "" {
		t.Error(d)
	}
}

// A preview shows the effects; yes applies that very run, edited code runs anew,
// and a stop leaves nothing.
func TestPreview(t *testing.T) {
	w := newWorld(t).open()
	const code = "import random; n = random.random(); open('r.txt', 'w').write(repr(n)); print(n)"
	look := func(then person) person {
		return func(a event.Ask) {
			switch {
			case !a.Previewed && a.Stage == "before" && a.CanPreview:
				must[api.Empty](w, "chats.preview", chats.AskRef{Ask: a.ID})
			case !a.Previewed:
				t.Errorf("no preview: %+v", a)
				w.say(a, no)
			default:
				if len(a.Effects.Changes) != 1 || a.Effects.Changes[0].Path != "r.txt" {
					t.Errorf("effects %+v", a.Effects)
				}
				then(a)
			}
		}
	}
	text := func(chat string) string {
		b, err := os.ReadFile(filepath.Join(w.work(chat), "r.txt"))
		if err != nil {
			return "-"
		}
		return string(b)
	}
	for _, c := range []struct {
		name   string
		policy *storage.ChatPolicy
		then   person
		status string
		want   func(res storage.Result, file string) bool
	}{
		{"yes", nil, func(a event.Ask) { w.say(a, yes) }, "ok", func(r storage.Result, file string) bool { return file != "-" && r.Digest == file }},
		{"yes, in a project", w.inProject(), func(a event.Ask) { w.say(a, yes) }, "ok", func(r storage.Result, file string) bool { return file != "-" && r.Digest == file }},
		{"edited", nil, func(a event.Ask) {
			w.say(a, chats.Answer{Allow: true, Code: "open('r.txt', 'w').write('7'); print(7)"})
		}, "ok",
			func(r storage.Result, file string) bool {
				return file == "7" && r.Digest == "7" && strings.Contains(r.Note, "variables keep")
			}},
		{"no", nil, func(a event.Ask) { w.say(a, chats.Answer{Note: "not so"}) }, "denied",
			func(r storage.Result, file string) bool {
				return file == "-" && r.Receipt != nil && strings.Contains(r.Note, "not so")
			}},
		{"stop", nil, func(a event.Ask) { must[api.Empty](w, "chats.stop", chats.ID{ID: a.Chat}) }, "interrupted",
			func(_ storage.Result, file string) bool { return file == "-" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.t = t
			chat := w.chat(approval.ModeAsk, c.policy)
			res := w.run(chat, code, look(c.then))
			if res.Status != c.status || !c.want(res, text(chat)) {
				t.Errorf("%+v; the file holds %s", res, text(chat))
			}
			var asked []string
			if res := w.run(chat, "import os; print(os.path.exists('r.txt'))", w.says(yes, &asked)); res.Digest != fmt.Sprint(map[bool]string{true: "True", false: "False"}[text(chat) != "-"]) {
				t.Errorf("the next run sees %q", res.Digest)
			}
		})
	}
}

// Without a question sealed code runs at once; what goes out to a network is
// asked about, and cannot be looked at beforehand.
func TestPresets(t *testing.T) {
	w := newWorld(t).open()
	if res := w.run(w.chat(approval.ModeAuto, nil), "open('a', 'w').write('1'); print('ran')", w.nobody()); res.Status != "ok" || res.Receipt.Preset != "sealed" || res.Receipt.Level != "full" {
		t.Errorf("%+v %+v", res, res.Receipt)
	}
	if res := w.run(w.chat(approval.ModeNever, nil), "print('ran')", w.nobody()); res.Status != "denied" || res.Receipt != nil {
		t.Errorf("never: %+v", res)
	}
	for _, mode := range []string{approval.ModeAuto, approval.ModeAsk} {
		var got event.Ask
		w.run(w.chat(mode, &storage.ChatPolicy{Preset: "network", Hosts: []string{"Example.invalid "}}), "print('ran')", func(a event.Ask) { got = a; w.say(a, no) })
		if got.Stage != "before" || got.CanPreview || got.Needs[0].Effect != "network" || got.Needs[0].What != "example.invalid" {
			t.Errorf("%s: %+v", mode, got)
		}
	}
}
