package wire

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"atoll/llm"
	"atoll/llm/harness"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestRoundTrip(t *testing.T) {
	temp, n := 0.5, 7
	commands := []Command{
		{ID: 1, Load: &Load{Path: "модель 模型.gguf", LibDir: "/x", Context: 4096, Threads: 2, GPULayers: 3, Memory: 1 << 40}},
		{ID: 2, Complete: &harness.Prompt{
			Messages: []harness.Turn{{Role: "user", Content: "a\x01\n\"é"}}, Prefill: "```", Stop: []string{"```"},
			Sampling: llm.Sampling{Temperature: &temp, Stop: []string{"x"}}, Max: 5,
		}},
		{ID: 2, Cancel: true},
	}
	events := []Event{
		{ID: 1, Progress: &llm.Load{Phase: "load", Done: 0.25}},
		{ID: 1, Loaded: &Loaded{Context: 4096, ContextTrain: 8192, Device: "CPU"}},
		{ID: 2, Text: "piece"},
		{ID: 2, Done: &llm.Done{Stop: llm.StopEnd, Usage: llm.Usage{Prompt: 3}}},
		{ID: 3, Count: &n},
		{ID: 4, Fault: &Fault{KindModel, "broken", true}},
	}
	var buf bytes.Buffer
	w := NewWriter(&buf)
	for _, c := range commands {
		if err := w.Write(c); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range events {
		if err := w.Write(e); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range commands {
		var got Command
		if err := Read(&buf, &got); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	}
	for _, want := range events {
		var got Event
		if err := Read(&buf, &got); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	}
	if err := Read(&buf, &Event{}); err != io.EOF {
		t.Errorf("after the last frame: %v, want EOF", err)
	}
}

func TestReadRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		want error
	}{
		"empty frame":       {"\x00\x00\x00\x00", ErrFrame},
		"too long":          {"\xff\xff\xff\xff{}", ErrFrame},
		"just over the cap": {"\x02\x00\x00\x01", ErrFrame},
		"text of a library": {"llama_model_loader: loaded", ErrFrame},
		"not JSON":          {"\x00\x00\x00\x02{x", ErrFrame},
		"cut in the length": {"\x00\x00", io.ErrUnexpectedEOF},
		"cut in the body":   {"\x00\x00\x00\x09{", io.ErrUnexpectedEOF},
		"nothing":           {"", io.EOF},
	} {
		t.Run(name, func(t *testing.T) {
			if err := Read(strings.NewReader(c.in), &Event{}); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

func TestWriteRefusesWhatReadWould(t *testing.T) {
	var buf bytes.Buffer
	if err := NewWriter(&buf).Write(Event{Text: strings.Repeat("x", MaxFrame)}); err == nil {
		t.Error("a frame over the limit was written")
	}
	if buf.Len() != 0 {
		t.Errorf("%d bytes of the refused frame were written", buf.Len())
	}
}

func TestLast(t *testing.T) {
	n := 1
	for e, want := range map[*Event]bool{
		{Text: "x"}: false, {Progress: &llm.Load{}}: false,
		{Loaded: &Loaded{}}: true, {Count: &n}: true, {Done: &llm.Done{}}: true, {Fault: &Fault{}}: true,
	} {
		if e.Last() != want {
			t.Errorf("%+v: Last() = %v", e, e.Last())
		}
	}
}

// However pipes cut the bytes, the same frames come out.
func TestReadIsIndependentOfCutting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var buf bytes.Buffer
		w := NewWriter(&buf)
		texts := rapid.SliceOf(rapid.String()).Draw(t, "texts")
		for _, s := range texts {
			if err := w.Write(Event{ID: 1, Text: s}); err != nil {
				t.Fatal(err)
			}
		}
		pr, pw := io.Pipe()
		sent := make(chan error, 1)
		data := buf.Bytes()
		var cuts []int
		for left := len(data); left > 0; {
			n := rapid.IntRange(1, left).Draw(t, "cut")
			cuts, left = append(cuts, n), left-n
		}
		go func() {
			for _, n := range cuts {
				if _, err := pw.Write(data[:n]); err != nil {
					sent <- err
					return
				}
				data = data[n:]
			}
			sent <- pw.Close()
		}()
		for _, want := range texts {
			var e Event
			if err := Read(pr, &e); err != nil {
				t.Fatal(err)
			}
			if e.Text != want {
				t.Fatalf("got %q, want %q", e.Text, want)
			}
		}
		if err := Read(pr, &Event{}); err != io.EOF {
			t.Fatalf("at the end: %v", err)
		}
		if err := <-sent; err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x02{}"))
	f.Add([]byte("\x00\x00\x00\x10{\"id\":1,\"text\":\"x\"}"))
	f.Add([]byte("\x01\x00\x00\x00{"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := bytes.NewReader(data)
		for {
			var c Command
			before := r.Len()
			err := Read(r, &c)
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, ErrFrame) {
				return
			}
			if err != nil {
				t.Fatalf("unexpected kind of error: %v", err)
			}
			if before-r.Len() < 5 {
				t.Fatal("a frame came out of fewer than five bytes")
			}
			var again bytes.Buffer
			if err := NewWriter(&again).Write(c); err != nil {
				t.Fatalf("what was read cannot be written: %v", err)
			}
		}
	})
}
