package cells

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"

	"atoll/sandbox"
)

// isOwn reports whether a changed file was made by the code of this chat, and
// not changed by anybody else since.
func (t *Trial) isOwn(c sandbox.Change, made map[string]stamp) bool {
	if _, ok := below(t.r.c.ws.Work(), c.Path); ok {
		return true
	}
	st, err := os.Lstat(c.Path)
	if err != nil {
		return false
	}
	return made[c.Path] == stampOf(st)
}

// stamp tells whether a file is still the same.
type stamp struct {
	Size     int64 `json:"size"`
	Modified int64 `json:"modified"` // Unix time in nanoseconds
}

func stampOf(st fs.FileInfo) stamp {
	if st.IsDir() { // what lies in it has stamps of its own
		return stamp{Size: -1}
	}
	return stamp{st.Size(), st.ModTime().UnixNano()}
}

// made returns the files and folders outside of the chat's own that its code has
// made.
func (c *chat) made() map[string]stamp {
	m := map[string]stamp{}
	if b, err := os.ReadFile(c.list); err == nil {
		_ = json.Unmarshal(b, &m) // unreadable: no file counts as the chat's own, and more is asked
	}
	return m
}

// maxMade bounds that list.
const maxMade = 20_000

// remember adds the files that the run made or changed to the chat's own; kept is
// how carrying them out ended. What lies where one was not carried out is
// somebody else's.
func (t *Trial) remember(kept error) error {
	var partly *sandbox.CommitError
	carriedOut := func(path string) bool {
		return kept == nil || errors.As(kept, &partly) && slices.Contains(partly.Done, path)
	}
	made := t.r.c.made()
	changed := false
	for _, c := range t.t.Changes {
		if _, ok := below(t.r.c.ws.Work(), c.Path); ok {
			continue
		}
		_, known := made[c.Path]
		st, err := os.Lstat(c.Path)
		// What the person's file holds stays theirs, whoever adds to it.
		ours := c.Kind == "created" || c.Kind == "folder" || c.Kind == "changed" && t.own[c.Path]
		ours = ours && carriedOut(c.Path) && err == nil && (st.IsDir() || st.Mode().IsRegular() && st.Size() == c.Size)
		if ours && (known || len(made) < maxMade) {
			made[c.Path], changed = stampOf(st), true
		} else if known {
			delete(made, c.Path)
			changed = true
		}
	}
	if !changed {
		return nil
	}
	b, err := json.Marshal(made)
	if err != nil {
		return err
	}
	tmp := t.r.c.list + ".new"
	if err := os.WriteFile(tmp, b, 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, t.r.c.list)
}
