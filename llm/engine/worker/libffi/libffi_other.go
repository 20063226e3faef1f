//go:build !linux

package libffi

// open does nothing: elsewhere ffi brings the library along.
func open() (string, error) { return "built in", nil }
