// Atoll is a code interpreter that runs on this machine only. One source makes
// two programs: without build tags "atoll", which is the host, the command
// line and all workers, with no cgo; with the tags of the Makefile's desktop
// target "atoll-desktop", the window, which holds no data.
package main

import (
	"os"

	"atoll/app/entry"
)

// version is set by the build.
var version = "0.1.0-dev"

func main() { os.Exit(entry.Main(os.Args[1:], version)) }
