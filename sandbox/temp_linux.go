package sandbox

import "strings"

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
		_, link := o.Links[value]
		if within(value, "/tmp") && !o.shows(value) && !link && !strings.Contains(value, ":") {
			e = key + "=" + o.TmpDir + strings.TrimPrefix(value, "/tmp")
		}
		out = append(out, e)
	}
	return out
}
