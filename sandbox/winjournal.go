package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// A grantNote is a line of the journal of grants, in which a host writes what it
// is about to change on the machine before it does so. The first line names the
// container, each further one a tree.
type grantNote struct {
	Container string `json:"container,omitempty"`
	SID       string `json:"sid,omitempty"`
	Path      string `json:"path,omitempty"`
}

// grantJournal is what has to be undone.
type grantJournal struct {
	container, sid string
	trees          []string
}

// containerPrefix starts the names of containers.
const containerPrefix = "Atoll."

func (n grantNote) line() ([]byte, error) {
	b, err := json.Marshal(n)
	return append(b, '\n'), err
}

// parseGrants reads a journal. A last line without its end was not written in
// full, so that what it names was never done. A journal that is about anything
// but a container of this program is refused: obeying it could take a person's
// own rights away.
func parseGrants(text []byte) (grantJournal, error) {
	var j grantJournal
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	first := true
	for line := range bytes.Lines(text) {
		var n grantNote
		if err := json.Unmarshal(line, &n); err != nil {
			return grantJournal{}, fmt.Errorf("journal of grants: %w", err)
		}
		switch {
		case first:
			if !strings.HasPrefix(n.Container, containerPrefix) || !containerSID(n.SID) || n.Path != "" {
				return grantJournal{}, errors.New("journal of grants: it is not about a container of this program")
			}
			j.container, j.sid = n.Container, n.SID
		case n.Path == "" || n.Container != "" || n.SID != "":
			return grantJournal{}, errors.New("journal of grants: a line is about no path")
		default:
			j.trees = append(j.trees, n.Path)
		}
		first = false
	}
	return j, nil
}

// containerSID reports whether a security identifier is one container's: S-1-15-2
// and seven numbers, which Windows makes from the name.
func containerSID(sid string) bool {
	rest, ok := strings.CutPrefix(sid, "S-1-15-2-")
	if !ok {
		return false
	}
	parts := strings.Split(rest, "-")
	for _, p := range parts {
		if p == "" || strings.Trim(p, "0123456789") != "" {
			return false
		}
	}
	return len(parts) == 7
}
