package worker

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"

	"github.com/ebitengine/purego"
	"github.com/hybridgroup/yzma/pkg/utils"
)

// libraryLog keeps what the library says that matters later: warnings and
// errors, which explain a refused file, and which variant of the processor
// backend was chosen. Warnings and errors also go to the standard error, where
// the host keeps the last lines for the case of a crash.
type libraryLog struct {
	mu      sync.Mutex // guards the rest: the library logs from its own threads
	level   int32      // of the line being written; pieces come one by one
	line    strings.Builder
	bad     []string // the last lines that are warnings or errors
	variant string
}

// Levels of ggml_log_level in ggml.h.
const (
	levelWarn  = 3
	levelError = 4
	levelCont  = 5 // goes on with the line before
)

const keptLines = 20

// callback returns a function pointer for llama_log_set. It is never freed, so
// call it once.
func (l *libraryLog) callback() uintptr {
	return purego.NewCallback(func(level int32, text *byte, _ uintptr) uintptr {
		if text != nil {
			l.write(level, utils.BytePtrToString(text))
		}
		return 0
	})
}

var loadedBackend = regexp.MustCompile(`loaded CPU backend from .*ggml-cpu-([[:alnum:]_]+)\.`)

func (l *libraryLog) write(level int32, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if level != levelCont {
		l.level = level
	}
	l.line.WriteString(text)
	if !strings.HasSuffix(text, "\n") && l.line.Len() < 4096 {
		return
	}
	line := strings.TrimSpace(l.line.String())
	l.line.Reset()
	if m := loadedBackend.FindStringSubmatch(line); m != nil {
		l.variant = m[1]
	}
	if l.level != levelWarn && l.level != levelError || line == "" {
		return
	}
	fmt.Fprintln(os.Stderr, line)
	if len(l.bad) == keptLines {
		l.bad = l.bad[1:]
	}
	l.bad = append(l.bad, line)
}

// complaints returns the last warnings and errors, oldest first.
func (l *libraryLog) complaints() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.bad...)
}

func (l *libraryLog) cpuVariant() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.variant
}
