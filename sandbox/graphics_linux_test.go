package sandbox

import (
	"strings"
	"testing"
)

func TestGraphicsDevices(t *testing.T) {
	r := newTestRunner(t)
	requireFull(t, r)
	script := "for n in /dev/dri/* /dev/nvidia* /dev/kfd /dev/accel/*; do [ -e $n ] && echo $n; done; ls -d /dev/dri/card* 2>/dev/null"
	if got := run(t, r, Policy{}, sh(script)); got.out != "" {
		t.Errorf("without GPU the program sees %q", got.out)
	}
	o, err := newOrder(Policy{GPU: true}, sh("true"))
	if err != nil {
		t.Fatal(err)
	}
	got := run(t, r, Policy{GPU: true}, sh(script))
	if strings.Contains(got.out, "/card") || got.exit.Cause != Exited {
		t.Errorf("%+v", got)
	}
	for _, node := range o.Write {
		if !strings.Contains(got.out, node+"\n") {
			t.Errorf("%s is not seen inside: %q", node, got.out)
		}
	}
	if len(o.Write) == 0 {
		t.Skip("NOT TESTED: graphics devices, because this machine has none")
	}
}

func TestCardsAreDescribed(t *testing.T) {
	o := order{Links: map[string]string{}}
	o.describe("/sys/dev/char/1:3") // /dev/null: any device does
	if real := o.Links["/sys/dev/char/1:3"]; len(o.Read) != 1 || real == "" || !within(real, o.Read[0]) {
		t.Errorf("%v %v", o.Read, o.Links)
	}
	o.describe("/sys/dev/char/999:999")
	if len(o.Read) != 1 {
		t.Errorf("a device that does not exist: %v", o.Read)
	}
	r := newTestRunner(t)
	requireFull(t, r)
	o, err := newOrder(Policy{}, sh("cat /sys/dev/char/1:3/uevent; ls /sys/dev/char"))
	if err != nil {
		t.Fatal(err)
	}
	o.describe("/sys/dev/char/1:3")
	o.Stage = stageFull
	proc, _, err := r.(*runner).launch(t.Context(), o, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := collect(t, proc); !strings.Contains(got.out, "DEVNAME=null") || !strings.HasSuffix(got.out, "\n1:3\n") {
		t.Errorf("%+v", got)
	}
}
