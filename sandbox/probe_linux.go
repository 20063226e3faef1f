package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// ability is what this machine was seen to enforce.
type ability struct {
	level   string
	seen    facts   // of the level that worked
	full    refused // why not full
	reduced refused // why not reduced
	groups  string  // why there are no control groups
	counted bool    // there are
}

// refused is a reason and a remedy, both sentences.
type refused struct{ reason, fix string }

// probe finds out, once for each runner, by really starting a program.
func (r *runner) probe(ctx context.Context) (ability, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known != nil {
		return *r.known, nil
	}
	a, err := r.try(ctx)
	if err != nil {
		return a, err
	}
	r.known = &a
	return a, nil
}

// try returns an error only when ctx ended.
func (r *runner) try(ctx context.Context) (a ability, err error) {
	a.level = LevelNone
	program, err := trivialProgram()
	if err != nil {
		a.full = refused{err.Error(), "Install the system's core utilities."}
		return a, nil
	}
	if r.reduced {
		a.full = refused{"Namespaces are left alone, as was asked for.", "Ask for the full level."}
	} else {
		r.groups, a.groups = findCgroups(ctx)
		defer func() { a.counted = r.groups != nil }()
		if a.seen, err = r.tryGroups(ctx, stageFull, program, &a); err == nil {
			a.level = LevelFull
			return a, nil
		}
		if ctx.Err() != nil {
			return a, ctx.Err()
		}
		a.full = explain(err, setting)
	}
	if a.reduced = reducedForbidden(); a.reduced.reason != "" {
		return a, nil
	}
	if a.seen, err = r.tryGroups(ctx, stageGuard, program, &a); err == nil {
		a.level = LevelReduced
		return a, nil
	}
	if ctx.Err() != nil {
		return a, ctx.Err()
	}
	a.reduced = refused{"The reduced sandbox did not work: " + err.Error() + ".", ""}
	return a, nil
}

// tryGroups is tryStage, once more without control groups if it fails with
// them, and leaves it at that when it works.
func (r *runner) tryGroups(ctx context.Context, stage, program string, a *ability) (facts, error) {
	seen, err := r.tryStage(ctx, stage, program)
	if err == nil || r.groups == nil || ctx.Err() != nil {
		return seen, err
	}
	groups := r.groups
	r.groups = nil
	without, again := r.tryStage(ctx, stage, program)
	if again != nil {
		r.groups = groups
		return seen, err
	}
	a.groups = "no program can be started in a control group (" + err.Error() + ")"
	return without, nil
}

func (r *runner) tryStage(ctx context.Context, stage, program string) (facts, error) {
	o, err := newOrder(Policy{}, Command{Path: program})
	if err != nil {
		return facts{}, err
	}
	o.Stage = stage
	if stage == stageFull {
		done, err := o.tryLayer()
		if err != nil {
			return facts{}, err
		}
		defer done()
	}
	p, seen, err := r.launch(ctx, o, nil, nil)
	if err != nil {
		return seen, err
	}
	p.stdin.Close()
	// Nothing is expected there; reading to the end closes the pipes.
	_, _ = io.Copy(io.Discard, p.stdout)
	_, _ = io.Copy(io.Discard, p.stderr)
	if e := p.Wait(); e.Code != 0 {
		return seen, fmt.Errorf("%s ended with %d inside (%s)", program, e.Code, e.Detail)
	}
	return seen, nil
}

func trivialProgram() (string, error) {
	for _, p := range []string{"/usr/bin/true", "/bin/true", "/run/current-system/sw/bin/true"} {
		if _, err := os.Stat(p); err == nil {
			return p, nil
		}
	}
	return "", errors.New("there is no program 'true' to try the sandbox with")
}

// reducedForbidden says why the reduced mode is not even tried.
func reducedForbidden() refused {
	abi := landlockABI()
	switch {
	case os.Geteuid() == 0:
		return refused{"Without namespaces nothing binds a program that root starts.", "Start as an ordinary user."}
	case abi < minReducedABI:
		return refused{
			fmt.Sprintf("Without namespaces, Landlock version %d is needed; this kernel has %d.", minReducedABI, abi),
			"Use Linux 6.12 or newer with Landlock enabled.",
		}
	}
	return refused{}
}

// explain says what keeps namespaces from working here. The settings of the
// kernel are read only to find words: what works was tried.
func explain(err error, setting func(path string) string) refused {
	var s *startError
	if !errors.As(err, &s) {
		return refused{"The sandbox did not work: " + err.Error() + ".", ""}
	}
	switch {
	case s.step == "helper":
		return refused{"The sandbox helper did not start: " + s.text + ".", "Install the program again."}
	case setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1":
		return refused{
			"AppArmor forbids user namespaces to programs without a profile (" + s.text + ").",
			"Install Atoll's AppArmor profile (build/linux/apparmor/atoll, to /etc/apparmor.d/, then: sudo apparmor_parser -r /etc/apparmor.d/atoll), or: sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0",
		}
	case setting("/proc/sys/kernel/unprivileged_userns_clone") == "0":
		return refused{"This system forbids user namespaces to ordinary users.", "sudo sysctl kernel.unprivileged_userns_clone=1"}
	case setting("/proc/sys/user/max_user_namespaces") == "0":
		return refused{"This system allows no user namespaces.", "sudo sysctl user.max_user_namespaces=10000"}
	case s.step == "namespaces":
		return refused{
			"User namespaces are not to be had (" + s.text + "), as is usual inside containers.",
			"Run outside the container, or allow the container user namespaces (docker: --security-opt seccomp=unconfined --security-opt systempaths=unconfined).",
		}
	case strings.HasPrefix(s.text, "mount proc"):
		return refused{
			"A /proc of its own cannot be mounted (" + s.text + "), because parts of this container's /proc are hidden.",
			"Run outside the container, or show it all of /proc (docker: --security-opt systempaths=unconfined).",
		}
	}
	return refused{"The sandbox could not be built: " + s.step + ": " + s.text + ".", ""}
}

// setting reads a kernel setting, "" if there is none.
func setting(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
