//go:build linux || darwin

package sandbox

import (
	"maps"
	"slices"
	"strings"
)

// privateTemp returns the environment with TmpDir in the place of /tmp, which
// is private in full mode and the machine's in reduced mode, closed to the
// program: HOME=/tmp/x becomes HOME=TmpDir/x. Paths that the policy shows stay.
// TMPDIR is set in any case.
func (o order) privateTemp() []string {
	out := []string{"TMPDIR=" + o.TmpDir}
	for _, e := range o.Env {
		key, value, _ := strings.Cut(e, "=")
		if key == "TMPDIR" {
			continue
		}
		if within(value, "/tmp") && !o.names(value) && !strings.Contains(value, ":") {
			e = key + "=" + o.TmpDir + strings.TrimPrefix(value, "/tmp")
		}
		out = append(out, e)
	}
	return out
}

// names reports whether the policy has path in it, by any of its names.
func (o order) names(path string) bool {
	for _, trees := range [][]string{o.Read, o.Write, slices.Collect(maps.Keys(o.Links))} {
		for _, t := range trees {
			if within(path, t) {
				return true
			}
		}
	}
	return false
}
