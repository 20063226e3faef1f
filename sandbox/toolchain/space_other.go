//go:build !linux

package toolchain

// freeSpace is not known here; pip's own error is explained instead.
func freeSpace(string) (int64, bool) { return 0, false }
