//go:build unix

package cells_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"atoll/app/api"
	"atoll/app/approval"
	"atoll/app/chats"
	"atoll/app/event"
	"atoll/storage"
)

// waits goes on until there is a file "go" in the chat's folder.
const waits = "import os, time\nwhile not os.path.exists('go'): time.sleep(0.01)\nprint('ended')"

// Code that goes on for very long is asked about while it does.
func TestLongRuns(t *testing.T) {
	w := newWorld(t)
	w.long = 2 * time.Second
	w.open()
	end := func(chat string) {
		if err := os.WriteFile(filepath.Join(w.work(chat), "go"), nil, 0o600); err != nil {
			t.Error(err)
		}
	}
	for _, c := range []struct {
		name   string
		then   person
		status string
		by     string // of the decisions
	}{
		{"yes", func(a event.Ask) { w.say(a, yes); end(a.Chat) }, "ok", "person yes"},
		{"no", func(a event.Ask) { w.say(a, no) }, "timeout", "person no"},
		{"nobody", func(event.Ask) {}, "timeout", ""},
		{"it ends meanwhile", func(a event.Ask) { end(a.Chat) }, "ok", ""},
		{"stop", func(a event.Ask) { must[api.Empty](w, "chats.stop", chats.ID{ID: a.Chat}) }, "interrupted", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.t = t
			chat := w.chat(approval.ModeAuto, nil)
			w.run(chat, "kept = 1; print('ran')", w.nobody())
			var got event.Ask
			res := w.run(chat, waits, func(a event.Ask) { got = a; c.then(a) })
			want := []event.Need{{Effect: "long", Why: "It has run for 2 seconds. Let it run on?"}}
			if got.Stage != "after" || got.CanPreview || got.Effects != nil || !cmp.Equal(want, got.Needs) {
				t.Errorf("asked %+v", got)
			}
			if res.Status != c.status || res.Receipt == nil || c.status == "timeout" && !strings.Contains(res.Note, "Variables are kept") {
				t.Errorf("%+v", res)
			}
			if res.Status == "ok" && res.Digest != "ended" {
				t.Errorf("it printed %q", res.Digest)
			}
			var by []string
			for _, e := range must[chats.View](w, "chats.get", chats.ID{ID: chat}).Entries {
				if d := read[storage.Decision](t, e); e.Kind == storage.CallDecided && d.Stage == "after" {
					by = append(by, d.By+map[bool]string{true: " yes", false: " no"}[d.Allow])
				}
			}
			if got := strings.Join(by, ", "); got != c.by {
				t.Errorf("decisions %q, want %q", got, c.by)
			}
			if res := w.run(chat, "print(kept)", w.nobody()); res.Digest != "1" {
				t.Errorf("the next run: %+v", res)
			}
		})
	}
}

// A remembered yes is not asked for again, as often as the time is up; and the
// files of such a run wait as those of others do.
func TestLongRunsRemembered(t *testing.T) {
	w := newWorld(t)
	w.long = time.Second
	w.open()
	w.put("a.txt", "old")
	chat := w.chat(approval.ModeAuto, w.inProject())
	var asked []string
	remembered := w.says(chats.Answer{Allow: true, Remember: &approval.Remember{Scope: "project"}}, &asked)
	w.run(chat, "import time; time.sleep(1.5); print('ran')", remembered)
	res := w.run(chat, "import time; time.sleep(2.5); open('project/a.txt', 'w').write('new'); print('ran again')", w.says(yes, &asked))
	if d := cmp.Diff([]string{"after long", "after overwrite"}, asked); d != "" || res.Status != "ok" || w.holds("a.txt") != "new" {
		t.Errorf("%s %+v", d, res)
	}
}

// A preview is stopped when its time is up: there is one question at a time.
func TestLongPreview(t *testing.T) {
	w := newWorld(t)
	w.long = time.Second
	w.open()
	asks := 0
	w.run(w.chat(approval.ModeAsk, nil), waits, func(a event.Ask) {
		if asks++; !a.Previewed {
			must[api.Empty](w, "chats.preview", chats.AskRef{Ask: a.ID})
			return
		}
		if !strings.Contains(a.Effects.Error, "was stopped after 1s") {
			t.Errorf("effects %+v", a.Effects)
		}
		w.say(a, no)
	})
	if asks != 2 {
		t.Errorf("asked %d times", asks)
	}
}
