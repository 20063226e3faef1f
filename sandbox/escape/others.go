package escape

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"time"
)

// The programs and servers of "others" that attempts aim at.

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
