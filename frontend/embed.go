// Package frontend holds the built page, which the window and the served door
// show alike.
package frontend

import (
	"embed"
	"io/fs"
)

// dist keeps a placeholder in git so that the program compiles before the
// page was built; "all:" is there for its leading dot.
//
//go:embed all:dist
var dist embed.FS

// Dist returns the built page with index.html at its root. Without a build of
// the page it holds no index.html.
func Dist() fs.FS {
	sub, err := fs.Sub(dist, "dist")
	if err != nil {
		panic(err) // the name is a constant that the compiler has checked
	}
	return sub
}
