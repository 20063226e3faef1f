package sandbox

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// A selfAttempt is one thing that the self-check's program does or tries to do.
// Target is a path, an address, or "PID ADDRESS LENGTH" of memory.
type selfAttempt struct {
	Name   string `json:"name"` // of the guarantee
	Kind   string `json:"kind"`
	Target string `json:"target"`
}

// Kinds of attempts.
const (
	trySay     = "say"
	tryRead    = "read"
	tryAppend  = "append" // makes the file if there is none
	tryList    = "list"
	tryConnect = "connect"
	tryMemory  = "memory" // of another program
	tryGrow    = "grow"   // by MiB
	trySpawn   = "spawn"  // so many programs that wait for their input
)

// A finding is what the program says of an attempt. What counts is what
// cannot be made up: a secret that it can only have read, or an effect outside.
type finding struct {
	Output string `json:"output,omitempty"`
	Error  string `json:"error,omitempty"`
}

// appended is what tryAppend writes.
const appended = "written by the self-check\n"

// attemptsMain is the self-check's program: it reads attempts, makes each and
// writes the findings. memory reads the memory of another program, in the way of
// this system.
func attemptsMain(in io.Reader, out io.Writer, memory func(pid int, at uintptr, n int) ([]byte, error)) int {
	var todo []selfAttempt
	if err := json.NewDecoder(in).Decode(&todo); err != nil {
		fmt.Fprintln(os.Stderr, "self-check: read attempts:", err)
		return 2
	}
	said := make([]finding, len(todo))
	for i, a := range todo {
		text, err := a.make(memory)
		if said[i].Output = text; err != nil {
			said[i].Error = err.Error()
		}
	}
	if err := json.NewEncoder(out).Encode(said); err != nil {
		fmt.Fprintln(os.Stderr, "self-check: write findings:", err)
		return 1
	}
	return 0
}

func (a selfAttempt) make(memory func(int, uintptr, int) ([]byte, error)) (string, error) {
	switch a.Kind {
	case trySay:
		return a.Target, nil
	case tryRead:
		b, err := os.ReadFile(a.Target)
		return string(b), err
	case tryAppend:
		f, err := os.OpenFile(a.Target, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			return "", err
		}
		_, err = f.WriteString(appended)
		if cerr := f.Close(); err == nil {
			err = cerr
		}
		return "", err
	case tryList:
		dir, err := os.Open(a.Target)
		if err != nil {
			return "", err
		}
		defer dir.Close()
		names, err := dir.Readdirnames(-1)
		return strings.Join(names, "\n"), err
	case tryConnect:
		c, err := net.DialTimeout("tcp", a.Target, 2*time.Second)
		if err != nil {
			return "", err
		}
		defer c.Close()
		if err := c.SetDeadline(time.Now().Add(2 * time.Second)); err != nil {
			return "", err
		}
		b, err := io.ReadAll(io.LimitReader(c, 1<<10))
		return string(b), err
	case tryMemory:
		f := strings.Fields(a.Target)
		if len(f) != 3 {
			return "", fmt.Errorf("%q is no place in memory", a.Target)
		}
		pid, err := strconv.Atoi(f[0])
		if err != nil {
			return "", err
		}
		at, err := strconv.ParseUint(f[1], 10, 64)
		if err != nil {
			return "", err
		}
		n, err := strconv.Atoi(f[2])
		if err != nil {
			return "", err
		}
		b, err := memory(pid, uintptr(at), n)
		return hex.EncodeToString(b), err
	case tryGrow, trySpawn:
		n, err := strconv.Atoi(a.Target)
		if err != nil {
			return "", err
		}
		if a.Kind == tryGrow {
			return "", growBy(n)
		}
		return "", spawnMany(n)
	}
	return "", fmt.Errorf("there is no attempt %q", a.Kind)
}

// growBy takes memory and uses it.
func growBy(mib int) error {
	var all [][]byte
	for range mib {
		all = append(all, bytes.Repeat([]byte{1}, 1<<20))
	}
	runtime.KeepAlive(all)
	return nil
}

// spawnMany starts this program n times and ends all of them.
func spawnMany(n int) error {
	for range n {
		c := exec.Command(os.Args[0], os.Args[1:]...)
		// Not the null device, which cannot be opened everywhere.
		c.Stdout, c.Stderr = os.Stderr, os.Stderr
		in, err := c.StdinPipe() // it waits for attempts
		if err != nil {
			return err
		}
		if err := c.Start(); err != nil {
			return err
		}
		defer func() {
			_ = c.Process.Kill() // an error means that it has ended
			in.Close()
			_ = c.Wait() // how is of no interest
		}()
	}
	return nil
}
