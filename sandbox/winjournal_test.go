package sandbox

import (
	"slices"
	"strings"
	"testing"
)

const testSID = "S-1-15-2-1-2-3-4-5-6-4294967295"

func journalText(t *testing.T, notes ...grantNote) string {
	t.Helper()
	var out []byte
	for _, n := range notes {
		line, err := n.line()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, line...)
	}
	return string(out)
}

func TestGrantJournal(t *testing.T) {
	text := journalText(t, grantNote{Container: "Atoll.x", SID: testSID}, grantNote{Path: "C:\\a\nb"}, grantNote{Path: `D:\ü`})
	// A crash may cut it anywhere; what is whole is read, and nothing else.
	for n := range len(text) + 1 {
		j, err := parseGrants([]byte(text[:n]))
		if err != nil {
			t.Fatalf("cut after %d bytes: %v", n, err)
		}
		if lines := strings.Count(text[:n], "\n"); len(j.trees) != max(lines-1, 0) || (j.sid != "") != (lines > 0) {
			t.Errorf("cut after %d bytes: %+v", n, j)
		}
	}
	j, err := parseGrants([]byte(text))
	if err != nil || j.container != "Atoll.x" || j.sid != testSID || !slices.Equal(j.trees, []string{"C:\\a\nb", `D:\ü`}) {
		t.Errorf("%+v, %v", j, err)
	}
}

func TestGrantJournalIsAboutContainersOnly(t *testing.T) {
	for name, text := range map[string]string{
		"everyone":        journalText(t, grantNote{Container: "Atoll.x", SID: "S-1-1-0"}),
		"a person":        journalText(t, grantNote{Container: "Atoll.x", SID: "S-1-5-21-1-2-3-1001"}),
		"all containers":  journalText(t, grantNote{Container: "Atoll.x", SID: "S-1-15-2-1"}),
		"odd numbers":     journalText(t, grantNote{Container: "Atoll.x", SID: "S-1-15-2-1-2-3-4-5-6-x"}),
		"another program": journalText(t, grantNote{Container: "Other.x", SID: testSID}),
		"no head":         journalText(t, grantNote{Path: `C:\a`}),
		"two heads":       journalText(t, grantNote{Container: "Atoll.x", SID: testSID}, grantNote{Container: "Atoll.y", SID: testSID}),
		"no JSON":         "hello\n",
	} {
		if j, err := parseGrants([]byte(text)); err == nil {
			t.Errorf("%s: %+v", name, j)
		}
	}
}
