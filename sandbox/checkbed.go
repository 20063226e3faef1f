package sandbox

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"unsafe"
)

// A checkBed has what the self-check's attempts aim at: a folder of decoys, a
// server on this machine, and a secret in this program's memory.
type checkBed struct {
	dir      string
	home     string
	listener net.Listener
	memory   []byte
	steps    []checkStep
}

// A checkStep is an attempt, whether it must succeed inside, and how its success
// is seen from here.
type checkStep struct {
	selfAttempt
	want bool
	seen func(finding) bool
}

// newCheckBed makes the decoys in a new folder in parent, "" for the usual place
// of temporary files. home is the person's home folder.
func newCheckBed(parent, home string) (_ *checkBed, err error) {
	b := &checkBed{home: home, memory: secretBytes()}
	if b.dir, err = os.MkdirTemp(parent, "atoll-check-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			b.close()
		}
	}()
	hooks := filepath.Join(b.work(), ".git", "hooks") // what Git would run later
	if err := os.MkdirAll(hooks, 0o700); err != nil {
		return nil, err
	}
	given, hidden := secretText(), secretText()
	for path, text := range map[string]string{b.given(): given, b.hidden(): hidden} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	if b.listener, err = net.Listen("tcp4", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	greeting := secretText()
	go func() { // ends with the listener
		for {
			c, err := b.listener.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte(greeting)) // one that has gone is no success
			c.Close()
		}
	}()
	entries, err := os.ReadDir(home)
	if err != nil {
		return nil, err
	}
	if len(entries) == 0 {
		return nil, errors.New("the home folder is empty, so that nothing shows whether it can be read")
	}
	word := secretText()
	says := func(secret string) func(finding) bool {
		return func(o finding) bool { return strings.Contains(o.Output, secret) }
	}
	wrote := func(path string) func(finding) bool {
		return func(finding) bool {
			text, err := os.ReadFile(path)
			return err == nil && bytes.Contains(text, []byte(appended))
		}
	}
	made, outside, hook := filepath.Join(b.work(), "new"), filepath.Join(b.dir, "new"), filepath.Join(hooks, "pre-commit")
	where := fmt.Sprintf("%d %d %d", os.Getpid(), uintptr(unsafe.Pointer(&b.memory[0])), len(b.memory))
	b.steps = []checkStep{
		{selfAttempt{"runs programs", trySay, word}, true, says(word)},
		{selfAttempt{"reads what it may", tryRead, b.given()}, true, says(given)},
		{selfAttempt{"writes where it may", tryAppend, made}, true, wrote(made)},
		{selfAttempt{"hides files", tryRead, b.hidden()}, false, says(hidden)},
		{selfAttempt{"hides the home folder", tryList, home}, false, says(entries[0].Name())},
		{selfAttempt{"protects files", tryAppend, outside}, false, wrote(outside)},
		{selfAttempt{"keeps read-only what is", tryAppend, b.given()}, false, wrote(b.given())},
		{selfAttempt{"protects what runs later", tryAppend, hook}, false, wrote(hook)},
		{selfAttempt{"no network", tryConnect, b.listener.Addr().String()}, false, says(greeting)},
		{selfAttempt{"hides other programs", tryMemory, where}, false, says(hex.EncodeToString(b.memory))},
	}
	return b, nil
}

func (b *checkBed) work() string   { return filepath.Join(b.dir, "work") }
func (b *checkBed) given() string  { return filepath.Join(b.dir, "given") }
func (b *checkBed) hidden() string { return filepath.Join(b.dir, "hidden") }

// policy is what the attempts are made under, inside.
func (b *checkBed) policy() Policy {
	return Policy{Read: []string{b.given()}, Write: []string{b.work()}}
}

// trials makes the attempts freely and inside. A run that fails as a whole gives
// no trial, and so no level.
func (b *checkBed) trials(free, inside func([]selfAttempt) ([]finding, error)) ([]trial, error) {
	todo := make([]selfAttempt, len(b.steps))
	out := make([]trial, len(b.steps))
	for i, s := range b.steps {
		todo[i] = s.selfAttempt
		out[i] = trial{Name: s.Name, Want: s.want}
	}
	for _, run := range []struct {
		name string
		make func([]selfAttempt) ([]finding, error)
		note func(i int, success bool)
	}{
		{"without the boundary", free, func(i int, success bool) { out[i].Outside = success }},
		{"inside", inside, func(i int, success bool) { out[i].Inside = success }},
	} {
		if err := b.reset(); err != nil {
			return nil, err
		}
		said, err := run.make(todo)
		if err != nil {
			return nil, fmt.Errorf("run the self-check %s: %w", run.name, err)
		}
		if len(said) != len(todo) {
			return nil, fmt.Errorf("run the self-check %s: %d findings of %d attempts", run.name, len(said), len(todo))
		}
		for i, s := range b.steps {
			run.note(i, s.seen(said[i]))
			if said[i].Error != "" {
				out[i].Note = fmt.Sprintf("The program saw %s: %s.", run.name, said[i].Error)
			}
		}
	}
	return out, nil
}

// reset takes away what the attempts have written.
func (b *checkBed) reset() error {
	for _, s := range b.steps {
		if s.Kind != tryAppend {
			continue
		}
		text, err := os.ReadFile(s.Target)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if s.Target != b.given() {
			err = os.Remove(s.Target)
		} else if rest := bytes.TrimSuffix(text, []byte(appended)); len(rest) < len(text) {
			err = os.WriteFile(s.Target, rest, 0o600)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *checkBed) close() {
	if b.listener != nil {
		b.listener.Close()
	}
	// What stays behind are decoys without meaning.
	_ = os.RemoveAll(b.dir)
}

func secretBytes() []byte {
	b := make([]byte, 32)
	rand.Read(b)
	return b
}

func secretText() string { return hex.EncodeToString(secretBytes()) }
