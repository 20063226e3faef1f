package doctor

import (
	"context"

	"github.com/google/uuid"

	"atoll/app/api"
	"atoll/app/cells"
	"atoll/app/event"
	"atoll/sandbox"
	"atoll/sandbox/escape"
)

// SandboxTest is what sandbox.test needs.
type SandboxTest struct {
	Runner sandbox.Runner
	Python cells.Python
	Bus    *event.Bus
}

// Register adds sandbox.test to the table.
func (s SandboxTest) Register(t *api.Table) {
	api.Add(t, "sandbox.test", "makes hostile attempts on this machine and tells what became of them", s.run)
}

// testLabel names the task; pages know it by that.
const testLabel = "sandbox.test"

func (s SandboxTest) run(ctx context.Context, _ api.Empty) (escape.Report, error) {
	task := event.Task{ID: uuid.NewString(), Label: testLabel, Unit: "steps", State: "running"}
	show := func() { t := task; s.Bus.Publish(event.Event{Task: &t}) }
	show()
	r, err := TestSandbox(ctx, s.Runner, s.Python, func(done, total int) {
		task.Done, task.Total = int64(done), int64(total)
		show()
	})
	task.State, task.Done = "done", task.Total
	if err != nil {
		task.State = "failed"
	}
	show()
	return r, err
}

// TestSandbox makes the attempts of [escape.Run] with the Python that code runs
// with, or without one.
func TestSandbox(ctx context.Context, r sandbox.Runner, python cells.Python, progress func(done, total int)) (escape.Report, error) {
	o := escape.Options{Runner: r, Progress: progress}
	if py, _, err := python(ctx); err == nil {
		o.Python, o.Read = py.Path, py.Prefixes
	}
	return escape.Run(ctx, o)
}
