//go:build desktop

// Package entry is where the program begins: the window where it is built with
// the desktop tag, else the command line and the workers.
package entry

import (
	"fmt"
	"os"
	"strings"

	"atoll/app/desktop"
	"atoll/app/fault"
)

const usage = `Atoll's window.

Usage:
  atoll-desktop [FILE...]

The files are attached to a new message. Everything else is done by atoll; see
atoll --help.
`

// Main shows the window and returns the exit status when it was closed.
func Main(args []string, version string) int {
	for _, arg := range args {
		switch {
		case arg == "--version":
			fmt.Printf("atoll-desktop version %s\n", version)
			return fault.ExitOK
		case arg == "--help", arg == "-h":
			fmt.Print(usage)
			return fault.ExitOK
		case strings.HasPrefix(arg, "-"):
			fmt.Fprintf(os.Stderr, "atoll-desktop: unknown flag %s\n\n%s", arg, usage)
			return fault.ExitUsage
		}
	}
	if err := desktop.Run(version, args); err != nil {
		fmt.Fprintf(os.Stderr, "atoll-desktop: %v\n", err)
		return fault.ExitFailed
	}
	return fault.ExitOK
}
