package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"atoll/app"
	"atoll/app/api"
	"atoll/app/boundary"
	"atoll/app/cells"
	"atoll/app/chats"
	"atoll/app/client"
	"atoll/app/config"
	"atoll/app/doctor"
	"atoll/app/fault"
	"atoll/sandbox"
	"atoll/sandbox/kernel"
	"atoll/storage"
)

func (p Program) sandbox() *cobra.Command {
	c := &cobra.Command{
		Use:   "sandbox",
		Short: "Show, test and use the boundary around code",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(p.sandboxShow(), p.sandboxTest(), p.sandboxExec(), p.sandboxGrants())
	return c
}

func (p Program) sandboxShow() *cobra.Command {
	var of chats.PolicyOf
	var pol storage.ChatPolicy
	var asJSON bool
	c := &cobra.Command{
		Use:     "show",
		Short:   "Say what the code of a chat, or of a preset, can do",
		Example: "  atoll sandbox show\n  atoll sandbox show --preset offline-project --project ~/report",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var v boundary.View
			if of.Chat != "" {
				host, err := p.connect(c.Context())
				if err != nil {
					return err
				}
				if err := host.Call(c.Context(), "policy.show", of, &v); err != nil {
					return err
				}
			} else {
				home, self, err := place()
				if err != nil {
					return err
				}
				if pol.Project != "" {
					if pol.Project, err = filepath.Abs(pol.Project); err != nil {
						return err
					}
				}
				if pol, err = boundary.Check(pol, string(home)); err != nil {
					return usageError{err}
				}
				s := cells.New(cells.Deps{Home: home, Runner: app.Runner(self), Python: cells.FindPython(home)})
				if v, err = s.Boundary(c.Context(), "", pol); err != nil {
					return err
				}
			}
			if asJSON {
				return json.NewEncoder(p.Out).Encode(v)
			}
			for _, line := range v.Sentences() {
				fmt.Fprintln(p.Out, oneName(line))
			}
			for _, g := range v.Grants {
				fmt.Fprintln(p.Out, "Allowed", grantLine(g))
			}
			return nil
		},
	}
	f := c.Flags()
	f.StringVar(&of.Chat, "chat", "", "the chat with this `ID`")
	f.StringVar(&pol.Preset, "preset", boundary.Sealed, "`PRESET`: sealed, offline-project or network")
	f.StringVar(&pol.Project, "project", "", "project folder `DIR`, with offline-project")
	f.StringArrayVar(&pol.Hosts, "host", nil, "`HOST`, with network; none: every public one")
	f.BoolVar(&asJSON, "json", false, "print as JSON")
	return c
}

func grantLine(g storage.Grant) string {
	what := "any"
	if g.What != "" {
		what = oneName(g.What)
	}
	s := fmt.Sprintf("%s  %s %s, %s %s", g.ID, g.Effect, what, g.Scope, oneName(g.Where))
	if !g.Until.IsZero() {
		s += ", until " + g.Until.Local().Format(time.DateTime)
	}
	return s
}

func place() (config.Home, string, error) {
	home, err := config.FindHome()
	if err != nil {
		return "", "", err
	}
	self, err := client.Program()
	return home, self, err
}

func (p Program) sandboxTest() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "test",
		Short: "Make hostile attempts inside the sandbox and report what became of them",
		Long:  "Test makes attempts to get out with decoys, for some seconds. The exit status is 0\nwhen none escaped, 1 when one did, 11 where there is no sandbox.",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			home, self, err := place()
			if err != nil {
				return err
			}
			r, err := doctor.TestSandbox(c.Context(), app.Runner(self), cells.FindPython(home), func(int, int) {})
			if err != nil {
				return err
			}
			if asJSON {
				err = json.NewEncoder(p.Out).Encode(r)
			} else {
				for _, a := range r.Attempts {
					fmt.Fprintf(p.Out, "%-8s %-12s %s", a.Result, a.Group, printable(a.Plain))
					if a.Layer != "" {
						fmt.Fprintf(p.Out, " [%s]", a.Layer)
					}
					fmt.Fprintln(p.Out)
				}
				fmt.Fprintf(p.Out, "%d stopped, %d escaped, %d absent; level %s, %.0f s\n", r.Stopped, r.Escaped, r.Absent, r.Level, r.Seconds)
			}
			if err == nil && r.Escaped > 0 {
				return exitStatus(fault.ExitFailed)
			}
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return c
}

func (p Program) sandboxGrants() *cobra.Command {
	var revoke string
	var asJSON bool
	c := &cobra.Command{
		Use:   "grants",
		Short: "List what was allowed for longer than once, or take it back",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			host, err := p.connect(c.Context())
			if err != nil {
				return err
			}
			if revoke != "" {
				return host.Call(c.Context(), "grants.revoke", chats.GrantRef{ID: revoke}, &api.Empty{})
			}
			var l chats.Grants
			if err := host.Call(c.Context(), "grants.list", chats.GrantsOf{}, &l); err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(p.Out).Encode(l)
			}
			for _, g := range l.Grants {
				fmt.Fprintln(p.Out, grantLine(g))
			}
			return nil
		},
	}
	c.Flags().StringVar(&revoke, "revoke", "", "take back the one with this `ID`")
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return c
}

func (p Program) sandboxExec() *cobra.Command {
	var file, net string
	var read, write, hosts []string
	var limit time.Duration
	c := &cobra.Command{
		Use:     "exec [flags] -- COMMAND [ARGUMENTS]",
		Short:   "Run any program inside the boundary",
		Long:    "Exec passes input, output, signals and the exit status on. Without --write the\nprogram works in a folder of its own that is removed afterwards.",
		Example: "  atoll sandbox exec --read . -- wc -l notes.txt",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			home, self, err := place()
			if err != nil {
				return err
			}
			var pol sandbox.Policy
			if file != "" {
				b, err := os.ReadFile(file)
				if err == nil {
					pol, err = sandbox.ParsePolicy(b)
				}
				if err != nil {
					return usageError{fmt.Errorf("read the policy: %w", err)}
				}
			}
			r, err := absolute(read)
			if err != nil {
				return err
			}
			w, err := absolute(write)
			if err != nil {
				return err
			}
			pol.Read, pol.Write = append(pol.Read, r...), append(pol.Write, w...)
			if c.Flags().Changed("net") {
				pol.Network.Mode = sandbox.NetworkMode(strings.TrimPrefix(net, "off"))
			}
			pol.Network.Hosts = append(pol.Network.Hosts, hosts...)
			if limit > 0 {
				pol.Limits.Wall = limit
			}
			program, err := findProgram(args[0])
			if err != nil {
				return usageError{err}
			}
			dir := ""
			if len(pol.Write) > 0 {
				dir = pol.Write[0]
			} else {
				if err := home.Make(); err != nil {
					return err
				}
				sweep(home.Run())
				own, err := os.MkdirTemp(home.Run(), fmt.Sprintf("exec-%d-", os.Getpid()))
				if err != nil {
					return err
				}
				defer os.RemoveAll(own) // what is left is swept by the next command
				pol.Write, dir = []string{own}, own
				if len(r) > 0 {
					if st, err := os.Stat(r[0]); err == nil && st.IsDir() {
						dir = r[0]
					}
				}
			}
			if len(pol.Env) == 0 {
				pol.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/tmp", "TMPDIR=/tmp", "LANG=C.UTF-8"}
			}
			if err := pol.Check(); err != nil {
				return usageError{err}
			}
			return p.runInside(c, app.Runner(self), pol, sandbox.Command{Path: program, Args: args[1:], Dir: dir})
		},
	}
	c.Flags().SetInterspersed(false)
	f := c.Flags()
	f.StringVar(&file, "policy", "", "begin with the policy in `FILE` (JSON)")
	f.StringArrayVar(&read, "read", nil, "let it read `PATH`; the first folder is where it starts")
	f.StringArrayVar(&write, "write", nil, "let it write in `DIR`; the first one is where it starts")
	f.StringVar(&net, "net", "off", "`MODE`: off, loopback, hosts or on")
	f.StringArrayVar(&hosts, "host", nil, "with --net hosts: let it reach `HOST`")
	f.DurationVar(&limit, "timeout", 0, "end it after `D`")
	return c
}

// findProgram looks for a program as a shell does, in the system's folders.
func findProgram(name string) (string, error) {
	if strings.ContainsRune(name, filepath.Separator) {
		return filepath.Abs(name)
	}
	for _, d := range []string{"/usr/local/bin", "/usr/bin", "/bin"} {
		if st, err := os.Stat(filepath.Join(d, name)); err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0 {
			return filepath.Join(d, name), nil
		}
	}
	return "", fmt.Errorf("there is no program %q; give its path", name)
}

// runInside passes input, output and signals between us and a program.
func (p Program) runInside(c *cobra.Command, r sandbox.Runner, pol sandbox.Policy, cmd sandbox.Command) error {
	proc, err := r.Start(c.Context(), pol, cmd)
	if err != nil {
		return err
	}
	sigs := make(chan os.Signal, 1)
	signal.Notify(sigs, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(sigs)
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		for {
			select {
			case s := <-sigs:
				if s == os.Interrupt {
					_ = proc.Interrupt() // the context, which ends with the same signal, kills
				}
			case <-ended:
				return
			}
		}
	}()
	go func() {
		_, _ = io.Copy(proc.Stdin(), p.In) // ends with the program or with our input
		_ = proc.Stdin().Close()
	}()
	errDone := make(chan struct{})
	go func() {
		defer close(errDone)
		_, _ = io.Copy(p.Err, proc.Stderr())
	}()
	_, oerr := io.Copy(p.Out, proc.Stdout())
	if oerr != nil {
		_ = proc.Kill()
	}
	<-errDone
	exit := proc.Wait()
	p.sayRefusals(proc, exit, nil)
	if c.Context().Err() == nil && exit.Cause != sandbox.Exited {
		fmt.Fprintf(p.Err, "atoll: the program was stopped: %s\n", printable(exit.Detail))
	}
	if err := c.Context().Err(); err != nil {
		return err // the time was up, or we were stopped
	}
	if exit.Cause == sandbox.OutOfTime {
		return exitStatus(fault.ExitTimeout)
	}
	if exit.Code != 0 {
		return exitStatus(exit.Code)
	}
	return oerr
}

// sayRefusals says on standard error what the boundary refused a program, with
// what it says itself, and returns the receipt of its run.
func (p Program) sayRefusals(proc sandbox.Process, exit sandbox.Exit, tried []sandbox.Denial) *storage.Receipt {
	res := kernel.Result{Tried: tried}
	if r, ok := proc.(sandbox.Recorder); ok {
		if rec, err := r.Record(); err == nil {
			res.Record, res.Took = &rec, rec.Usage.Wall
		}
	}
	out := cells.Receipt(storage.ChatPolicy{Preset: boundary.Sealed}, res)
	switch {
	case exit.Detail != "":
		out.Exit = exit.Detail
	case exit.Code != 0:
		out.Exit = fmt.Sprintf("The program ended with status %d.", exit.Code)
	}
	for _, s := range out.Explained {
		fmt.Fprintf(p.Err, "atoll: %s\n", printable(s))
	}
	return out
}
