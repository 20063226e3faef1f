package sandbox

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

func TestWinEnviron(t *testing.T) {
	got := winEnviron([]string{
		"HOME=/tmp", "MPLCONFIGDIR=/tmp/.matplotlib/x", "tmp=C:\\elsewhere", "A=/tmpfile", "B=a=b", "atoll_files=9",
	}, `C:\t`, `C:\Windows`, []uintptr{16, 1 << 40})
	want := []string{
		`HOME=C:\t`, `MPLCONFIGDIR=C:\t\.matplotlib\x`, "A=/tmpfile", "B=a=b",
		`TEMP=C:\t`, `TMP=C:\t`, `TMPDIR=C:\t`, `SystemRoot=C:\Windows`, "ATOLL_FILES=16,1099511627776",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	for _, e := range winEnviron(nil, `C:\t`, `C:\Windows`, nil) {
		if strings.HasPrefix(e, filesVariable) {
			t.Error("files are named where there are none")
		}
	}
}

func TestWinEnvBlock(t *testing.T) {
	got := string(utf16.Decode(winEnvBlock([]string{"b=2", "A=ü", "a2=𝄞"})))
	if want := "A=ü\x00a2=𝄞\x00b=2\x00\x00"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := winEnvBlock(nil); !slices.Equal(got, []uint16{0, 0}) {
		t.Errorf("empty: %v", got)
	}
}
