package sandbox

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPrivateTemp: an environment made for the private /tmp of full mode holds
// in reduced mode as well.
func TestPrivateTemp(t *testing.T) {
	p := Policy{Env: []string{"PATH=/usr/bin:/bin", "HOME=/tmp", "TMPDIR=/tmp", "CONF=/tmp/.conf"}}
	for level, r := range runners(t) {
		got := run(t, r, p, sh(`[ -d "$HOME" ] && mkdir "$CONF" && echo 1 >"$CONF/a" && echo 2 >"$HOME/b" && mktemp >/dev/null && cat "$TMPDIR/.conf/a" "$TMPDIR/b"`))
		if got.out != "1\n2\n" || got.err != "" || got.exit.Code != 0 {
			t.Errorf("%s: %+v", level, got)
		}
		for _, f := range []string{"/tmp/.conf", "/tmp/b"} {
			if _, err := os.Stat(f); err == nil {
				t.Errorf("%s: %s was made outside", level, f)
			}
		}
	}
}

func TestPrivateTempKeepsPaths(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real"), filepath.Join(dir, "link")
	if err := os.Mkdir(real, 0o700); err != nil {
		t.Fatal(err)
	}
	o := order{TmpDir: "/tmp/run", Read: []string{"/tmp/libs", real}, Links: map[string]string{"/tmp/link": real, link: real}, Env: []string{
		"A=/tmp", "B=/tmp/libs/x", "C=/tmp/link", "D=/tmp/a:/tmp/b", "E=/tmpdir", "F=", "G", "TMPDIR=/elsewhere", "H=/tmp/h",
	}}
	want := []string{"TMPDIR=/tmp/run", "A=/tmp/run", "B=/tmp/libs/x", "C=/tmp/link", "D=/tmp/a:/tmp/b", "E=/tmpdir", "F=", "G", "H=/tmp/run/h"}
	if d := cmp.Diff(want, o.privateTemp()); d != "" {
		t.Error(d)
	}
}
