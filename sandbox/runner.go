package sandbox

// Options says what a [Runner] needs from the program it is part of.
type Options struct {
	// Helper is the command line that starts this program again as the
	// sandbox helper, for example [executable, "worker", "jail"]. The program must
	// then call [JailMain] at once and exit with its result.
	Helper []string
	// Reduced leaves namespaces alone, as on a machine that forbids them: for
	// seeing what still holds there. The level is then reduced or none.
	Reduced bool
}

// New returns the runner of this operating system. It never fails: a machine
// that has no sandbox shows it in [Runner.Level], and Start then returns
// [ErrUnsupported].
func New(o Options) Runner { return newRunner(o) }

// Names of [Level]: what a machine enforces altogether.
const (
	LevelFull    = "full"    // namespaces, Landlock, seccomp and limits
	LevelReduced = "reduced" // no namespaces, see the guarantees that do not hold
	LevelNone    = "none"    // nothing is started
)

// refusal is the error of a Start that this machine cannot carry out.
type refusal struct{ reason string }

func (r refusal) Error() string        { return ErrUnsupported.Error() + ": " + r.reason }
func (r refusal) Is(target error) bool { return target == ErrUnsupported }
