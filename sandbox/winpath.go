package sandbox

import (
	"fmt"
	"strings"
)

// winPlaces are the folders of a Windows machine that matter to policies. Paths
// of Windows are looked at as text, so that it can be tested anywhere.
type winPlaces struct {
	home   string
	system []string // of the system and of installed programs
	shared []string // of everybody; what lies in them may be passed on
}

func newWinPlaces(getenv func(string) string) winPlaces {
	w := winPlaces{home: getenv("USERPROFILE")}
	for _, name := range []string{"SystemRoot", "ProgramFiles", "ProgramFiles(x86)", "ProgramW6432"} {
		if at := getenv(name); at != "" {
			w.system = append(w.system, at)
		}
	}
	for _, name := range []string{"ProgramData", "PUBLIC"} {
		if at := getenv(name); at != "" {
			w.shared = append(w.shared, at)
		}
	}
	if w.home != "" {
		for _, below := range []string{`\AppData`, `\AppData\Local`, `\AppData\LocalLow`, `\AppData\Local\Temp`, `\AppData\Local\Packages`, `\AppData\Roaming`} {
			w.shared = append(w.shared, w.home+below)
		}
	}
	return w
}

// winWithin reports whether path is tree or lies below it, in any case of letters.
func winWithin(path, tree string) bool {
	path, tree = strings.ToLower(path), strings.ToLower(strings.TrimSuffix(tree, `\`))
	return path == tree || strings.HasPrefix(path, tree+`\`)
}

// isSystem reports whether path belongs to the system or to installed programs.
// Nothing is ever granted there: containers can read it already.
func (w winPlaces) isSystem(path string) bool {
	for _, s := range w.system {
		if winWithin(path, s) {
			return true
		}
	}
	return false
}

// check refuses what must not be passed on, or not writable.
func (w winPlaces) check(path string, write bool) error {
	if why := winForm(path); why != "" {
		return fmt.Errorf("%w: %s %s", ErrPolicy, path, why)
	}
	if w.home != "" && winWithin(w.home, path) {
		return fmt.Errorf("%w: %s holds the home folder; choose a folder of its own", ErrPolicy, path)
	}
	for _, s := range w.shared {
		if winWithin(s, path) {
			return fmt.Errorf("%w: other programs and people use %s; choose a folder in it", ErrPolicy, path)
		}
	}
	for _, s := range w.system {
		if path != s && winWithin(s, path) {
			return fmt.Errorf("%w: %s holds the system; name the folders that are needed", ErrPolicy, path)
		}
	}
	if !write {
		return nil
	}
	if w.isSystem(path) {
		return fmt.Errorf("%w: %s must not be writable, it belongs to the system or to an installed program", ErrPolicy, path)
	}
	if w.home != "" && winWithin(path, w.home+`\AppData\Roaming\Microsoft`) {
		return fmt.Errorf("%w: %s must not be writable, Windows starts programs from there", ErrPolicy, path)
	}
	return nil
}

// winForm says what is wrong with the form of a path, "" when nothing is. Names
// that Windows reads as others than they look like could lead around the rules.
func winForm(path string) string {
	letter := len(path) > 2 && (path[0]|0x20 >= 'a' && path[0]|0x20 <= 'z') && path[1:3] == `:\`
	switch {
	case !letter:
		return "is not on a disk of this machine; copy what is needed to one"
	case len(path) == 3:
		return "holds the whole disk; name the folders that are needed"
	}
	for name := range strings.SplitSeq(path[3:], `\`) {
		stem, _, _ := strings.Cut(strings.ToUpper(name), ".")
		switch stem = strings.TrimRight(stem, " "); {
		case name == "" || name == "." || name == "..":
			return "is not a clean path"
		case strings.ContainsAny(name, `/:*?"<>|`):
			return "has a sign in it that names of files cannot have"
		case strings.TrimRight(name, ". ") != name:
			return "has a name that ends with a dot or a space"
		case stem == "CON" || stem == "PRN" || stem == "AUX" || stem == "NUL" || stem == "CONIN$" || stem == "CONOUT$",
			len(stem) == 4 && (stem[:3] == "COM" || stem[:3] == "LPT") && stem[3] >= '0' && stem[3] <= '9':
			return "is the name of a device"
		}
	}
	return ""
}
