//go:build !linux

package sandbox

import "os"

// removeLayer removes a layer's folder.
func removeLayer(dir string) error { return os.RemoveAll(dir) }
