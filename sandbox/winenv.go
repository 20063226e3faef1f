package sandbox

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// filesVariable has the numbers of inherited handles; see [Command.Files].
const filesVariable = "ATOLL_FILES"

// winEnviron returns the environment of a program on Windows: what lies in /tmp is
// put into the program's own folder temp, and added are the places for temporary
// files, the folder of the system, without which hardly a program starts, and the
// inherited handles.
func winEnviron(env []string, temp, systemRoot string, handles []uintptr) []string {
	set := []string{"TEMP=" + temp, "TMP=" + temp, "TMPDIR=" + temp, "SystemRoot=" + systemRoot}
	if len(handles) > 0 {
		var numbers []string
		for _, h := range handles {
			numbers = append(numbers, strconv.FormatUint(uint64(h), 10))
		}
		set = append(set, filesVariable+"="+strings.Join(numbers, ","))
	}
	var out []string
	for _, e := range env {
		key, value, _ := strings.Cut(e, "=")
		if slices.ContainsFunc(set, func(s string) bool { k, _, _ := strings.Cut(s, "="); return strings.EqualFold(k, key) }) {
			continue
		}
		if rest, ok := strings.CutPrefix(value, "/tmp"); ok && (rest == "" || rest[0] == '/') {
			e = key + "=" + temp + strings.ReplaceAll(rest, "/", `\`)
		}
		out = append(out, e)
	}
	return append(out, set...)
}

// winEnvBlock writes an environment as Windows wants it: sorted by name in any
// case of letters, each entry and the whole ended by a zero.
func winEnvBlock(env []string) []uint16 {
	sorted := slices.Clone(env)
	slices.SortStableFunc(sorted, func(a, b string) int {
		a, _, _ = strings.Cut(a, "=")
		b, _, _ = strings.Cut(b, "=")
		return cmp.Compare(strings.ToUpper(a), strings.ToUpper(b))
	})
	var out []uint16
	for _, e := range sorted {
		out = append(appendUTF16(out, e), 0)
	}
	if len(out) == 0 {
		out = append(out, 0)
	}
	return append(out, 0)
}

func appendUTF16(to []uint16, s string) []uint16 {
	for _, r := range s {
		to = utf16.AppendRune(to, r)
	}
	return to
}
