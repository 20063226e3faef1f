//go:build !linux && !windows

package desktop

// dark is not known here before the page is.
func dark() bool { return false }
