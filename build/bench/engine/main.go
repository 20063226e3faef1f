// Command engine measures one run of the product's engine for
// build/bench/engine.py: it loads a model, reads a prompt and generates, and
// prints what that took as a line of JSON.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"

	"atoll/llm"
	"atoll/llm/engine"
	"atoll/llm/engine/worker"
	"atoll/llm/harness"
)

func main() {
	if len(os.Args) == 3 && os.Args[1] == "worker" && os.Args[2] == "model" {
		os.Exit(worker.Main())
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench engine:", err)
		os.Exit(1)
	}
}

// result is one run. Seconds of the processor are those of the worker.
type result struct {
	PromptTokens int     `json:"promptTokens"`
	PromptWall   float64 `json:"promptWall"`
	PromptCPU    float64 `json:"promptCPU"`
	Output       int     `json:"output"`
	OutputWall   float64 `json:"outputWall"`
	OutputCPU    float64 `json:"outputCPU"`
}

func run() error {
	model := flag.String("model", "", "GGUF file")
	lib := flag.String("lib", os.Getenv("ATOLL_ENGINE_DIR"), "folder of the inference libraries")
	threads := flag.Int("threads", 1, "threads")
	prompt := flag.Int("prompt", 128, "tokens of the prompt, about")
	output := flag.Int("output", 32, "tokens to generate")
	flag.Parse()

	self, err := os.Executable()
	if err != nil {
		return err
	}
	var pid int
	launch := engine.Exec(self)
	e := engine.New(engine.Options{
		Path: *model, LibDir: *lib, Threads: *threads, Context: 2048,
		Launch: func(ctx context.Context, w engine.Worker) (engine.Process, error) {
			p, err := launch(ctx, w)
			if p, ok := p.(interface{ Pid() int }); ok && err == nil {
				pid = p.Pid()
			}
			return p, err
		},
	})
	defer e.Close()

	ctx, greedy := context.Background(), 0.0
	p := harness.Prompt{Sampling: llm.Sampling{Temperature: &greedy}, Max: *output}
	words := "the tide comes in and the tide goes out while "
	for n := 0; n < *prompt; {
		p.Messages = []harness.Turn{{Role: "user", Content: "Write a very long story.\n" + strings.Repeat(words, 1+n/9)}}
		last := n
		if n, err = e.Count(ctx, p); err != nil {
			return err
		}
		if n <= last {
			n = last + 9
		}
	}
	var r result
	begin, middle := cpu(pid), 0.0
	for piece, err := range e.Complete(ctx, p) {
		switch {
		case err != nil:
			return err
		case piece.Load != nil && piece.Load.Phase == "prompt" && piece.Load.Done == 1:
			middle = cpu(pid)
		case piece.Done != nil:
			u := piece.Done.Usage
			r = result{u.Prompt - u.Cached, float64(u.PromptNS) / 1e9, middle - begin, u.Output, float64(u.OutputNS) / 1e9, cpu(pid) - middle}
		}
	}
	return json.NewEncoder(os.Stdout).Encode(r)
}

// cpu returns the seconds of the processor that a process took so far, with
// the resolution of Linux's /proc, a hundredth.
func cpu(pid int) float64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	f := strings.Fields(rest)
	if len(f) < 13 {
		return 0
	}
	user, _ := strconv.ParseFloat(f[11], 64)
	system, _ := strconv.ParseFloat(f[12], 64)
	return (user + system) / 100
}
