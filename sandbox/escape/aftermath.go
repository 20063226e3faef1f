package escape

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// damage lists what changed outside.
func (fx *fixture) damage() []string {
	var bad []string
	for folder, names := range decoys {
		for _, name := range names {
			f := filepath.Join(fx.base, folder, name)
			if b, err := os.ReadFile(f); err != nil || string(b) != secret {
				bad = append(bad, fmt.Sprintf("%s/%s holds %q (%v)", folder, name, b, err))
			} else if st, err := os.Stat(f); err != nil || runtime.GOOS != "windows" && st.Mode() != 0o644 || st.ModTime().Unix() == 1 {
				bad = append(bad, folder+"/"+name+" has another mode or time")
			}
		}
	}
	for folder, want := range map[string]int{"home": 6, "outside": 7, "project/.git/hooks": 1} {
		if entries, err := os.ReadDir(filepath.Join(fx.base, folder)); err != nil || len(entries) != want {
			bad = append(bad, fmt.Sprintf("%s holds %v (%v)", folder, entries, err))
		}
	}
	for i, v := range fx.victims {
		if ended(v.Process) {
			bad = append(bad, fmt.Sprintf("program %d was ended", i))
		}
	}
	filepath.WalkDir(fx.base, func(p string, d fs.DirEntry, err error) error {
		if err == nil {
			if i, err := d.Info(); err == nil && i.Mode()&(os.ModeSetuid|os.ModeSetgid|os.ModeDevice) != 0 {
				bad = append(bad, fmt.Sprintf("%s is %v", filepath.Base(p), i.Mode()))
			}
		}
		return nil
	})
	return bad
}

// after looks, when the program has ended, at what it may have left: a line's
// After is "kind:fact", and what is found makes it an escape.
func (fx *fixture) after(lines []line) {
	size := func(p string) int64 {
		if st, err := os.Stat(p); err == nil {
			return st.Size()
		}
		return 0
	}
	before := map[string]int64{}
	for _, l := range lines {
		if name, ok := strings.CutPrefix(l.After, "grows:"); ok {
			before[name] = size(filepath.Join(fx.ws, name))
		}
	}
	if len(before) > 0 {
		time.Sleep(500 * time.Millisecond) // what still runs writes every 100 ms
	}
	for i := range lines {
		l := &lines[i]
		kind, name, ok := strings.Cut(l.After, ":")
		if !ok || l.Result == skipped || l.Result == Absent {
			continue
		}
		if found := fx.left(kind, name, before[name]); found != "" {
			l.Result, l.Note = Escaped, found
		} else if l.Result == Escaped {
			l.Result, l.Note = Stopped, "nothing was left"
		}
	}
}

// left says what there is, or "".
func (fx *fixture) left(kind, name string, before int64) string {
	fact := func() string { s, _ := fx.facts[name].(string); return s }
	switch kind {
	case "grows":
		if st, err := os.Stat(filepath.Join(fx.ws, name)); err == nil && st.Size() > before {
			return "still running after the end"
		}
	case "exists":
		if _, err := os.Lstat(fact()); err == nil {
			return "still there after the end"
		}
	case "unix":
		if c, err := net.DialTimeout("unix", "@"+fact(), time.Second); err == nil {
			c.Close()
			return "answered after the end"
		}
	case "tcp":
		if c, err := net.DialTimeout("tcp4", fmt.Sprintf("127.0.0.1:%d", fx.facts[name]), time.Second); err == nil {
			c.Close()
			return "answered after the end"
		}
	case "kernel":
		return fx.leftInKernel(name)
	}
	return ""
}
