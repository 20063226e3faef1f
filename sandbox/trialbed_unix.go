//go:build linux || darwin

package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// serve listens on a port of this machine and on a socket file.
func (c *checker) serve(socket string) (port int, stop func(), err error) {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, nil, err
	}
	local, err := net.Listen("unix", socket)
	if err != nil {
		tcp.Close()
		return 0, nil, err
	}
	for _, l := range []net.Listener{tcp, local} {
		go c.accept(l)
	}
	return tcp.Addr().(*net.TCPAddr).Port, func() {
		tcp.Close()
		local.Close()
	}, nil
}

func (c *checker) accept(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		c.accepted.Add(1)
		conn.Close()
	}
}

// connected waits a little: a program can be done before the listener sees it.
func (c *checker) connected(string) bool {
	for range 20 {
		if c.accepted.Load() > 0 {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

// A victim is a program outside, which may be ended by an attempt.
type victim struct {
	file string // has its number
	cmd  *exec.Cmd
	gone chan struct{} // closed after its end
}

// anew starts it, or another after it.
func (v *victim) anew() {
	v.end()
	cmd := exec.Command("/bin/sleep", "300")
	if cmd.Start() != nil {
		return // nothing can be ended, so that the attempt proves nothing
	}
	v.cmd, v.gone = cmd, make(chan struct{})
	go func() {
		_ = cmd.Wait() // that it has ended is all
		close(v.gone)
	}()
	_ = os.WriteFile(v.file, []byte(strconv.Itoa(cmd.Process.Pid)), 0o600)
}

// ended waits a little for its end.
func (v *victim) ended(string) bool {
	if v.cmd == nil {
		return false
	}
	select {
	case <-v.gone:
		return true
	case <-time.After(200 * time.Millisecond):
		return false
	}
}

func (v *victim) end() {
	if v.cmd != nil {
		_ = v.cmd.Process.Kill() // or it has ended
		<-v.gone
	}
}

// shellRun is how a shell ended.
type shellRun struct {
	out, errs string
	code      int
	seen      bool // the effect
}

func (r shellRun) succeeded(a attempt) bool {
	return r.code == 0 && a.effect == nil || r.seen && (r.code == 0 || !a.want)
}

// try carries out one attempt.
func (c *checker) try(ctx context.Context, a attempt, run func(context.Context, string) (shellRun, error)) (shellRun, error) {
	ctx, cancel := context.WithTimeout(ctx, trialTime)
	defer cancel()
	if a.undo != nil {
		a.undo()
		defer a.undo()
	}
	r, err := run(ctx, "echo begun; "+a.script)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return r, err
	}
	text, ok := strings.CutPrefix(r.out, begun)
	if !ok {
		return r, fmt.Errorf("the program did not begin: status %d, %q", r.code, firstLine(r.errs))
	}
	r.seen = a.effect != nil && a.effect(text)
	return r, nil
}

// firstLine returns the first line of a program's text, without odd characters.
func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	if len(line) > 300 {
		line = line[:300]
	}
	return strings.ToValidUTF8(line, "?")
}

// free runs a script without the boundary.
func (c *checker) free(ctx context.Context, script string) (shellRun, error) {
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", script)
	cmd.Env, cmd.Dir = c.env, c.base
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var status *exec.ExitError
	if err != nil && !errors.As(err, &status) {
		return shellRun{}, err
	}
	return shellRun{out: out.String(), errs: errs.String(), code: cmd.ProcessState.ExitCode()}, nil
}

// bound runs a script inside the boundary.
func (c *checker) bound(ctx context.Context, p Policy, script string) (shellRun, error) {
	proc, err := c.start(ctx, p, Command{Path: "/bin/sh", Args: []string{"-c", script}})
	if err != nil {
		return shellRun{}, err
	}
	proc.Stdin().Close()
	errs := make(chan string, 1)
	go func() { errs <- readText(proc.Stderr()) }()
	r := shellRun{out: readText(proc.Stdout())}
	r.errs, r.code = <-errs, proc.Wait().Code
	return r, nil
}

// readText returns the beginning of a stream and reads it to its end.
func readText(r io.Reader) string {
	text, _ := io.ReadAll(io.LimitReader(r, trialText)) // what came is judged
	_, _ = io.Copy(io.Discard, r)
	return string(text)
}
