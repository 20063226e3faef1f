package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/godbus/dbus/v5"
)

// The names of the service manager on the bus.
const (
	systemdName   = "org.freedesktop.systemd1"
	systemdPath   = dbus.ObjectPath("/org/freedesktop/systemd1")
	startUnitCall = "org.freedesktop.systemd1.Manager.StartTransientUnit"
)

// busWait bounds the talk with the service manager.
const busWait = 2 * time.Second

// A unitProperty is one setting of StartTransientUnit, a(sv).
type unitProperty struct {
	Name  string
	Value dbus.Variant
}

// An auxiliaryUnit fills the last argument, a(sa(sv)), which is always empty.
type auxiliaryUnit struct {
	Name       string
	Properties []unitProperty
}

// askForScope asks the user's service manager to put this process into a scope
// of its own and to leave what lies below it to us. It returns when the process
// is there.
func askForScope(ctx context.Context, address string) error {
	if address == "" {
		return errors.New("there is no session bus")
	}
	before, err := ownGroup("/proc/self/mountinfo", "/proc/self/cgroup")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, busWait)
	defer cancel()
	if err := startScope(ctx, address, os.Getpid()); err != nil {
		return err
	}
	for {
		if now, err := ownGroup("/proc/self/mountinfo", "/proc/self/cgroup"); err != nil || now != before {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.New("the service manager has promised a scope and does not give it")
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// startScope makes the call.
func startScope(ctx context.Context, address string, pid int) error {
	conn, err := dbus.Dial(address, dbus.WithContext(ctx))
	if err != nil {
		return fmt.Errorf("connect to session bus: %w", err)
	}
	defer conn.Close()
	if err := conn.Auth(nil); err != nil {
		return fmt.Errorf("connect to session bus: %w", err)
	}
	if err := conn.Hello(); err != nil {
		return fmt.Errorf("connect to session bus: %w", err)
	}
	properties := []unitProperty{
		{"Description", dbus.MakeVariant("Atoll and the programs that it runs")},
		{"PIDs", dbus.MakeVariant([]uint32{uint32(pid)})},
		{"Delegate", dbus.MakeVariant(true)},
		{"MemoryAccounting", dbus.MakeVariant(true)},
		{"TasksAccounting", dbus.MakeVariant(true)},
		{"CollectMode", dbus.MakeVariant("inactive-or-failed")},
	}
	name := fmt.Sprintf("app-atoll-%d.scope", pid)
	call := conn.Object(systemdName, systemdPath).CallWithContext(ctx, startUnitCall, dbus.FlagNoAutoStart, name, "fail", properties, []auxiliaryUnit{})
	if call.Err != nil {
		return fmt.Errorf("ask the service manager for a scope: %w", call.Err)
	}
	return nil
}

// sessionBus is the address of the user's bus, "" if there is none.
func sessionBus() string {
	if a := os.Getenv("DBUS_SESSION_BUS_ADDRESS"); a != "" {
		return a
	}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		if _, err := os.Stat(dir + "/bus"); err == nil {
			return "unix:path=" + dir + "/bus"
		}
	}
	return ""
}
