package escape

import (
	"runtime"
	"strings"

	"atoll/sandbox"
)

// The letters of a table's "by": every layer that would stop the attempt alone.
const (
	byNamespaces = 'N'
	byMounts     = 'M' // read-only parts, which need namespaces
	byLandlock   = 'L'
	bySeccomp    = 'S'
	byRights     = 'R' // no capabilities, no new rights
	byLimits     = 'X'
	byEnv        = 'E' // an environment of its own
	byEnd        = 'V' // what is left ends with the sandbox
)

// layers are their names for a person; namespaces are called after what they
// hide, which depends on the group.
var layers = map[rune]string{
	byNamespaces: "namespaces", byMounts: "read-only mounts", byLandlock: "Landlock", bySeccomp: "seccomp", byRights: "no rights",
	byLimits: "limits", byEnv: "clean environment", byEnd: "ended with the sandbox",
}

var hidden = map[string]string{
	"files": "files are not there (namespaces)", "persistence": "files are not there (namespaces)", "devices": "devices are not there (namespaces)",
	"processes": "other programs are not there (namespaces)", "messages": "other programs are not there (namespaces)",
	"network": "no network (namespaces)", "leftovers": "a place of its own (namespaces)", "environment": "a view of its own (namespaces)",
}

// answers are the layers that an error may come from, the likeliest first. It
// tells which one stood in front; the others of "by" stand behind.
var answers = map[string]string{
	"ENOENT": "N", "ESRCH": "N", "ENOTDIR": "N", "ENETUNREACH": "N", "EHOSTUNREACH": "N", "ECONNREFUSED": "N", "EADDRNOTAVAIL": "N",
	"EROFS": "MN", "EBUSY": "MN", "EXDEV": "NL", "EACCES": "LRN", "EPERM": "SRLN", "ENOSYS": "S", "EAFNOSUPPORT": "S", "EOPNOTSUPP": "S",
	"ESOCKTNOSUPPORT": "S", "SIGSYS": "S", "EMFILE": "X", "ENOMEM": "X", "EFBIG": "X", "EAGAIN": "X", "ENOSPC": "X",
}

// missing are the errors, outside, of what this machine does not have.
var missing = map[string]bool{
	"ENOENT": true, "ENXIO": true, "ENODEV": true, "ENOSYS": true, "EAFNOSUPPORT": true, "EPROTONOSUPPORT": true, "ESOCKTNOSUPPORT": true,
}

// errorName is what a note begins with, if it is an error.
func errorName(note string) string {
	name, _, _ := strings.Cut(note, ":")
	return name
}

// layer says what stopped an attempt.
func layer(l line, level string) string {
	switch runtime.GOOS {
	case "windows":
		if strings.ContainsRune(l.By, byLimits) || strings.ContainsRune(l.By, byEnd) {
			return "job object"
		}
		return "AppContainer"
	case "darwin":
		if strings.ContainsRune(l.By, byLimits) || strings.ContainsRune(l.By, byEnd) {
			return "limits"
		}
		return "Seatbelt"
	}
	by := l.By
	if level == sandbox.LevelReduced {
		by = strings.Map(func(r rune) rune {
			if r == byNamespaces || r == byMounts {
				return -1
			}
			return r
		}, by)
		if by == "" {
			by = "L"
		}
	}
	first := rune(by[0])
	for _, r := range answers[errorName(l.Note)] {
		if strings.ContainsRune(by, r) {
			first = r
			break
		}
	}
	said := layers[first]
	if first == byNamespaces && hidden[l.Group] != "" {
		said = hidden[l.Group]
	}
	var also []string
	for _, r := range by {
		if r != first && !(r == byNamespaces && first == byMounts) {
			also = append(also, layers[r])
		}
	}
	if len(also) > 0 {
		said += "; " + strings.Join(also, " and ") + " too"
	}
	return said
}
