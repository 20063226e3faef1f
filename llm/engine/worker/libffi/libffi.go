// Package libffi makes sure that the system library libffi is there before
// the binding to llama.cpp, which panics without it, is initialized.
//
// The package github.com/jupiterrider/ffi opens libffi.so.8 in its init
// function, in every program that imports it, so a machine without the library
// would get a stack trace from every command. This package is initialized
// first: Go initializes, of all packages whose imports are ready, the one whose
// path sorts first, and this one imports nothing that ffi does not.
package libffi

import (
	"fmt"
	"os"
)

// Found is where the library was found. It is a variable because only the
// initialization of variables and init run early enough.
var Found = find()

func find() string {
	name, err := open()
	if err != nil {
		fmt.Fprintf(os.Stderr, "atoll: the system library libffi is missing (%v).\n"+
			"Install it (Debian, Ubuntu: libffi8; Fedora, Arch, openSUSE: libffi) and start again.\n", err)
		os.Exit(12) // model unavailable
	}
	return name
}
