package libffi_test

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"atoll/llm/engine/worker/libffi"

	"github.com/jupiterrider/ffi"
)

// The test program would have ended before this line without the library.
func TestFound(t *testing.T) {
	if libffi.Found == "" {
		t.Error("nothing was found")
	}
	if runtime.GOOS != "linux" {
		return
	}
	// ffi was initialized, and after this package: its Load works.
	if _, err := ffi.Load("libffi.so.8"); err != nil {
		t.Errorf("ffi cannot open what was found as %s: %v", libffi.Found, err)
	}
}

// That the binding is initialized later rests on the order of import paths.
func TestIsInitializedFirst(t *testing.T) {
	const own = "atoll/llm/engine/worker/libffi"
	if own >= "github.com/jupiterrider/ffi" {
		t.Error("the import path sorts after that of ffi")
	}
	for _, file := range []string{"libffi.go", "libffi_linux.go"} {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(source), "import (")
		imports, _, _ := strings.Cut(rest, ")")
		for path := range strings.FieldsSeq(imports) {
			switch strings.Trim(path, `"`) {
			case "fmt", "os", "github.com/ebitengine/purego": // what ffi imports, too
			default:
				t.Errorf("%s imports %s: anything that ffi does not import can put this package after it", file, path)
			}
		}
	}
}
