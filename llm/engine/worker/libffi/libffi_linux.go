package libffi

import (
	"os"

	"github.com/ebitengine/purego"
)

const soname = "libffi.so.8"

// open loads the library of the system or, where there is none, the one
// beside this program's inference libraries. The loader of the system gives
// the loaded one to whoever asks for the same name later.
func open() (string, error) {
	_, err := purego.Dlopen(soname, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err == nil {
		return soname, nil
	}
	exe, exeErr := os.Executable()
	if exeErr != nil {
		return "", err
	}
	dir := exe
	for len(dir) > 0 && dir[len(dir)-1] != '/' {
		dir = dir[:len(dir)-1]
	}
	own := dir + "engine/" + soname
	if _, ownErr := purego.Dlopen(own, purego.RTLD_NOW|purego.RTLD_GLOBAL); ownErr == nil {
		return own, nil
	}
	return "", err
}
