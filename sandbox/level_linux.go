package sandbox

import (
	"cmp"
	"context"
	"fmt"
	"strings"
)

// Level is documented at [Runner]. The first call takes some ten milliseconds.
func (r *runner) Level(ctx context.Context) Level {
	a, err := r.probe(ctx)
	if err != nil {
		return Level{Name: LevelNone, Guarantees: []Guarantee{{
			Name: "sandbox", Detail: "It was not tried: " + err.Error() + ".", Fix: "Try again.",
		}}}
	}
	return Level{Name: a.level, Guarantees: a.guarantees()}
}

// guarantees lists every promise, whether it holds or not.
func (a ability) guarantees() []Guarantee {
	full, some := a.level == LevelFull, a.level != LevelNone
	lack := a.full
	g := func(name string, holds bool, detail, without string) Guarantee {
		if holds {
			return Guarantee{Name: name, Holds: true, Detail: detail}
		}
		if !some {
			without = "No program is started. " + a.reduced.reason
		}
		if lack.reason != "" {
			without += " " + lack.reason
		}
		fix := lack.fix
		if !some && a.reduced.fix != "" && a.reduced.fix != fix {
			fix = strings.TrimSpace(fix + " Or: " + a.reduced.fix)
		}
		return Guarantee{Name: name, Detail: strings.TrimSpace(without), Fix: fix}
	}
	landlock := Guarantee{Name: "landlock", Holds: some && a.seen.Landlock > 0, Detail: fmt.Sprintf("Version %d of the kernel's file rules is in force.", a.seen.Landlock)}
	if !landlock.Holds {
		landlock.Detail = fmt.Sprintf("The kernel offers version %d of its file rules; none is in force.", landlockABI())
		landlock.Fix = "Use a kernel with Landlock, named in its lsm= line (Linux 5.13 or newer)."
		if a.level == LevelNone && landlockABI() > 0 {
			landlock.Fix = lack.fix
		}
	}
	limits := "Counted by the sandbox itself every 20 to 100 ms, so that a fast program can pass the limit for a moment; the kernel does not count: " + cmp.Or(a.groups, "it was not asked") + "."
	if a.counted {
		limits = "Counted by the kernel, in a control group of its own for each run, and once more by the sandbox itself."
	}
	kernelCap := limits
	if a.seen.PidMax {
		kernelCap += " The kernel also caps process numbers."
	}
	return []Guarantee{
		g("namespaces", full, "Users, mounts, processes, network, messages, host name and cgroups of its own.", "The program shares the machine's view."),
		g("files", some, "Only the system's programs and the folders of the policy can be opened.", ""),
		g("hidden files", full, "Nothing else exists inside, not even names.", "Names, sizes and times of other files can be seen, though not what is in them."),
		g("read-only parts", full, "A read-only file or folder can lie inside a writable one.", "Policies with a read-only part inside a writable folder are refused."),
		landlock,
		g("seccomp", some, "Dangerous system calls are refused; foreign and unknown ones too.", ""),
		countedGuarantee(a, some),
		g("no new rights", some, "Set-id programs and capabilities have no effect.", ""),
		g("network", some, networkDetail(full), ""),
		g("other programs", some, "Programs outside can be neither signalled nor inspected.", ""),
		socketGuarantee(a, some),
		layerGuarantee(a),
		g("kill", some, killDetail(full), ""),
		g("memory limit", some, limits, ""),
		g("process limit", some, kernelCap, ""),
		g("disk limit", some, "Growth of the writable folders is measured, and free space of up to 1 GiB always remains.", ""),
	}
}

// countedGuarantee is about the record of what was refused.
func countedGuarantee(a ability, some bool) Guarantee {
	g := Guarantee{Name: "record of refusals", Holds: some && a.seen.Counted}
	switch {
	case g.Holds:
		g.Detail = "Refused system calls are counted by name."
	case some:
		g.Detail = "Refused system calls are refused, but not counted: the kernel does not tell of them here."
		g.Fix = "Use Linux 5.0 or newer, outside of containers and sandboxes that count calls themselves."
	default:
		g.Detail, g.Fix = "No program is started.", a.full.fix
	}
	return g
}

// socketGuarantee is about servers outside that listen in a shared folder.
func socketGuarantee(a ability, some bool) Guarantee {
	g := Guarantee{Name: "sockets in folders", Holds: some && (a.level == LevelReduced || a.seen.Landlock >= socketABI)}
	switch {
	case g.Holds:
		g.Detail = "A socket that lies in a folder of the policy cannot be used."
	case some:
		g.Detail = "Code could talk to a program of yours that listens on a socket file inside an attached folder or a chat's own."
		g.Fix = "Nothing to do as long as no socket file lies there; Linux 7.1 or newer closes this too."
	default:
		g.Detail, g.Fix = "No program is started.", a.full.fix
	}
	return g
}

func networkDetail(full bool) string {
	if full {
		return "A network of its own; hosts can be reached through a proxy only, where the policy has one."
	}
	return "No sockets can be made; policies with a network are refused."
}

func killDetail(full bool) string {
	if full {
		return "The kernel ends every process of the sandbox with its first one."
	}
	return "A guard outside ends the process group and walks the rest of the tree."
}
