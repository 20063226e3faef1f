package escape

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"atoll/sandbox"
)

// secret is what decoys hold. It is put together so that it is not found in
// this program's own memory or file by accident.
var secret = strings.Join([]string{"TOPSECRET", "4711"}, "-")

// token is the variable that this process holds while attempts are made.
const token = "ATOLL_DECOY_TOKEN"

// A fixture is what attempts aim at: a home with secrets, files next to the work
// folder, a project, programs, servers and shared memory of "others". It is made
// anew for each run, since attempts that succeed damage it.
type fixture struct {
	base, home, outside, ws, project string
	readOnly                         []string // parts of the project
	facts                            map[string]any
	victims                          []*exec.Cmd
	undo                             []func() // last first
}

// decoys are the files, by folder, whose content must stay as it is.
var decoys = map[string][]string{
	"home":    {".ssh/id_rsa", ".bashrc", ".netrc", ".aws/credentials"},
	"outside": {"secret.txt", "append.txt", "move.txt", "unlink.txt", "truncate.txt", "mode.txt"},
	"project": {".git/config", ".git/hooks/sample", ".vscode/tasks.json", "sitecustomize.py", ".venv/lib/python3/site-packages/old.pth"},
}

func (t *test) newFixture() (_ *fixture, err error) {
	fx := &fixture{facts: map[string]any{}}
	defer func() {
		if err != nil {
			fx.close()
			err = fmt.Errorf("make decoys: %w", err)
		}
	}()
	if err := fx.folders(t.Dir); err != nil {
		return nil, err
	}
	if err := fx.script(); err != nil {
		return nil, err
	}
	if err := fx.programs(t.Python); err != nil {
		return nil, err
	}
	id := filepath.Base(fx.base)
	tmp, err := os.MkdirTemp("", "atoll-escape-")
	if err != nil {
		return nil, err
	}
	fx.later(func() { os.RemoveAll(tmp) })
	fx.facts["tmp_file"] = filepath.Join(tmp, "secret.txt")
	if err := os.WriteFile(filepath.Join(tmp, "secret.txt"), []byte(secret), 0o644); err != nil {
		return nil, err
	}
	tcp4, err := fx.serve("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	fx.facts["tcp4"] = port(tcp4)
	fx.facts["tcp6"] = 1
	if a, err := fx.serve("tcp6", "[::1]:0"); err == nil { // not every machine has it
		fx.facts["tcp6"] = port(a)
	}
	if err := fx.echo(); err != nil {
		return nil, err
	}
	// A port for attempts to listen on: free a moment ago.
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	fx.facts["left_port"] = port(l.Addr())
	l.Close()
	sockets := map[string]string{"sock_home": filepath.Join(fx.home, "agent.sock"), "sock_tmp": filepath.Join(tmp, "X0"),
		"sock_docker": filepath.Join(fx.outside, "docker.sock"), "sock_bus": filepath.Join(fx.home, "bus")}
	for name, p := range sockets {
		if _, err := fx.serve("unix", p); err != nil {
			return nil, err
		}
		fx.facts[name] = p
	}
	if err := fx.kernelObjects(id); err != nil {
		return nil, err
	}
	for name, v := range map[string]any{
		"home": fx.home, "home_decoy": fx.home, "outside": fx.outside, "ws": fx.ws, "project": fx.project, "secret": secret, "amd64": runtime.GOARCH == "amd64",
		"left_tmp": filepath.Join(os.TempDir(), id+"-left"), "left_shm": "/dev/shm/" + id + "-left", "left_abstract": id + "-left",
		"pid": os.Getpid(),
	} {
		fx.facts[name] = v
	}
	fx.later(func() {
		for _, name := range []string{"left_tmp", "left_shm"} {
			os.Remove(fx.facts[name].(string))
		}
	})
	return fx, fx.write()
}

// longestDir leaves room for the names of sockets, whose paths have 104 bytes at most.
const longestDir = 60

// folders makes the trees.
func (fx *fixture) folders(dir string) error {
	if dir == "" {
		dir = os.TempDir()
		if cache, err := os.UserCacheDir(); err == nil && len(cache) <= longestDir && os.MkdirAll(cache, 0o700) == nil {
			dir = cache
		}
	}
	base, err := os.MkdirTemp(dir, "atoll-escape-")
	if err != nil {
		return err
	}
	if base, err = filepath.EvalSymlinks(base); err != nil {
		return err
	}
	fx.base = base
	fx.later(func() {
		opened := func(p string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				_ = os.Chmod(p, 0o700) // an attempt may have closed it
			}
			return nil
		}
		filepath.WalkDir(base, opened)
		// What escaped and still writes there ends when it can no longer.
		for range 20 {
			if os.RemoveAll(base) == nil {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
	})
	for folder, p := range map[string]*string{"home": &fx.home, "outside": &fx.outside, "ws": &fx.ws, "project": &fx.project} {
		*p = filepath.Join(base, folder)
		if err := os.Mkdir(*p, 0o755); err != nil {
			return err
		}
		for _, name := range decoys[folder] {
			f := filepath.Join(*p, name)
			if err := os.MkdirAll(filepath.Dir(f), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(f, []byte(secret), 0o644); err != nil {
				return err
			}
		}
	}
	// The sandbox protects these by itself; where it knows none, it is told to.
	known, err := sandbox.Protected(fx.project)
	if len(known) == 0 && err == nil {
		for _, name := range []string{".git/hooks", ".git/config", ".vscode/tasks.json", "sitecustomize.py", ".venv/lib/python3/site-packages/old.pth"} {
			fx.readOnly = append(fx.readOnly, filepath.Join(fx.project, name))
		}
	}
	return err
}

// script puts the tables into the work folder.
func (fx *fixture) script() error {
	entries, err := attempts.ReadDir("attempts")
	if err != nil {
		return err
	}
	for _, e := range entries {
		b, err := attempts.ReadFile(path.Join("attempts", e.Name()))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(fx.ws, e.Name()), b, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// write hands the facts to the scripts: as JSON, and as assignments of the shell.
func (fx *fixture) write() error {
	b, err := json.Marshal(fx.facts)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(fx.ws, "facts.json"), b, 0o644); err != nil {
		return err
	}
	var s strings.Builder
	for name, v := range fx.facts {
		if name == "home" {
			continue // the shell has a HOME; theirs is home_decoy
		}
		switch v := v.(type) {
		case string:
			fmt.Fprintf(&s, "%s='%s'\n", strings.ToUpper(name), strings.ReplaceAll(v, "'", `'\''`))
		case int:
			fmt.Fprintf(&s, "%s=%d\n", strings.ToUpper(name), v)
		}
	}
	return os.WriteFile(filepath.Join(fx.ws, "facts.sh"), []byte(s.String()), 0o644)
}

// policy is that of a chat with a project, or of one without where this level
// starts nothing with parts of a project read-only.
func (fx *fixture) policy(t *test) sandbox.Policy {
	p := sandbox.Policy{
		Read: append([]string(nil), t.Read...), Write: []string{fx.ws},
		Env:    append([]string{"LANG=C.UTF-8", "PATH=/usr/bin:/bin:/usr/sbin:/sbin", "HOME=/home/user", "PYTHONDONTWRITEBYTECODE=1"}, systemEnv()...),
		Limits: sandbox.Limits{Memory: 2 << 30, Disk: 256 << 20},
	}
	if t.level == sandbox.LevelFull {
		p.Read = append(p.Read, fx.readOnly...)
		p.Write = append(p.Write, fx.project)
	}
	return p
}

// later notes what to undo.
func (fx *fixture) later(f func()) { fx.undo = append(fx.undo, f) }

// close takes everything away.
func (fx *fixture) close() {
	for i := len(fx.undo) - 1; i >= 0; i-- {
		fx.undo[i]()
	}
	fx.undo = nil
}
