package worker

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"unsafe"

	"atoll/llm/engine/wire"
	_ "atoll/llm/engine/worker/libffi" // before ffi, which panics without the library

	"github.com/hybridgroup/yzma/pkg/llama"
	"github.com/hybridgroup/yzma/pkg/loader"
	"github.com/hybridgroup/yzma/pkg/utils"
	"github.com/jupiterrider/ffi"
)

// libraryVersion is what llama_version must begin with. The binding knows the
// struct layouts of this version only; with another one the first call can
// corrupt memory instead of failing.
const libraryVersion = "0.4.0"

// openLibrary loads the inference libraries from dir after checking their
// version, and picks the computing backends that this machine can run.
func openLibrary(dir string, log *libraryLog) error {
	if runtime.GOOS == "windows" {
		// The binding opens llama.dll and ggml.dll, but the packages name the
		// files by version and import each other by those names. A copy under
		// the short name would load ggml, and its list of backends, twice. It
		// takes a binding that opens the real names.
		return fail(wire.KindEngine, "local models do not run on Windows yet: the inference engine cannot be loaded there")
	}
	file := loader.GetLibraryFilename(dir, "llama")
	if _, err := os.Stat(file); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return fail(wire.KindEngine, "the inference engine is missing: there is no %s in %s; install Atoll's engine files again", filepath.Base(file), dir)
		}
		return fail(wire.KindEngine, "the inference engine cannot be read: %v", err)
	}
	version, err := readVersion(dir)
	if err != nil {
		return fail(wire.KindEngine, "the inference engine in %s cannot be loaded: %v; install Atoll's engine files again", dir, err)
	}
	if !strings.HasPrefix(version, libraryVersion) {
		return fail(wire.KindEngine, "the inference engine in %s is llama.cpp %q, and this Atoll works with %s only; install the engine files that belong to it", dir, version, libraryVersion)
	}
	if err := llama.Load(dir); err != nil {
		return fail(wire.KindEngine, "the inference engine in %s does not fit: %v; install Atoll's engine files again", dir, err)
	}
	llama.LogSet(log.callback())
	llama.Init()
	if llama.GGMLBackendDeviceCount() == 0 {
		return fail(wire.KindEngine, "the inference engine in %s has no part for this processor; install Atoll's engine files again", dir)
	}
	return nil
}

// readVersion asks the library which version it is. llama_version takes
// nothing and returns a string, so it is safe to call in any version.
func readVersion(dir string) (string, error) {
	lib, err := loader.LoadLibrary(dir, "llama")
	if err != nil {
		return "", err
	}
	f, err := lib.Prep("llama_version", &ffi.TypePointer)
	if err != nil {
		return "", fmt.Errorf("it does not tell its version (older than this Atoll needs): %w", err)
	}
	var p *byte
	f.Call(unsafe.Pointer(&p))
	if p == nil {
		return "", errors.New("it does not tell its version")
	}
	return utils.BytePtrToString(p), nil
}

// device names what computes with layers layers on a graphics device: its
// devices, or the processor and the variant of the library chosen for it.
func device(layers int, log *libraryLog) string {
	var gpus []string
	for i := range llama.GGMLBackendDeviceCount() {
		d := llama.GGMLBackendDeviceGet(i)
		switch llama.GGMLBackendDevType(d) {
		case llama.GGMLBackendDeviceTypeGPU, llama.GGMLBackendDeviceTypeIGPU:
			gpus = append(gpus, llama.GGMLBackendDeviceDescription(d))
		}
	}
	if layers != 0 && len(gpus) > 0 {
		return strings.Join(gpus, ", ")
	}
	if v := log.cpuVariant(); v != "" {
		return "CPU (" + v + ")"
	}
	return "CPU"
}
