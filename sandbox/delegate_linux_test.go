package sandbox

import (
	"bufio"
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/google/go-cmp/cmp"
)

// fakeManager stands in for systemd on a bus of the test's own.
type fakeManager struct{ asked chan []any }

// StartTransientUnit is the method of that name.
func (m fakeManager) StartTransientUnit(name, mode string, properties []unitProperty, _ []auxiliaryUnit) (dbus.ObjectPath, *dbus.Error) {
	got := map[string]any{}
	for _, p := range properties {
		got[p.Name] = p.Value.Value()
	}
	m.asked <- []any{name, mode, got}
	return "/org/freedesktop/systemd1/job/1", nil
}

// TestScopeIsAskedFor shows the message that goes to the service manager.
// NOT TESTED here: what systemd makes of it; no machine with it was at hand.
func TestScopeIsAskedFor(t *testing.T) {
	program, err := exec.LookPath("dbus-daemon")
	if err != nil {
		t.Skip("NOT TESTED: the request for a scope, because there is no dbus-daemon")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	bus := exec.CommandContext(ctx, program, "--session", "--nofork", "--print-address", "--address=unix:dir="+folder(t))
	out, err := bus.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := bus.Start(); err != nil {
		t.Skipf("NOT TESTED: the request for a scope: %v", err)
	}
	t.Cleanup(func() {
		bus.Process.Kill()
		bus.Wait()
	})
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Skipf("NOT TESTED: the request for a scope: %v", err)
	}
	address = strings.TrimSpace(address)
	if err := startScope(ctx, address, 4711); err == nil {
		t.Error("nobody answers, and that is no error")
	}
	conn, err := dbus.Connect(address, dbus.WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	m := fakeManager{make(chan []any, 1)}
	if err := conn.Export(m, systemdPath, "org.freedesktop.systemd1.Manager"); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.RequestName(systemdName, dbus.NameFlagDoNotQueue); err != nil {
		t.Fatal(err)
	}
	if err := startScope(ctx, address, 4711); err != nil {
		t.Fatal(err)
	}
	want := []any{"app-atoll-4711.scope", "fail", map[string]any{
		"Description": "Atoll and the programs that it runs", "PIDs": []uint32{4711}, "Delegate": true,
		"MemoryAccounting": true, "TasksAccounting": true, "CollectMode": "inactive-or-failed",
	}}
	if d := cmp.Diff(want, <-m.asked); d != "" {
		t.Error(d)
	}
	if err := askForScope(ctx, ""); err == nil {
		t.Error("no bus is no error")
	}
}
