package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"unsafe"
)

// ownMemory stands in for reading the memory of another program.
func ownMemory(pid int, at uintptr, n int) ([]byte, error) {
	if pid != os.Getpid() {
		return nil, errors.New("another program")
	}
	return bytes.Clone(unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&at))), n)), nil
}

// makeAll makes attempts as the self-check's program does.
func makeAll(t *testing.T, todo []selfAttempt) ([]finding, error) {
	text, err := json.Marshal(todo)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if code := attemptsMain(bytes.NewReader(text), &out, ownMemory); code != 0 {
		t.Fatalf("it ended with %d", code)
	}
	var said []finding
	return said, json.Unmarshal(out.Bytes(), &said)
}

func TestCheckBed(t *testing.T) {
	allowed := map[string]bool{"runs programs": true, "reads what it may": true, "writes where it may": true}
	free := func(todo []selfAttempt) ([]finding, error) { return makeAll(t, todo) }
	// bounded makes the attempts that may succeed, and another one.
	bounded := func(hole string) func([]selfAttempt) ([]finding, error) {
		return func(todo []selfAttempt) ([]finding, error) {
			said := make([]finding, len(todo))
			for i, a := range todo {
				said[i].Error = "access is denied"
				if allowed[a.Name] || a.Name == hole {
					one, err := makeAll(t, todo[i:i+1])
					if err != nil {
						return nil, err
					}
					said[i] = one[0]
				}
			}
			return said, nil
		}
	}
	lies := func(todo []selfAttempt) ([]finding, error) {
		said, err := bounded("")(todo)
		for i := range said {
			said[i].Error = ""
		}
		return said, err
	}
	for name, tt := range map[string]struct {
		free, inside func([]selfAttempt) ([]finding, error)
		want         string
	}{
		"a boundary that holds":      {free, bounded(""), LevelFull},
		"what is said does not help": {free, lies, LevelFull},
		"no boundary":                {free, free, LevelNone},
		"decoy can be read":          {free, bounded("hides files"), LevelNone},
		"home can be listed":         {free, bounded("hides the home folder"), LevelNone},
		"outside can be written":     {free, bounded("protects files"), LevelNone},
		"original can be written":    {free, bounded("keeps read-only what is"), LevelNone},
		"hook can be made":           {free, bounded("protects what runs later"), LevelNone},
		"server can be reached":      {free, bounded("no network"), LevelNone},
		"memory can be read":         {free, bounded("hides other programs"), LevelNone},
		"attempts prove nothing":     {bounded(""), bounded(""), LevelNone},
		"nothing runs inside":        {free, func(todo []selfAttempt) ([]finding, error) { return make([]finding, len(todo)), nil }, LevelNone},
	} {
		t.Run(name, func(t *testing.T) {
			parent, home := t.TempDir(), t.TempDir()
			if err := os.WriteFile(filepath.Join(home, "a person's own file"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			b, err := newCheckBed(parent, home)
			if err != nil {
				t.Fatal(err)
			}
			if err := b.policy().Check(); err != nil {
				t.Error(err)
			}
			trials, err := b.trials(tt.free, tt.inside)
			if err != nil {
				t.Fatal(err)
			}
			if l := levelOf(trials, nil); l.Name != tt.want {
				t.Errorf("level %s, want %s: %+v", l.Name, tt.want, l.Guarantees)
			}
			b.close()
			if left, err := os.ReadDir(parent); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v %v", left, err)
			}
		})
	}
}

func TestCheckBedFailsAsAWhole(t *testing.T) {
	home := t.TempDir()
	if _, err := newCheckBed(t.TempDir(), home); err == nil {
		t.Error("an empty home folder shows nothing, and there was no error")
	}
	if err := os.WriteFile(filepath.Join(home, "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := newCheckBed(t.TempDir(), home)
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	short := func([]selfAttempt) ([]finding, error) { return nil, nil }
	if _, err := b.trials(short, short); err == nil {
		t.Error("findings are missing, and there was no error")
	}
}
