//go:build !linux

package desktop

// fixLocale has nothing to fix where the webview asks the system, not the
// environment, for its language.
func fixLocale() error { return nil }
