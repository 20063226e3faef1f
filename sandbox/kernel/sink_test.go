package kernel

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

func collect(max, maxLog int64, log string) (*sink, *strings.Builder) {
	var b strings.Builder
	return newSink(func(o Output) { b.WriteString(o.Text) }, max, maxLog, log), &b
}

func TestSinkShort(t *testing.T) {
	log := filepath.Join(t.TempDir(), "l", "run.log")
	s, got := collect(100, 1000, log)
	s.add("stdout", "hello ")
	s.raw(0, []byte("K\xc3"))
	s.raw(0, []byte("\xb6ln \xff"))
	cut, path := s.close(0)
	if got.String() != "hello Köln \ufffd" || cut != 0 || path != "" {
		t.Errorf("got %q, cut %d, log %q", got, cut, path)
	}
	if _, err := os.Stat(log); err == nil {
		t.Error("a short run left a log")
	}
	s.add("stdout", "late")
	if strings.Contains(got.String(), "late") {
		t.Error("output after close")
	}
}

func TestSinkCut(t *testing.T) {
	log := filepath.Join(t.TempDir(), "run.log")
	s, got := collect(10_000, 300_000, log)
	line := strings.Repeat("ü", 49) + "\n"
	const n = 10_000
	for i := range n {
		if i%2 == 0 {
			s.add("stdout", line)
		} else {
			s.raw(1, []byte(line))
		}
	}
	s.add("stdout", "the end\n")
	cut, path := s.close(5)
	text := got.String()
	if !strings.HasPrefix(text, line) || !strings.HasSuffix(text, "the end\n") || !utf8.ValidString(text) {
		t.Errorf("head or end is missing: %.60q ... %q", text, text[len(text)-60:])
	}
	if len(text) > 10_000+tailText+200 {
		t.Errorf("%d bytes are shown", len(text))
	}
	total := int64(n*len(line) + 8 + 5)
	notice := text[strings.Index(text, "\n[... "):]
	notice = notice[:strings.Index(notice, "...]\n")+5]
	if shownBytes := int64(len(text) - len(notice)); shownBytes+cut != total {
		t.Errorf("shown %d and cut %d are not %d", shownBytes, cut, total)
	}
	st, err := os.Stat(path)
	if err != nil || st.Size() != 300_000 || path != log {
		t.Errorf("log %q: %v, %v", path, st, err)
	}
}

func TestSinkTailFits(t *testing.T) {
	log := filepath.Join(t.TempDir(), "run.log")
	s, got := collect(10, 1000, log)
	s.add("stdout", "0123456789abc")
	cut, path := s.close(0)
	if got.String() != "0123456789abc" || cut != 0 || path != "" {
		t.Errorf("got %q, cut %d, log %q", got, cut, path)
	}
	if _, err := os.Stat(log); err == nil {
		t.Error("the log is of no use and still there")
	}
}
