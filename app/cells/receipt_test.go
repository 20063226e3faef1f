//go:build unix

package cells_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atoll/app/approval"
	"atoll/app/cells"
	"atoll/sandbox"
	"atoll/sandbox/kernel"
	"atoll/storage"
)

// A receipt names what code went for and did not get, and what it used.
func TestReceipts(t *testing.T) {
	w := newWorld(t)
	if !raced {
		w.limits.Memory = 256 << 20
	}
	w.open()
	// Not in /tmp, where code has files of its own.
	home, err := os.UserHomeDir()
	if err != nil {
		t.Skip("NOT TESTED: the user has no home folder")
	}
	decoy, err := os.MkdirTemp(home, ".atoll-decoy-*")
	if err != nil {
		t.Skip("NOT TESTED:", err)
	}
	defer os.RemoveAll(decoy)
	key := filepath.Join(decoy, "id_ed25519")
	if err := os.WriteFile(key, []byte("decoy"), 0o600); err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	port := ln.Addr().(*net.TCPAddr).Port
	for _, c := range []struct {
		name, code, status string
		denied             storage.Denial
		explained          string
	}{
		{"key of a person", fmt.Sprintf("try: print(open(%q).read())\nexcept OSError: print('no')", key), "ok",
			storage.Denial{Kind: "file", What: key, Layer: kernel.SaidByProgram, Count: 1}, "cannot be seen by the code of this chat"},
		{"key of a person, and it fails", fmt.Sprintf("open(%q)", key), "error",
			storage.Denial{Kind: "file", What: key, Layer: kernel.SaidByProgram, Count: 1}, "cannot be seen by the code of this chat"},
		{"server on this machine", fmt.Sprintf("import socket\ntry: socket.create_connection(('127.0.0.1', %d), 2); print('reached')\nexcept OSError: print('no')", port), "ok",
			storage.Denial{Kind: "network"}, "The network is off in this chat"},
		{"a name", "import socket\ntry: socket.getaddrinfo('example.invalid', 443); print('reached')\nexcept OSError: print('no')", "ok",
			storage.Denial{Kind: "network", What: "example.invalid"}, "The network is off in this chat: example.invalid was not reached."},
		// At most half a gigabyte, whatever the limit does.
		{"memory", "keep = [b'x' * (16 << 20) for _ in range(32)]", "error",
			storage.Denial{Kind: "limit", What: "memory"}, "The limit of memory was reached."},
		{"memory of many", "import os, time\nfor _ in range(4):\n    if os.fork() == 0:\n        keep = b'x' * (100 << 20)\n        time.sleep(60)\ntime.sleep(60)", "died",
			storage.Denial{Kind: "limit", What: "memory"}, "The limit of memory was reached."},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.t = t
			if c.denied.What == "memory" && raced {
				t.Skip("NOT TESTED: there is no limit under the race detector")
			}
			if c.denied.What == key && strings.HasPrefix(home, "/tmp/") {
				t.Skip("NOT TESTED: code has a /tmp of its own, and the home folder is there")
			}
			res := w.run(w.chat(approval.ModeAuto, nil), c.code, w.nobody())
			r := res.Receipt
			if r == nil || r.Preset != "sealed" || r.Level != sandbox.LevelFull || len(r.Layers) == 0 || r.Usage.Wall <= 0 {
				t.Fatalf("%+v, receipt %+v", res, r)
			}
			if res.Status != c.status || strings.Contains(res.Digest, "reached") || strings.Contains(res.Digest, "decoy") {
				t.Errorf("%+v", res)
			}
			if ended := strings.Contains(r.Exit, "memory"); ended != (c.status == "died") {
				t.Errorf("%+v, exit %q", res, r.Exit)
			}
			found := false
			for _, d := range r.Denials {
				found = found || d.Kind == c.denied.Kind && strings.Contains(d.What, c.denied.What) && d.Count > 0 && (c.denied.Layer == "" || d == c.denied)
			}
			if !found || !strings.Contains(strings.Join(r.Explained, "\n"), c.explained) {
				t.Errorf("denials %+v, explained %q", r.Denials, r.Explained)
			}
			// A program that coped needs no advice, one that failed does.
			if told := strings.Contains(res.Note, c.explained); told != (c.status != "ok") {
				t.Errorf("note %q", res.Note)
			}
		})
	}
}

// The files that code read and made are named by what they hold.
func TestReceiptNamesFiles(t *testing.T) {
	w := newWorld(t).open()
	chat := w.chat(approval.ModeAuto, nil)
	ws, err := w.cells.Workspace(chat)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ws.Attach(w.put("sales.csv", "a,b\n")); err != nil {
		t.Fatal(err)
	}
	r := w.run(chat, "open('out.txt', 'w').write(open('sales.csv').read()); print('ran')", w.nobody()).Receipt
	sum := sha256.Sum256([]byte("a,b\n"))
	hash := func(name string) []storage.FileHash {
		return []storage.FileHash{{Name: name, SHA256: hex.EncodeToString(sum[:]), Size: 4}}
	}
	if d := cmp.Diff(hash("sales.csv"), r.Inputs); d != "" {
		t.Error("inputs:", d)
	}
	if d := cmp.Diff(hash("out.txt"), r.Outputs); d != "" {
		t.Error("outputs:", d)
	}
}

func TestExplain(t *testing.T) {
	many := make([]storage.Denial, 12)
	for i := range many {
		many[i] = storage.Denial{Kind: "call", What: fmt.Sprint("call", i), Count: 1}
	}
	for _, c := range []struct {
		preset string
		in     []storage.Denial
		want   []string
	}{
		{"sealed", []storage.Denial{{Kind: "network", What: "pypi.org:443", Count: 2}}, []string{"The network is off in this chat: pypi.org:443 was not reached. (2 times)"}},
		{"network", []storage.Denial{{Kind: "network", What: "pypi.org:443", Layer: "proxy", Count: 1}}, []string{"pypi.org:443 was not reached: it is not among the hosts that this chat may reach."}},
		{"sealed", []storage.Denial{{Kind: "limit", What: "memory", Count: 1}, {Kind: "call", What: "ptrace", Count: 1}},
			[]string{"The limit of memory was reached.", "The system call ptrace is not allowed."}},
	} {
		if d := cmp.Diff(c.want, cells.Explain(storage.ChatPolicy{Preset: c.preset}, c.in)); d != "" {
			t.Error(d)
		}
	}
	if got := cells.Explain(storage.ChatPolicy{}, many); len(got) != 9 || got[8] != "4 further things were refused." {
		t.Errorf("%q", got)
	}
}
