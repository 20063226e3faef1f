package escape

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strconv"
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
	if err := os.Setenv(token, secret); err != nil {
		return nil, err
	}
	fx.later(func() { os.Unsetenv(token) })
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

// folders makes the trees.
func (fx *fixture) folders(dir string) error {
	if dir == "" {
		dir = os.TempDir()
		if cache, err := os.UserCacheDir(); err == nil && os.MkdirAll(cache, 0o700) == nil {
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

// programs starts those that attempts try to disturb. They end when this
// process does, because then their input ends.
func (fx *fixture) programs(python string) error {
	mark := "atoll-victim-" + strconv.Itoa(os.Getpid())
	fx.facts["victim_mark"] = mark
	for _, name := range []string{"victim", "victim_signal", "victim_sigio"} {
		v := exec.Command(shell, "-c", "echo; read x # "+mark)
		if python != "" {
			v = exec.Command(python, "-I", "-S", "-c", "import sys; print(flush=True); sys.stdin.read() # "+mark)
		}
		v.Env, v.Dir = append(systemEnv(), "TOKEN="+secret), fx.outside
		in, err := v.StdinPipe()
		if err != nil {
			return err
		}
		out, err := v.StdoutPipe()
		if err != nil {
			return err
		}
		if err := v.Start(); err != nil {
			return err
		}
		fx.victims = append(fx.victims, v)
		fx.later(func() {
			in.Close()
			v.Process.Kill() // an error means that it is gone
			v.Wait()
		})
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			return fmt.Errorf("start a program to attack: %w", err)
		}
		fx.facts[name] = v.Process.Pid
	}
	return nil
}

// systemEnv is what a program of Windows cannot start without.
func systemEnv() []string {
	if root := os.Getenv("SystemRoot"); root != "" {
		return []string{"SystemRoot=" + root}
	}
	return nil
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

// serve answers every connection with "pong".
func (fx *fixture) serve(network, address string) (net.Addr, error) {
	l, err := net.Listen(network, address)
	if err != nil {
		return nil, err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.SetDeadline(time.Now().Add(time.Second))
			if _, err := c.Read(make([]byte, 1)); err == nil {
				_, _ = c.Write([]byte("pong"))
			}
			c.Close()
		}
	}()
	fx.later(func() {
		l.Close()
		<-done
	})
	return l.Addr(), nil
}

// echo sends datagrams back.
func (fx *fixture) echo() error {
	c, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		b := make([]byte, 8)
		for {
			n, from, err := c.ReadFrom(b)
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err == nil {
				_, _ = c.WriteTo(b[:n], from)
			}
		}
	}()
	fx.later(func() {
		c.Close()
		<-done
	})
	fx.facts["udp4"] = c.LocalAddr().(*net.UDPAddr).Port
	return nil
}

func port(a net.Addr) int { return a.(*net.TCPAddr).Port }
