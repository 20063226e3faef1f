//go:build unix

package cells_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atoll/app/api"
	"atoll/app/approval"
	"atoll/app/boundary"
	"atoll/app/chats"
	"atoll/app/event"
	"atoll/storage"
)

// A remembered yes holds for its effect, in its place, until it is taken back.
func TestGrants(t *testing.T) {
	w := newWorld(t).open()
	const deletes, overwrites = "import os; os.remove('project/a.txt'); print('ran')", "open('project/a.txt', 'w').write('new'); print('ran')"
	asks := func(chat, code string, answer chats.Answer) bool {
		t.Helper()
		w.put("a.txt", "the person's")
		var asked []string
		w.run(chat, code, w.says(answer, &asked))
		return len(asked) > 0
	}
	remember := func(scope string, hours float64) chats.Answer {
		return chats.Answer{Allow: true, Remember: &approval.Remember{Scope: scope, Hours: hours}}
	}
	grants := func(chat string) []storage.Grant {
		return must[chats.Grants](w, "grants.list", chats.GrantsOf{Chat: chat}).Grants
	}
	one, two := w.chat(approval.ModeAuto, w.inProject()), w.chat(approval.ModeAuto, w.inProject())

	if !asks(one, deletes, remember("chat", 1)) || asks(one, deletes, no) {
		t.Error("chat: it asks once")
	}
	if !asks(one, overwrites, no) {
		t.Error("another effect passes")
	}
	if !asks(two, deletes, no) {
		t.Error("another chat passes")
	}
	g := grants(one)
	if len(g) != 1 || g[0].Effect != "delete" || g[0].Scope != "chat" || g[0].Where != one || g[0].Until.Sub(g[0].At).Hours() != 1 || len(grants(two)) != 0 {
		t.Errorf("%+v", g)
	}
	w.close()
	w.open()
	if asks(one, deletes, no) {
		t.Error("a new host has forgotten it")
	}
	if v := must[boundary.View](w, "policy.show", chats.PolicyOf{Chat: one}); !cmp.Equal(v.Grants, g) {
		t.Errorf("policy.show: %+v", v.Grants)
	}
	must[api.Empty](w, "grants.revoke", chats.GrantRef{ID: g[0].ID})
	if !asks(one, deletes, no) {
		t.Error("it holds when it was revoked")
	}
	if _, err := do[api.Empty](w, "grants.revoke", chats.GrantRef{ID: g[0].ID}); !errors.Is(err, api.ErrInput) {
		t.Errorf("revoked twice: %v", err)
	}

	if !asks(one, overwrites, remember("project", 0)) || asks(two, overwrites, no) {
		t.Error("project: it asks once in all of its chats")
	}
	if len(grants(two)) != 1 {
		t.Errorf("%+v", grants(two))
	}
	// Another folder is another project.
	other := filepath.Join(filepath.Dir(w.project), "other")
	if err := os.Mkdir(other, 0o755); err != nil {
		t.Fatal(err)
	}
	first := w.project
	w.project = other
	if !asks(w.chat(approval.ModeAuto, w.inProject()), overwrites, no) {
		t.Error("another project passes")
	}
	w.project = first

	// The shortest time there is, about a third of a second.
	if !asks(one, deletes, remember("chat", 0.0001)) {
		t.Error("it does not ask")
	}
	for len(grants(one)) > 1 { // until it has run out
	}
	if !asks(one, deletes, no) {
		t.Error("it holds when its time is over")
	}

	asks(one, deletes, remember("chat", 0))
	must[api.Empty](w, "chats.delete", chats.ID{ID: one})
	if left := grants(""); slices.ContainsFunc(left, func(g storage.Grant) bool { return g.Where == one }) || len(left) != 1 {
		t.Errorf("of a chat that is gone: %+v", left)
	}
}

// A chat that asks each time goes on asking, whatever is remembered.
func TestAskIsNotRememberedAway(t *testing.T) {
	w := newWorld(t).open()
	chat := w.chat(approval.ModeAsk, w.inProject())
	var asked []string
	p := w.says(chats.Answer{Allow: true, Remember: &approval.Remember{Scope: "chat"}}, &asked)
	w.put("a.txt", "old")
	for _, text := range []string{"one", "two"} {
		w.run(chat, "open('project/a.txt', 'w').write('"+text+"'); print('ran "+text+"')", p)
	}
	if d := cmp.Diff([]string{"before code", "after overwrite", "before code"}, asked); d != "" || w.holds("a.txt") != "two" {
		t.Error(d, w.holds("a.txt"))
	}
}

// Another boundary starts Python anew, and the next result says so, also when
// somebody was asked in between.
func TestPolicyIsChanged(t *testing.T) {
	w := newWorld(t).open()
	for _, mode := range []string{approval.ModeAuto, approval.ModeAsk} {
		chat := w.chat(mode, nil)
		var asked []string
		w.run(chat, "x = 1; print('ran')", w.says(yes, &asked))
		if v := must[boundary.View](w, "policy.set", chats.SetPolicy{Chat: chat, Policy: storage.ChatPolicy{Preset: "sealed"}}); v.Restarted {
			t.Error("the same boundary again restarts")
		}
		v := must[boundary.View](w, "policy.set", chats.SetPolicy{Chat: chat, Policy: *w.inProject()})
		if !v.Restarted || v.Policy.Project != w.project || v.Network.Mode != "off" || v.Level != "full" {
			t.Errorf("%+v", v)
		}
		res := w.run(chat, "print('x' in globals())", func(a event.Ask) {
			if a.CanPreview && !a.Previewed {
				must[api.Empty](w, "chats.preview", chats.AskRef{Ask: a.ID})
				return
			}
			w.say(a, yes)
		})
		if res.Digest != "False" || !strings.Contains(res.Note, "boundary of this chat was changed") {
			t.Errorf("%s: %+v", mode, res)
		}
		if res := w.run(chat, "print(1)", w.says(yes, &asked)); res.Note != "" {
			t.Errorf("%s: said twice: %q", mode, res.Note)
		}
	}
}

// Without a chat it is what a new one would have.
func TestPolicyIsShown(t *testing.T) {
	w := newWorld(t).open()
	for _, p := range []*storage.ChatPolicy{nil, {Preset: "sealed"}, w.inProject(), {Preset: "network"}, {Preset: "network", Hosts: []string{"a.example"}}} {
		v := must[boundary.View](w, "policy.show", chats.PolicyOf{Policy: p})
		want := storage.ChatPolicy{Preset: "sealed"}
		if p != nil {
			want = *p
		}
		writes := []string{"work"}
		if want.Project != "" {
			writes = append(writes, "project")
		}
		var got []string
		for _, p := range v.Write {
			got = append(got, p.Why)
		}
		mode := map[string]string{"network": "on"}[want.Preset]
		switch {
		case len(want.Hosts) > 0:
			mode = "hosts"
		case mode == "":
			mode = "off"
		}
		if !cmp.Equal(v.Policy, want) || !cmp.Equal(got, writes) || v.Network.Mode != mode || v.Limits.Wall != 600 || v.Level != "full" || len(v.Sentences()) < 6 {
			t.Errorf("%+v: %+v", want, v)
		}
	}
	w.put(".git/config", "")
	v := must[boundary.View](w, "policy.show", chats.PolicyOf{Policy: w.inProject()})
	if d := cmp.Diff([]string{filepath.Join(w.project, ".git")}, v.Protected); d != "" {
		t.Error(d)
	}
	if entries, err := os.ReadDir(w.home.Chats()); err != nil || len(entries) > 0 {
		t.Errorf("it has made %v, %v", entries, err)
	}
}

// What cannot be a project is refused with a sentence that says what to do, and
// the chat stays as it was.
func TestBadProjects(t *testing.T) {
	w := newWorld(t).open()
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	file := w.put("a.txt", "")
	link := filepath.Join(filepath.Dir(w.project), "link")
	if err := os.Symlink("/", link); err != nil {
		t.Fatal(err)
	}
	chat := w.chat(approval.ModeAuto, nil)
	for path, want := range map[string]string{
		"":                               "choose the project's folder",
		"/":                              "holds the whole disk; choose a folder",
		home:                             "choose a folder of",
		filepath.Dir(home):               "choose a folder of",
		"project":                        "write it from the root on",
		filepath.Join(w.project, "none"): "make it first",
		file:                             "choose the folder that it lies in",
		"/etc":                           "belongs to the system; choose a folder",
		"/tmp":                           "choose a folder",
		"/proc/self":                     "choose a folder of your own",
		link:                             "holds the whole disk; choose a folder",
		string(w.home):                   "keeps its own data",
		w.home.Store():                   "keeps its own data",
		filepath.Dir(w.project):          "keeps its own data",
	} {
		for method, in := range map[string]any{
			"policy.set":  chats.SetPolicy{Chat: chat, Policy: storage.ChatPolicy{Preset: "offline-project", Project: path}},
			"policy.show": chats.PolicyOf{Policy: &storage.ChatPolicy{Preset: "offline-project", Project: path}},
		} {
			if _, err := do[boundary.View](w, method, in); !errors.Is(err, api.ErrInput) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s %q: %v, want %q", method, path, err, want)
			}
		}
	}
	for _, p := range []storage.ChatPolicy{{Preset: "open"}, {Preset: "network", Hosts: []string{"a b"}}, {Preset: "network", Hosts: []string{"http://a.example/x"}}} {
		if _, err := do[boundary.View](w, "policy.set", chats.SetPolicy{Chat: chat, Policy: p}); !errors.Is(err, api.ErrInput) {
			t.Errorf("%+v: %v", p, err)
		}
	}
	if v := must[boundary.View](w, "policy.show", chats.PolicyOf{Chat: chat}); v.Policy.Preset != "sealed" {
		t.Errorf("the chat has become %+v", v.Policy)
	}
}
