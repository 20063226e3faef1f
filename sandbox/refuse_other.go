//go:build !linux && !darwin && !windows

package sandbox

import (
	"context"
	"fmt"
	"os"
	"runtime"
)

// refuser is the runner of systems whose sandbox is not written yet.
type refuser struct{}

func newRunner(Options) Runner { return refuser{} }

func (refuser) reason() string {
	return fmt.Sprintf("programs are not run on %s yet, because this version can enforce a policy on Linux, macOS and Windows only", runtime.GOOS)
}

func (r refuser) Start(_ context.Context, _ Policy, c Command) (Process, error) {
	closeAll(c.Files)
	return nil, refusal{r.reason()}
}

func (r refuser) Level(context.Context) Level {
	return Level{Name: LevelNone, Guarantees: []Guarantee{{
		Name: "sandbox", Detail: r.reason(), Fix: "Use Linux, macOS or Windows; other systems come with a later version.",
	}}}
}

// JailMain is the helper's entry on Linux and macOS; here it only says so and returns
// the exit status of a wrong use.
func JailMain() int {
	fmt.Fprintln(os.Stderr, refuser{}.reason())
	return 2
}
