package sandbox

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPolicyBindsMountDeeperOverShallower(t *testing.T) {
	got := policyBinds(
		[]string{"/n/ws/.git/hooks/x", "/n/data", "/usr/share/doc", "/n/ws/both"},
		[]string{"/n/ws", "/n/data/out", "/n/ws/both"},
	)
	want := []bind{
		{src: "/n/data", dst: "/n/data"},
		{src: "/n/ws", dst: "/n/ws", writable: true},
		{src: "/n/data/out", dst: "/n/data/out", writable: true},
		{src: "/n/ws/.git", dst: "/n/ws/.git", writable: true},
		{src: "/n/ws/both", dst: "/n/ws/both", writable: true},
		{src: "/n/ws/.git/hooks", dst: "/n/ws/.git/hooks", writable: true},
		{src: "/n/ws/.git/hooks/x", dst: "/n/ws/.git/hooks/x"},
	}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(bind{})); d != "" {
		t.Error(d)
	}
}

func TestOrderResolvesLinks(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, base+"/real/file", "x")
	write(t, base+"/opt/bin/tool3", "x")
	for link, target := range map[string]string{"link": "real", "tool": base + "/mid/tool", "mid": "opt/bin", "opt/bin/tool": "tool3"} {
		if err := os.Symlink(target, filepath.Join(base, link)); err != nil {
			t.Fatal(err)
		}
	}
	o, err := newOrder(Policy{Write: []string{base + "/link"}}, Command{Path: base + "/tool"})
	if err != nil {
		t.Fatal(err)
	}
	want := order{
		Path: base + "/tool", Env: []string{}, UID: insideUID, Limits: DefaultLimits(),
		Read: []string{base + "/opt/bin/tool3"}, Write: []string{base + "/real"},
		Links: map[string]string{
			base + "/link": base + "/real", base + "/tool": base + "/opt/bin/tool3", base + "/mid/tool": base + "/opt/bin/tool3",
			base + "/mid/tool3": base + "/opt/bin/tool3",
		},
	}
	if d := cmp.Diff(want, o); d != "" {
		t.Error(d)
	}
}

func TestProtectedInside(t *testing.T) {
	for _, r := range []struct {
		read, write []string
		want        string
	}{
		{nil, []string{"/w"}, ""},
		{[]string{"/r", "/w2"}, []string{"/w"}, ""},
		{[]string{"/w/.git"}, []string{"/w"}, "/w/.git"},
		{[]string{"/w"}, []string{"/w"}, ""},
		{[]string{"/r"}, []string{"/r/w"}, ""},
	} {
		if got := protectedInside(r.read, r.write); got != r.want {
			t.Errorf("protectedInside(%v, %v) = %q, want %q", r.read, r.write, got, r.want)
		}
	}
}
