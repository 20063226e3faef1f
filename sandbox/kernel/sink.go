package kernel

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"unicode/utf8"
)

// A sink passes the output of one run on, as much of it as a run may show: the
// beginning as it comes, and the end when the run is over. What lies between
// is only in the log file, which exists only if there is such a part.
type sink struct {
	mu     sync.Mutex
	out    func(Output)
	closed bool

	max, maxLog int64
	shown       int64
	total       int64
	head        strings.Builder // for the log, until it is opened
	tail        []Output
	tailSize    int
	log         *os.File
	logged      int64
	logPath     string
	figures     int
	objects     int
	rest        [2][]byte // bytes of a character that is not complete yet
}

var streams = [2]string{"stdout", "stderr"}

func newSink(out func(Output), maxText, maxLog int64, logPath string) *sink {
	if out == nil {
		out = func(Output) {}
	}
	return &sink{out: out, max: maxText, maxLog: maxLog, logPath: logPath}
}

// raw takes bytes of descriptor 1 or 2.
func (s *sink) raw(stream int, b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b = append(s.rest[stream], b...)
	n := len(b)
	for i := 1; i < utf8.UTFMax && i <= len(b); i++ {
		if c := b[len(b)-i]; utf8.RuneStart(c) {
			if !utf8.FullRune(b[len(b)-i:]) {
				n = len(b) - i
			}
			break
		}
	}
	s.rest[stream] = append([]byte(nil), b[n:]...)
	s.text(streams[stream], string(b[:n]))
}

// add takes text of the driver.
func (s *sink) add(stream, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if stream != "stderr" {
		stream = "stdout"
	}
	s.text(stream, text)
}

func (s *sink) text(stream, text string) {
	text = strings.ToValidUTF8(text, "\ufffd")
	if text == "" || s.closed {
		return
	}
	s.total += int64(len(text))
	fits := len(text)
	if room := s.max - s.shown; int64(fits) > room || s.tail != nil {
		fits = 0
		if s.tail == nil {
			for fits = int(room); fits > 0 && !utf8.RuneStart(text[fits]); fits-- {
			}
		}
	}
	if fits > 0 {
		s.shown += int64(fits)
		s.head.WriteString(text[:fits])
		s.out(Output{Stream: stream, Text: text[:fits]})
	}
	if fits < len(text) {
		s.over(stream, text[fits:])
	}
}

// over keeps text that may not be shown now.
func (s *sink) over(stream, text string) {
	if s.tail == nil {
		s.tail = []Output{}
		s.open()
	}
	s.write(text)
	s.tail = append(s.tail, Output{Stream: stream, Text: text})
	s.tailSize += len(text)
	for s.tailSize > tailText {
		first := &s.tail[0]
		if over := s.tailSize - tailText; over < len(first.Text) {
			for over < len(first.Text) && !utf8.RuneStart(first.Text[over]) {
				over++
			}
			s.tailSize -= over
			first.Text = strings.Clone(first.Text[over:])
			break
		}
		s.tailSize -= len(first.Text)
		s.tail = s.tail[1:]
	}
}

func (s *sink) open() {
	if s.logPath == "" {
		return
	}
	if err := os.MkdirAll(filepath.Dir(s.logPath), 0o700); err != nil {
		return // the output is shown in part all the same
	}
	f, err := os.OpenFile(s.logPath, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return
	}
	s.log = f
	s.write(s.head.String())
	s.head.Reset()
}

func (s *sink) write(text string) {
	if s.log == nil || s.logged >= s.maxLog {
		return
	}
	if room := s.maxLog - s.logged; int64(len(text)) > room {
		text = text[:room]
	}
	n, err := s.log.WriteString(text)
	s.logged += int64(n)
	if err != nil {
		s.logged = s.maxLog // the disk is full: the log ends here
	}
}

// show takes a displayed object.
func (s *sink) show(data map[string]string) {
	o, err := output(data)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	if _, ok := o.Data["image/png"]; ok {
		s.figures++
	}
	s.objects++
	switch {
	case s.objects == maxShown+1 || s.figures == maxFigures+1 && s.objects <= maxShown:
		s.text("stderr", "[more objects are not shown]\n")
	case s.objects > maxShown || s.figures > maxFigures:
	case err != nil:
		s.text("stderr", "[an object could not be shown: "+err.Error()+"]\n")
	default:
		s.out(o)
	}
}

// close passes the end on and returns how much was left out and the log file.
// After it nothing reaches the consumer any more.
func (s *sink) close(driverCut int64) (cut int64, log string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, ""
	}
	for i, b := range s.rest {
		s.rest[i] = nil
		s.text(streams[i], string(b))
	}
	cut = s.total - s.shown - int64(s.tailSize) + max(driverCut, 0)
	if s.log != nil {
		s.log.Close()
		log = s.logPath
		if cut == 0 { // the end went beyond the limit, but all of it is passed on
			os.Remove(log)
			log = ""
		}
	}
	if cut > 0 {
		where := ""
		if log != "" {
			where = "; the log file has more"
		}
		s.out(Output{Stream: "stdout", Text: fmt.Sprintf("\n[... %d bytes of output left out%s ...]\n", cut, where)})
	}
	for i := 0; i < len(s.tail); {
		var b strings.Builder // pieces of one stream in one
		o := s.tail[i]
		for ; i < len(s.tail) && s.tail[i].Stream == o.Stream; i++ {
			b.WriteString(s.tail[i].Text)
		}
		o.Text = b.String()
		s.out(o)
	}
	s.closed, s.tail = true, nil
	return cut, log
}
