package kernel

import (
	"context"
	"crypto/rand"
	"embed"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"atoll/sandbox"
	"atoll/sandbox/toolchain"
)

//go:embed driver/*.py
var driver embed.FS

// program puts the files of the driver together.
func program() ([]byte, error) {
	out := []byte(toolchain.FontProgram() + "\n")
	for _, name := range [...]string{"channel", "streams", "values", "fonts", "libraries", "load", "guess", "attempts", "faults", "cells"} {
		b, err := driver.ReadFile("driver/" + name + ".py")
		if err != nil {
			return nil, err
		}
		out = append(append(out, b...), '\n')
	}
	return out, nil
}

// bootstrap reads the driver from the first of the two files that it was given:
// descriptors 3 and 4, on Windows handles named in a variable. So there is no file
// of it that the code could change, and the command line stays short.
const bootstrap = `import os
f,h=(3,4),os.environ.pop("ATOLL_FILES","")
if h:
 import msvcrt
 for x in h.split(","):os.set_handle_inheritable(int(x),False)
 f=[msvcrt.open_osfhandle(int(x),os.O_BINARY|m)for x,m in zip(h.split(","),(os.O_RDONLY,os.O_WRONLY))]
n=int.from_bytes(os.read(f[0],4),"big");b=b""
while len(b)<n:b+=os.read(f[0],n-len(b))
exec(compile(b,"<kernel>","exec"),{"__name__":"<kernel>","FILES":f})`

// common are the libraries that a failing import is told about.
var common = [...]string{
	"numpy", "pandas", "polars", "matplotlib", "seaborn", "scipy", "sklearn", "statsmodels", "openpyxl", "xlrd",
	"pyarrow", "duckdb", "PIL", "tabulate", "pypdf", "bs4", "lxml", "requests", "sqlite3",
}

// settings is the first line to the driver.
type settings struct {
	Secret     string   `json:"secret"`
	Site       string   `json:"site"`
	MPL        string   `json:"mpl"`
	MaxText    int64    `json:"maxText"`
	MaxRepr    int      `json:"maxRepr"`
	MaxFigures int      `json:"maxFigures"`
	MaxPNG     int      `json:"maxPNG"`
	MaxRows    int      `json:"maxRows"`
	MaxCols    int      `json:"maxCols"`
	MaxShown   int      `json:"maxShown"`
	TableMIME  string   `json:"tableMIME"`
	Common     []string `json:"common"`
	Roots      []string `json:"roots"` // what the code can see beside the system's folders
}

// launch starts an interpreter and returns when it can run code.
func launch(ctx context.Context, o Options) (*process, error) {
	reqR, reqW, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start kernel: %w", err)
	}
	evtR, evtW, err := os.Pipe()
	if err != nil {
		reqR.Close()
		reqW.Close()
		return nil, fmt.Errorf("start kernel: %w", err)
	}
	secret := randomHex()
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	proc, err := o.Runner.Start(own, o.Policy(), sandbox.Command{
		Path:  o.Interpreter.Path,
		Args:  []string{"-I", "-u", "-B", "-X", "utf8", "-c", bootstrap},
		Dir:   o.Dir,
		Files: []*os.File{reqR, evtW},
	})
	reqR.Close() // Start has done so; after a refusal it may not have
	evtW.Close()
	if err != nil {
		cancel()
		reqW.Close()
		evtR.Close()
		return nil, fmt.Errorf("start kernel: %w", err)
	}
	proc.Stdin().Close()
	p := &process{
		proc: proc, cancel: cancel, req: reqW,
		begin: make(chan *run), ready: make(chan string, 1), gone: make(chan struct{}),
	}
	go p.pump(evtR, secret)
	if err := p.hello(o, secret); err != nil {
		select { // most likely it has just ended; how is worth more than a broken pipe
		case <-p.gone:
		case <-time.After(time.Second):
		}
		p.kill()
		return nil, fmt.Errorf("%w: %w (%s)", ErrStart, err, p.why())
	}
	timeout := time.NewTimer(30 * time.Second)
	defer timeout.Stop()
	select {
	case <-p.ready:
		return p, nil
	case <-p.gone:
		cancel()
		reqW.Close()
		return nil, fmt.Errorf("%w: %s", ErrStart, p.why())
	case <-ctx.Done():
		err = ctx.Err()
	case <-timeout.C:
		err = fmt.Errorf("%w: it said nothing for 30 seconds", ErrStart)
	}
	p.kill()
	return nil, err
}

func (p *process) hello(o Options, secret string) error {
	conf, err := json.Marshal(settings{
		Secret: secret, Site: o.Interpreter.Site, MPL: o.Interpreter.Config,
		MaxText: o.maxLog(), MaxRepr: maxRepr, MaxFigures: maxFigures, MaxPNG: maxPNG, MaxRows: maxRows, MaxCols: maxCols,
		MaxShown: maxShown, TableMIME: TableMIME, Common: common[:],
		Roots: append(append([]string{}, o.Read...), o.Write...),
	})
	if err != nil {
		return err
	}
	source, err := program()
	if err != nil {
		return err
	}
	b := binary.BigEndian.AppendUint32(nil, uint32(len(source)))
	b = append(append(append(b, source...), conf...), '\n')
	return p.send(b)
}

// send writes to the interpreter. A deadline keeps a dead one from blocking.
func (p *process) send(b []byte) error {
	p.req.SetWriteDeadline(time.Now().Add(10 * time.Second)) // not on every system; then none
	if _, err := p.req.Write(b); err != nil {
		return fmt.Errorf("write to the interpreter: %w", err)
	}
	return nil
}

func randomHex() string {
	var b [16]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}
