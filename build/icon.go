// Package build holds the program's icon.
package build

import _ "embed"

//go:embed appicon.png
var icon []byte

// Icon returns the icon as a PNG of 512 × 512 pixels.
func Icon() []byte { return icon }
