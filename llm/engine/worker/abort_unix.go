//go:build unix

package worker

import "github.com/ebitengine/purego"

// findStrlen returns the address of C's strlen.
func findStrlen() (uintptr, error) { return purego.Dlsym(purego.RTLD_DEFAULT, "strlen") }
