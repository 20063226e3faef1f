package sandbox

import (
	"errors"
	"fmt"
	"os"

	"github.com/landlock-lsm/go-landlock/landlock"
	llsys "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// minReducedABI is the Landlock version with scopes for signals and abstract
// sockets (Linux 6.12). Without them a program without namespaces could end
// the user's other programs.
const minReducedABI = 6

// socketABI is the Landlock version that also covers sockets in folders.
const socketABI = 9

func landlockABI() int {
	v, err := llsys.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return v
}

// fullAccess is what Landlock allows inside namespaces. It repeats the mounts,
// so that a hole in one layer is not a hole in the sandbox.
func fullAccess(o order) []landlock.Rule {
	rules := []landlock.Rule{
		landlock.PathAccess(llsys.AccessFSReadDir, "/"),
		landlock.RWDirs("/tmp", "/dev/shm", "/home").WithRefer(),
		landlock.RWDirs("/dev/pts").WithIoctlDev(),
		landlock.RWFiles("/dev/ptmx").WithIoctlDev(),
	}
	for _, p := range []string{"/etc", "/proc", "/sys"} {
		rules = append(rules, readRule(p)...)
	}
	rules = append(rules, layerAccess(o)...)
	return append(rules, sharedAccess(o)...)
}

// reducedAccess is all that a program without namespaces may touch. self is
// its own process number: of /proc it sees only that.
func reducedAccess(o order, self int) []landlock.Rule {
	var rules []landlock.Rule
	for _, p := range systemFiles {
		rules = append(rules, readRule(p)...)
	}
	for _, p := range []string{
		fmt.Sprintf("/proc/%d", self), "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/filesystems", "/proc/loadavg",
		"/proc/version", "/proc/sys/vm/overcommit_memory", "/proc/sys/kernel/ngroups_max", cpuTree,
	} {
		rules = append(rules, readRule(p)...)
	}
	if o.TmpDir != "" {
		rules = append(rules, landlock.RWDirs(o.TmpDir).WithRefer())
	}
	return append(rules, sharedAccess(o)...)
}

// sharedAccess are the rules of both modes.
func sharedAccess(o order) []landlock.Rule {
	var rules []landlock.Rule
	for _, p := range systemTrees {
		rules = append(rules, readRule(p)...)
	}
	for _, p := range o.Read {
		rules = append(rules, readRule(p)...)
	}
	for _, p := range deviceNodes {
		if _, err := os.Stat(p); err == nil {
			rules = append(rules, landlock.RWFiles(p).WithIoctlDev())
		}
	}
	for _, p := range o.Write {
		st, err := os.Stat(p)
		switch {
		case err != nil:
		case st.IsDir() && within(p, "/dev"):
			rules = append(rules, landlock.RWDirs(p).WithIoctlDev())
		case st.IsDir():
			rules = append(rules, landlock.RWDirs(p).WithRefer())
		case st.Mode()&os.ModeDevice != 0:
			rules = append(rules, landlock.RWFiles(p).WithIoctlDev())
		default:
			rules = append(rules, landlock.RWFiles(p))
		}
	}
	return rules
}

func readRule(path string) []landlock.Rule {
	st, err := os.Stat(path)
	switch {
	case err != nil:
		return nil
	case st.IsDir():
		return []landlock.Rule{landlock.RODirs(path)}
	}
	return []landlock.Rule{landlock.ROFiles(path)}
}

// restrictFiles puts the calling thread, which must be locked and have
// no_new_privs, into a Landlock domain. Not the whole process: before ABI 8
// every thread would get a domain of its own and could no longer signal a
// program that another thread started. Network rules are for programs that
// share the machine's network.
func restrictFiles(rules []landlock.Rule, network bool) error {
	c := landlock.V11
	if !network {
		c.HandledAccessNet = 0
	}
	fd, flags, err := c.BestEffort().NewRulesetFD(rules...)
	if err != nil {
		return err
	}
	if fd < 0 { // "best effort" can mean none at all
		return errors.New("this kernel enforces nothing")
	}
	defer unix.Close(fd)
	return llsys.LandlockRestrictSelf(fd, flags)
}
