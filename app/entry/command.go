//go:build !desktop

// Package entry is where the program begins: the window where it is built with
// the desktop tag, else the command line and the workers.
package entry

import (
	"os"

	"atoll/app/cli"
	"atoll/app/config"
	"atoll/llm/engine/worker"
	"atoll/sandbox"
	"atoll/sandbox/preview"
)

// Main runs the command line args and returns the exit status. Workers are
// told apart before anything else is looked at: they run behind a boundary and
// must not touch the data folder.
func Main(args []string, version string) int {
	if len(args) >= 2 && args[0] == "worker" {
		switch args[1] {
		case "jail":
			return sandbox.JailMain()
		case "model":
			return worker.Main()
		case "preview":
			return preview.WorkerMain()
		}
	}
	return cli.Main(args, cli.Program{Version: version, Build: config.BuildID(version), In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
}
