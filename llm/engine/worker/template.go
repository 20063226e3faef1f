package worker

import (
	"errors"
	"fmt"
	"regexp"
	"runtime/metrics"
	"strings"
	"time"

	"atoll/llm"
	"atoll/llm/engine/wire"
	"atoll/llm/harness"

	"github.com/ardanlabs/jinja"
)

// limits bound rendering. Templates come with model files, from anywhere: one
// that loops or grows without end must not take the machine with it.
type limits struct {
	time   time.Duration
	memory uint64 // bytes of Go objects in this process while rendering
	size   int    // bytes of the result
}

func usualLimits() limits {
	return limits{time: 5 * time.Second, memory: 512 * mib, size: wire.MaxFrame}
}

// A template writes conversations in the form a model was trained on.
type template struct {
	compiled *jinja.Template
	bos, eos string
	limits   limits
}

// lostNewline is the end of a line between a value and a block. jinja v1.8.0
// takes it for the block's indentation and drops it, and does not when there is
// an indentation, which lstrip_blocks then takes away.
var lostNewline = regexp.MustCompile(`([^-\s][ \t]*}}\r?\n)(\{[%#][^-+])`)

// newTemplate compiles source, the template in a model file, under the rules
// of Hugging Face: jinja already follows trim_blocks and lstrip_blocks; the
// one newline at the end of the source that Python's Jinja2 drops is dropped
// here, and the one between a value and a block is kept.
func newTemplate(source, bos, eos string) (*template, error) {
	t := &template{bos: bos, eos: eos, limits: usualLimits()}
	source = strings.TrimSuffix(strings.TrimSuffix(source, "\n"), "\r")
	source = lostNewline.ReplaceAllString(source, "${1} $2")
	err := t.limits.run(func() (err error) {
		t.compiled, err = jinja.Compile(source)
		return err
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

// render writes turns and the beginning of the answer, and offers tools.
func (t *template) render(turns []harness.Turn, tools ...llm.Tool) (string, error) {
	messages := make([]jinja.Value, len(turns))
	for i, turn := range turns {
		d := jinja.NewDict()
		d.AsDict().Set("role", jinja.NewString(turn.Role))
		d.AsDict().Set("content", jinja.NewString(turn.Content))
		messages[i] = d
	}
	vars := map[string]jinja.Value{
		"messages":              jinja.NewList(messages),
		"add_generation_prompt": jinja.NewBool(true),
		"bos_token":             jinja.NewString(t.bos),
		"eos_token":             jinja.NewString(t.eos),
	}
	if len(tools) > 0 {
		offered, err := toolValues(tools)
		if err != nil {
			return "", err
		}
		vars["tools"] = offered
	}
	var out string
	err := t.limits.run(func() (err error) {
		out, err = t.compiled.RenderValues(vars)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("write the conversation with the model's chat template: %w", err)
	}
	if len(out) > t.limits.size {
		return "", fmt.Errorf("write the conversation with the model's chat template: it became %s, more than the %s allowed", size(int64(len(out))), size(int64(t.limits.size)))
	}
	return out, nil
}

// errRunaway means that a template neither ends nor fails. The worker ends
// after telling the host: what runs away cannot be stopped otherwise.
var errRunaway = errors.New("the model's chat template does not come to an end")

// run runs f, which cannot be interrupted, and returns an error when it
// takes too long or too much memory. Then f is left running: the process ends
// soon after, see errRunaway.
func (l limits) run(f func() error) error {
	done := make(chan error, 1) // buffered: f may end after nobody waits
	go func() {
		defer func() {
			if r := recover(); r != nil {
				done <- fmt.Errorf("the template made its interpreter fail: %v", r)
			}
		}()
		done <- f()
	}()
	deadline := time.NewTimer(l.time)
	defer deadline.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			return err
		case <-deadline.C:
			return fmt.Errorf("%w: more than %v", errRunaway, l.time)
		case <-tick.C:
			if heap() > l.memory {
				return fmt.Errorf("%w: more than %s", errRunaway, size(int64(l.memory)))
			}
		}
	}
}

// heap returns the bytes of Go objects in this process, without stopping it.
func heap() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}
