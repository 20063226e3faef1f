package kernel

import (
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"atoll/sandbox"
)

//go:embed driver/python.py
var driver string

// bootstrap reads the driver from descriptor 3. So there is no file of it that
// the code could change, and the command line stays short.
const bootstrap = `import os
n=int.from_bytes(os.read(3,4),"big");b=b""
while len(b)<n:b+=os.read(3,n-len(b))
exec(compile(b,"<kernel>","exec"),{"__name__":"<kernel>"})`

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
}

// A run is one execution, as the process sees it.
type run struct {
	token string
	sink  *sink
	done  chan struct{} // closed when result is valid
	// result is the "done" event, or nil if the interpreter went down.
	result *event
}

// A process is one living interpreter. Its pump goroutine owns the order of
// all output and ends when the process tree is gone; gone is closed then.
type process struct {
	proc   sandbox.Process
	cancel context.CancelFunc
	req    *os.File
	begin  chan *run
	ready  chan string // gets the version once
	gone   chan struct{}
	exit   sandbox.Exit // valid when gone is closed

	late     strings.Builder // output between runs; owned by pump
	startErr strings.Builder // what was said before it was ready; owned by pump
}

type message struct {
	stream int // 0, 1: raw streams; 2: events
	item   item
	event  event
	end    bool
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
	proc, err := o.Runner.Start(own, o.policy(), sandbox.Command{
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
		p.kill()
		return nil, fmt.Errorf("%w: %w", ErrStart, err)
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
	})
	if err != nil {
		return err
	}
	b := binary.BigEndian.AppendUint32(nil, uint32(len(driver)))
	b = append(append(append(b, driver...), conf...), '\n')
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

// why says in a sentence how a start ended.
func (p *process) why() string {
	s := describe(p.exit)
	if t := strings.TrimSpace(p.startErr.String()); t != "" {
		s += ": " + clip(t, 500)
	}
	return s
}

// kill ends the tree and waits for it.
func (p *process) kill() {
	p.proc.Kill()
	p.cancel()
	p.req.Close()
	<-p.gone
}

// pump reads all that comes out of the interpreter, in order, and hands it to
// the run that goes on.
func (p *process) pump(events *os.File, secret string) {
	var (
		msgs   = make(chan message, 64)
		quit   = make(chan struct{})
		exited = make(chan struct{})
		wg     sync.WaitGroup
	)
	put := func(m message) bool {
		select {
		case msgs <- m:
			return true
		case <-quit:
			return false
		}
	}
	head := append(append([]byte{0}, secret...), ':')
	for i, r := range [2]io.Reader{p.proc.Stdout(), p.proc.Stderr()} {
		wg.Go(func() {
			readRaw(r, head, func(it item) bool { return put(message{stream: i, item: it}) })
			put(message{stream: i, end: true})
		})
	}
	wg.Go(func() {
		readEvents(events, func(e event) bool { return put(message{stream: 2, event: e}) })
		put(message{stream: 2, end: true})
	})
	wg.Go(func() {
		p.exit = p.proc.Wait()
		close(exited)
	})

	cur := p.drain(msgs, exited)

	close(quit)
	events.Close()
	for _, r := range [2]io.Reader{p.proc.Stdout(), p.proc.Stderr()} {
		if c, ok := r.(io.Closer); ok {
			c.Close() // a reader that still waits ends now
		}
	}
	wg.Wait()
	if cur != nil {
		close(cur.done)
	}
	close(p.gone)
}

// drain is pump's loop. It returns the run that the end of the interpreter cut
// off, if any.
func (p *process) drain(msgs <-chan message, exited chan struct{}) *run {
	var (
		m     merger
		cur   *run
		open  = 3
		ends  = exited
		stuck = time.NewTimer(time.Hour)
		last  <-chan time.Time // everything is over then
		cut   <-chan time.Time // the connection is closed, the process must end
	)
	defer stuck.Stop()
	for open > 0 || ends != nil {
		select {
		case r := <-p.begin:
			cur = r
			if p.late.Len() > 0 {
				cur.sink.add("stdout", "[output of an earlier run]\n"+p.late.String()+"\n[output of this run]\n")
				p.late.Reset()
			}
		case msg := <-msgs:
			switch {
			case msg.end:
				open--
				if msg.stream < 2 {
					m.ended[msg.stream] = true
				} else if ends != nil {
					cut = time.After(500 * time.Millisecond)
				}
			case msg.stream < 2:
				m.addRaw(msg.stream, msg.item)
			default:
				m.addEvent(msg.event)
			}
		case <-ends:
			ends, last = nil, time.After(time.Second)
		case <-cut:
			p.proc.Kill() // it has closed its connection: nothing can be run in it any more
		case <-last:
			open = 0
		case <-stuck.C:
			m.force()
		}
		cur = p.deliver(&m, cur)
		if m.waiting() {
			stuck.Reset(200 * time.Millisecond)
		} else {
			stuck.Stop()
		}
	}
	for m.waiting() {
		m.force()
		cur = p.deliver(&m, cur)
	}
	return cur
}

func (p *process) deliver(m *merger, cur *run) *run {
	for {
		stream, data, e, ok := m.next()
		switch {
		case !ok:
			return cur
		case e == nil && cur != nil:
			cur.sink.raw(stream, data)
		case e == nil:
			p.keep(string(data))
		case e.Kind == "ready":
			select {
			case p.ready <- e.Python:
			default:
			}
		case e.Kind == "out" && cur != nil:
			cur.sink.add(e.Stream, e.Text)
		case e.Kind == "out":
			p.keep(e.Text)
		case e.Kind == "show" && cur != nil:
			cur.sink.show(e.Data)
		case e.Kind == "done" && cur != nil && e.Token == cur.token:
			cur.result = e
			close(cur.done)
			cur = nil
		}
	}
}

// keep holds output for which no run is there.
func (p *process) keep(text string) {
	if p.startErr.Len() < 4096 {
		p.startErr.WriteString(clip(text, 4096))
	}
	if room := maxLate - p.late.Len(); room > 0 {
		p.late.WriteString(clip(text, room))
	}
}

func randomHex() string {
	var b [16]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}
