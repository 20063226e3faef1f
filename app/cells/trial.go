package cells

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"atoll/app/boundary"
	"atoll/app/event"
	"atoll/sandbox"
	"atoll/sandbox/kernel"
	"atoll/storage"
)

// A Trial is a run whose files wait for a decision. Keep or Drop must be called;
// until then nothing else runs in the chat.
type Trial struct {
	r       *run
	t       *kernel.Trial
	res     kernel.Result
	effects event.Effects
	own     map[string]bool // by path: made by the code of this chat
}

// Effects is what Keep would do.
func (t *Trial) Effects() event.Effects { return t.effects }

const (
	maxChanges = 200      // that are listed
	maxDiff    = 64 << 10 // bytes of a text that is compared
	maxDiffs   = 1 << 20  // bytes of all differences, about
)

// CanTry reports whether Try works in a chat.
func (s *Service) CanTry(ctx context.Context, id string) bool {
	c, err := s.take(id)
	if err != nil {
		return false
	}
	defer s.give(c)
	c.mu.Lock() // what the next result is to say stays for it
	defer c.mu.Unlock()
	k, err := s.session(ctx, id, c)
	if err != nil {
		return false
	}
	can, err := k.CanTry(ctx)
	return can && err == nil
}

// Try runs a call as Run does, but its files wait. Where writes cannot be held
// back the error wraps [sandbox.ErrUnsupported], and nothing was run. The trial
// is nil without an error for a run that did not begin, whose result is returned.
func (s *Service) Try(ctx context.Context, id string, call storage.Call, out func(storage.Output), longer Longer) (*Trial, storage.Result, error) {
	r, err := s.begin(ctx, id, call, out, longer)
	if r == nil {
		return nil, refused(call), err
	}
	res, t, err := r.k.Try(ctx, call.Code, r.take)
	if errors.Is(err, kernel.ErrUnseen) {
		res.Status, res.Error = kernel.Error, nil
		res.Note = fmt.Sprintf("Nothing of what the code wrote was kept: %v.", err)
		err = nil
	}
	if errors.Is(err, sandbox.ErrHeld) {
		err, res.Status = nil, kernel.Error
		res.Note = "The code was not run: an earlier run has left a file open for writing. Close it first (f.close(), connection.close())."
	}
	if t == nil {
		defer r.release()
		kept, err := r.end(ctx, res, err)
		return nil, kept, err
	}
	tr := &Trial{r: r, t: t, res: res}
	tr.effects = tr.describe()
	return tr, storage.Result{}, nil
}

// Keep carries the changes out and returns what is kept of the run.
func (t *Trial) Keep(ctx context.Context) (storage.Result, error) {
	defer t.r.release()
	kept := t.t.Keep()
	if kept != nil {
		t.r.notes = append(t.r.notes, "Not every change could be carried out: "+strings.TrimSuffix(kept.Error(), ".")+".")
	}
	if err := t.remember(kept); err != nil {
		t.r.notes = append(t.r.notes, fmt.Sprintf("The list of files that this chat made could not be kept: %v.", err))
	}
	res, err := t.r.end(ctx, t.res, nil)
	if res.Receipt != nil {
		res.Receipt.Outputs = append(res.Receipt.Outputs, t.outputs()...)
	}
	return res, err
}

// outputs are the files outside of the chat's folder that the run has written.
func (t *Trial) outputs() (out []storage.FileHash) {
	project := t.r.c.policy.Project
	if project == "" {
		return nil
	}
	root, err := os.OpenRoot(project) // the code may have led names elsewhere
	if err != nil {
		return nil
	}
	defer root.Close()
	room := int64(maxHashed)
	for _, c := range t.t.Changes {
		rel, ok := below(project, c.Path)
		if !ok || c.Kind != "created" && c.Kind != "changed" || len(out) == maxChanges {
			continue
		}
		x := storage.FileHash{Name: boundary.ProjectLink + "/" + rel, Size: c.Size}
		if st, err := root.Lstat(rel); err == nil && st.Mode().IsRegular() && st.Size() <= room {
			if f, err := root.Open(rel); err == nil {
				x = Hash(x.Name, f)
				f.Close()
				room -= x.Size
			}
		}
		out = append(out, x)
	}
	return out
}

// Drop leaves the files as they were and returns what is kept of the run.
func (t *Trial) Drop(ctx context.Context) (storage.Result, error) {
	defer t.r.release()
	err := t.t.Drop()
	t.r.notes = append(t.r.notes, "Its changes to files were not carried out; variables keep what the run gave them.")
	res, eerr := t.r.end(ctx, t.res, nil)
	return res, errors.Join(err, eerr)
}

// describe says what the run did, for people.
func (t *Trial) describe() event.Effects {
	e := event.Effects{Changes: []event.FileChange{}, Hosts: []string{}, Needs: []event.Need{}, Seconds: t.res.Took.Seconds()}
	if r := t.res.Record; r != nil {
		e.Procs, e.Hosts = r.Usage.Procs, append(e.Hosts, r.Usage.Hosts...)
		for _, d := range append(r.Denials, t.res.Tried...) {
			if d.Kind == "network" && !slices.Contains(e.Hosts, d.What) {
				e.Hosts = append(e.Hosts, d.What)
			}
		}
	}
	switch {
	case t.res.Error != nil && t.res.Status == kernel.Error:
		e.Error = strings.TrimSpace(t.res.Error.Name + ": " + t.res.Error.Message)
	case t.res.Status != kernel.OK:
		e.Error = t.res.Note
	}
	made := t.r.c.made()
	changes := slices.Clone(t.t.Changes)
	t.own = map[string]bool{}
	for _, c := range changes {
		e.Bytes += max(c.Size, 0)
		t.own[c.Path] = t.isOwn(c, made)
	}
	slices.SortStableFunc(changes, func(a, b sandbox.Change) int { return t.rank(a) - t.rank(b) })
	e.More = max(len(changes)-maxChanges, 0)
	room := maxDiffs
	for _, c := range changes[:len(changes)-e.More] {
		x := event.FileChange{Path: t.shown(c.Path), Kind: c.Kind, Size: c.Size, Was: c.Was, Runs: c.Runs, Own: t.own[c.Path]}
		if room > 0 && (c.Kind == "changed" || c.Kind == "created") {
			x.Diff = t.diff(c, x.Path)
			room -= len(x.Diff)
		}
		e.Changes = append(e.Changes, x)
	}
	return e
}

// rank orders changes by what there is to decide about them: those at the end
// of a long list are not shown.
func (t *Trial) rank(c sandbox.Change) int {
	switch {
	case c.Runs != "":
		return 0
	case t.own[c.Path]:
	case c.Kind == "deleted":
		return 1
	case c.Kind == "changed":
		return 2
	}
	return 3
}

// shown is the path as code and people call it.
func (t *Trial) shown(path string) string {
	if rel, ok := below(t.r.c.ws.Work(), path); ok {
		return rel
	}
	if p := t.r.c.policy.Project; p != "" {
		if rel, ok := below(p, path); ok {
			return boundary.ProjectLink + "/" + rel
		}
	}
	return path
}

func below(dir, path string) (string, bool) {
	rel, err := filepath.Rel(dir, path)
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// diff compares two texts; "" where there is nothing to compare.
func (t *Trial) diff(c sandbox.Change, name string) string {
	before := ""
	if c.Kind == "changed" {
		var ok bool
		if before, ok = smallText(c.Path); !ok {
			return ""
		}
	}
	after, ok := smallText(c.New)
	if !ok {
		return ""
	}
	return udiff.Unified(name, name, before, after)
}

// smallText reads a text of at most maxDiff bytes. The file is hostile.
func smallText(path string) (string, bool) {
	if path == "" {
		return "", false
	}
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return "", false
	}
	defer root.Close()
	st, err := root.Lstat(filepath.Base(path))
	if err != nil || !st.Mode().IsRegular() || st.Size() > maxDiff {
		return "", false
	}
	b, err := root.ReadFile(filepath.Base(path))
	if err != nil || len(b) > maxDiff || !utf8.Valid(b) || strings.ContainsRune(string(b), 0) {
		return "", false
	}
	return string(b), true
}
