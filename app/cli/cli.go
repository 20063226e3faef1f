// Package cli is the command line: each command is a few calls to a host and a
// printer. Exit statuses are part of the interface and stand in docs/cli.md.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"atoll/app/client"
	"atoll/app/config"
	"atoll/app/fault"
)

// Program is what the commands need of the program they are part of.
type Program struct {
	Version string // shown by --version
	Build   string // identity of the executable, see Address.Build
	In      io.Reader
	Out     io.Writer
	Err     io.Writer
}

// Main runs the command line args and returns the exit status.
func Main(args []string, p Program) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	root := p.root()
	root.SetArgs(args)
	root.SetIn(p.In)
	root.SetOut(p.Out)
	root.SetErr(p.Err)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return fault.ExitOK
	}
	var status exitStatus
	if errors.As(err, &status) { // the command has said what there is to say
		return int(status)
	}
	var usage usageError
	if errors.As(err, &usage) {
		fmt.Fprintf(p.Err, "atoll: %s\n", printable(err.Error()))
		return fault.ExitUsage
	}
	if ctx.Err() != nil {
		err = context.Canceled
	}
	f := fault.Of(err)
	p.say(f)
	return f.Exit()
}

// exitStatus ends a command with a status of its own, without further words.
type exitStatus int

func (s exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// usageError says that the command line itself is wrong.
type usageError struct{ error }

// say prints what happened and what to do.
func (p Program) say(f *fault.Fault) {
	fmt.Fprintf(p.Err, "atoll: %s\n", printable(f.Title))
	if f.Detail != "" {
		fmt.Fprintf(p.Err, "  %s\n", printable(f.Detail))
	}
	if f.Hint != "" {
		fmt.Fprintf(p.Err, "  %s\n", f.Hint)
	}
}

func (p Program) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "atoll",
		Short: "A code interpreter that runs on this machine only",
		Long: `Atoll answers questions about your files by writing code and running it in a
sandbox, with a model that runs on this machine. Nothing leaves it.

Without a command it opens the window.`,
		Example: `  atoll
  atoll ask --file sales.csv "Which region has the highest total revenue?"
  atoll exec --file sales.csv report.py
  atoll doctor`,
		Version:       p.Version,
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(*cobra.Command, []string) error { return openWindow(p) },
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usageError{fmt.Errorf("%w; see %s --help", err, c.CommandPath())}
	})
	root.AddCommand(p.ask(), p.exec(), p.sandbox(), p.models(), p.chats(), p.serve(), p.doctor(), p.setup(), p.host())
	wrapArgs(root)
	return root
}

// wrapArgs makes wrong arguments usage errors.
func wrapArgs(c *cobra.Command) {
	check := c.Args
	if check == nil {
		check = cobra.ArbitraryArgs
	}
	c.Args = func(c *cobra.Command, args []string) error {
		if err := check(c, args); err != nil {
			return usageError{fmt.Errorf("%w; see %s --help", err, c.CommandPath())}
		}
		return nil
	}
	for _, sub := range c.Commands() {
		wrapArgs(sub)
	}
}

// connect finds or starts the host of the data folder.
func (p Program) connect(ctx context.Context) (*client.Client, error) {
	home, err := config.FindHome()
	if err != nil {
		return nil, err
	}
	return client.Connect(ctx, home, p.Build)
}
