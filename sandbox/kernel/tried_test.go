//go:build unix

package kernel

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"atoll/sandbox"
)

// What code looks for outside of its view is told, also when it catches the
// error; what it finds is not.
func TestTried(t *testing.T) {
	s := open(t, options(t))
	res, err := s.Run(t.Context(), `
import os, socket
for _ in range(3):
    try: open('/nowhere/private key')
    except OSError: pass
try: open(b'/secret/shadow')
except OSError: pass
try: socket.getaddrinfo('example.invalid', 443)
except OSError: pass
for p in ('../../../../../../../nowhere/up', '/usr/../nowhere/up', '', 7, b''):
    try: os.listdir(p)
    except OSError: pass
import sys; sys.audit('open'); sys.audit('open', None)
open('mine.txt', 'w').write('x'); open('mine.txt').read(); os.listdir('/usr'); os.listdir('.')
`, func(Output) {})
	if err != nil || res.Status != OK {
		t.Fatalf("%v, %+v", err, res)
	}
	want := []sandbox.Denial{
		{Kind: "file", What: "/nowhere/private key", Layer: SaidByProgram, Count: 3},
		{Kind: "file", What: "/secret/shadow", Layer: SaidByProgram, Count: 1},
		{Kind: "network", What: "example.invalid", Layer: SaidByProgram, Count: 1},
		{Kind: "file", What: "/nowhere/up", Layer: SaidByProgram, Count: 2},
	}
	if d := cmp.Diff(want, res.Tried); d != "" {
		t.Error(d)
	}
	if res, err = s.Run(t.Context(), "1", func(Output) {}); err != nil || len(res.Tried) != 0 {
		t.Errorf("the next run: %v, %+v", err, res.Tried)
	}
}
